"""Laws of the expression language: a text means what the tree it was written from means."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.legacy import Expression, parse, rewrite

Tree: TypeAlias = tuple[Any, ...]

MODELS: dict[str, dict[str, Any]] = {
    "settings": {"on": {"value": True}, "names": ["a", "", 1], "nothing": None, "zero": 0, "text": "a b"},
    "cluster": {"id": 1, "part-s.": {}, "map": {"a": 1}},
}
VALUES = {
    "settings:on.value": True,
    "settings:names": ["a", "", 1],
    "settings:nothing": None,
    "settings:zero.behind": None,
    "settings:text": "a b",
    "cluster:id": 1,
    "cluster:map": {"a": 1},
    "cluster:map.b.c": None,
}
EITHER, BOTH, EQUAL, MEMBER, UNARY, ATOM = range(6)

literals = st.one_of(
    st.integers(-(10**20), 10**20).map(lambda number: ("literal", number, str(number))),
    st.text(max_size=4).filter(lambda text: '"' not in text).map(lambda text: ("literal", text, f'"{text}"')),
    st.sampled_from(["a", "", "or"]).map(lambda text: ("literal", text, f"'{text}'")),
    st.sampled_from([("literal", True, "true"), ("literal", False, "false"), ("literal", None, "null")]),
)
paths = st.sampled_from(sorted(VALUES)).map(lambda path: ("path", path))


def grown(trees: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    operators = st.sampled_from(["or", "and", "==", "!=", "in"])
    return st.one_of(
        st.tuples(operators, trees, trees),
        st.tuples(st.just("not"), trees),
        st.tuples(st.just("("), trees),
    )


trees: st.SearchStrategy[Tree] = st.recursive(st.one_of(literals, paths), grown, max_leaves=24)


def meaning(tree: Tree) -> Any:
    """The value of a tree, straight from its shape; `TypeError` for an `in` that looks in nothing."""
    kind = tree[0]
    if kind == "literal":
        return tree[1]
    if kind == "path":
        return VALUES[tree[1]]
    if kind == "(":
        return meaning(tree[1])
    left = meaning(tree[1])
    if kind == "not":
        return not left
    if kind in ("or", "and"):
        return left if bool(left) == (kind == "or") else meaning(tree[2])
    right = meaning(tree[2])
    if kind == "in":
        if right is None:
            return False
        return not (isinstance(right, dict) and isinstance(left, list | dict)) and left in right
    return (left == right) == (kind == "==")


LEVELS = {"or": (EITHER, EITHER, BOTH), "and": (BOTH, BOTH, EQUAL), "in": (MEMBER, MEMBER, UNARY)}


def written(tree: Tree, space: str) -> tuple[str, int]:
    """A tree as text with no parentheses but those it needs or states, and how weakly it binds."""
    kind = tree[0]
    if kind in ("literal", "path"):
        return tree[-1], ATOM
    if kind == "(":
        return f"({written(tree[1], space)[0]})", ATOM
    if kind == "not":
        return f"not{space}{operand(tree[1], UNARY, space)}", UNARY
    level, left, right = LEVELS.get(kind, (EQUAL, EQUAL, MEMBER))
    return f"{operand(tree[1], left, space)}{space}{kind}{space}{operand(tree[2], right, space)}", level


def operand(tree: Tree, needed: int, space: str) -> str:
    text, level = written(tree, space)
    return text if level >= needed else f"({text})"


@settings(max_examples=5 * settings().max_examples)
@given(trees, st.sampled_from([" ", "\n", " \t\r\n "]))
def test_a_text_means_what_its_tree_means(tree: Tree, space: str) -> None:
    text, _ = written(tree, space)
    try:
        expected = meaning(tree)
    except TypeError:
        expected = TypeError
    expression = parse(text)
    try:
        found = expression.evaluate(MODELS, strict=False)
    except ExpressionError:
        found = TypeError
    assert found == expected
    assert type(found) is type(expected)


def paths_in(tree: Tree) -> set[str]:
    if tree[0] == "path":
        return {tree[1]}
    return set().union(*(paths_in(part) for part in tree if isinstance(part, tuple)))


@given(trees)
def test_paths_are_those_of_the_tree(tree: Tree) -> None:
    assert parse(written(tree, " ")[0]).paths() == paths_in(tree)


WORDS = ["1", "'a'", "true", "False", "and", "or", "not", "in", "a", "a:b"]
SIGNS = ["==", "!=", "=", "(", ")", "<", '"', "'", ":"]
sentences = st.lists(st.sampled_from(WORDS + SIGNS), max_size=8).map(" ".join)


def parsed(text: str) -> Expression | ExpressionError:
    try:
        return parse(text)
    except ExpressionError as error:
        return error


@given(st.one_of(sentences, st.text(max_size=12)))
def test_any_text_is_an_expression_or_an_error_with_its_place(text: str) -> None:
    result = parsed(text)
    assert result.text == text
    if isinstance(result, ExpressionError):
        assert result.position is not None
        assert 0 <= result.position <= len(text)
        assert str(result).isprintable()
    else:
        assert isinstance(parsed(rewrite(text)), Expression)

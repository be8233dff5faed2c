"""Random expressions: what is parsed and compiled here is what the library parses and evaluates."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaql  # type: ignore[import-untyped]
from yaql.language import expressions  # type: ignore[import-untyped]
from yaql.language.exceptions import YaqlParsingException  # type: ignore[import-untyped]
from yaql.language.utils import NO_VALUE  # type: ignore[import-untyped]

from fuelclient.expressions import yaql_compiled, yaql_library, yaql_syntax
from fuelclient.expressions.errors import ExpressionError
from fuelclient.expressions.facts import Facts, Past, View, Views
from fuelclient.expressions.functions import UNDEFINED, plain
from fuelclient.expressions.work import Uncompiled, Unlimited
from fuelclient.expressions.yaql_engine import parse

COMMON = {
    "a": {"b": [1, 2, 3], "c": "x", "d": {"e": None, "f": True, "g": 1.5}}, "l": ["b", "a", "c", "a"], "t": "hello",
    "n": [
        {"id": 1, "r": ["x", "y"], "s": "on"}, {"id": 2, "r": [], "s": "off"}, {"id": 3, "r": ["y"], "s": "on", "z": 0},
    ],
    "z": 0, "e": "", "nn": None, "m": [[1, [2]], [3]], "f": False,
}  # fmt: skip
OLD = {
    "a": {"b": [1, 2], "c": "x", "d": {"e": None}}, "l": ["b", "a"], "n": [{"id": 1, "r": ["x"], "s": "on"}],
    "t": "hell", "z": 1, "m": [[1]],
}  # fmt: skip
NODE = {"uid": "7", "role": ["x"], "a": {"d": {"h": "node"}}}
VALUES = (
    "1", "0", "2", "1.5", "true", "false", "null", "'x'", "a", "'hello'", "''", "$.t", "$.z", "$.e", "$.l", "$.n",
    "$.a.b", "$.a.d", "$.f", "$.nn", "$.m", "$", "$.uid", "$.role", "$node", "$node.uid", "$common.l", "$.missing",
    "$.a.missing.deep", "[]", "[1, 2]", "['x', b]", "{}", "{a => 1, b => x}",
)  # fmt: skip
ELEMENTS = ("$", "$", "$", "$.id", "$.r", "$.s", "$.z")
SEQUENCES = ("$.l", "$.n", "$.a.b", "$.m", "$.role", "[1, 'x', null]")
FORMS = (
    *["{q}.where({e})", "{q}.select({e})", "{q}.any({e})", "{q}.all({e})", "{v}.{k}", "{q}.{k}", "({v} {o} {v})"] * 4,
    *["{q}.{m}", "{v}.{m}", "$.a.{m}", "{v}.get({v})", "{s}({v})", "not ({v})", "-({v})", "[{v}, {v}]"] * 3,
    "{q}.concat({q})", "{q}.union({q})", "{q}.toSet().intersect({q}.toSet())", "{q}.toSet().difference({q}.toSet())",
    "{v}.matches({v})", "regex({v}).matches({v})", "{v}.containsKey({v})", "{v}.set({v}, {v})", "{{{v} => {v}}}",
    "switch({v} => {v}, {v} => {v})", "coalesce({v}, {v})", "changedAny({v}, {v})", "changedAll({v}, {v})",
    "concat({v}, {v})", "set({v}, {v})", "list({v}, {v})", "dict({v})", "dict({v} => {v})", "len({v})", "any({q})",
)  # fmt: skip
METHODS = (
    "first()", "first(0)", "len()", "flatten()", "toList()", "toSet()", "keys()", "values()", "items()", "any()",
    "all()", "get(b)", "get(x, 1)", "toYaml()", "toJson()", "isUndef()", "matches(x)", "set({a => 2})", "set(a => 2)",
)  # fmt: skip
OPERATORS = ("=", "!=", "<", ">", "<=", ">=", "in", "+", "-", "and", "or", "=~", "!~")
TOKENS = (
    "$", "$a", "$1", "$node", "1", "2.5", "15", "name", "true", "false", "null", "'a'", "`c`", "f(", "get(", "not(",
    "not", "and", "or", "in", "mod", "+", "-", "*", "/", "=", "!=", ">", "<", ">=", "<=", "=~", "!~", ".", "?.", "(",
    ")", "[", "]", "{", "}", ",", ",", "=>", "->", "a_b", "__c", "5a", '"b\\n"', "'\\x41'", "'\\x4'", "'", "#", "\n",
)  # fmt: skip


def expression(chance: random.Random, depth: int, values: tuple[str, ...] = VALUES) -> str:
    """A random expression over what is compiled."""
    if depth <= 0 or chance.random() < 0.1:
        return chance.choice(values)

    class Slots(Mapping[str, str]):
        makers: Mapping[str, Callable[[], str]] = {
            "v": lambda: expression(chance, depth - 1, values),
            "e": lambda: expression(chance, depth - 1, (*VALUES[:20], *ELEMENTS * 4)),
            "q": lambda: chance.choice((*SEQUENCES, expression(chance, depth - 1, values))),
            "k": lambda: chance.choice(("id", "r", "s", "b", "d", "e", "a", "uid")),
            "o": lambda: chance.choice(OPERATORS), "m": lambda: chance.choice(METHODS),
            "s": lambda: chance.choice(("changed", "old", "new", "added", "deleted")),
        }  # fmt: skip

        def __getitem__(self, key: str) -> str:
            return self.makers[key]()

        def __iter__(self) -> Iterator[str]:
            return iter(self.makers)

        def __len__(self) -> int:
            return len(self.makers)

    return chance.choice(FORMS).format_map(Slots())


def outcome(evaluate: Callable[[], Any]) -> Any:
    """A value with its types, or that there is none."""
    try:
        return typed(evaluate())
    except Uncompiled:
        raise
    except Exception:  # the library raises whatever Python does
        return "no value"


def typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: typed(below) for key, below in value.items()}
    return list(map(typed, value)) if isinstance(value, list) else (type(value).__name__, value)


def assert_same(seed: int, count: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - which expressions are compared
    view: View = Views(Facts(COMMON, {"7": NODE}), Past({"o": Facts(OLD, {"7": NODE})}, {("t", "7"): "o"})).at("t", 7)
    facts = {"new": plain(view.new, Unlimited()), "old": plain(view.old, Unlimited()), "node": NODE, "common": COMMON}
    compared = with_value = 0
    while compared < count:
        text = expression(chance, chance.randint(1, 4))
        try:
            code = parse(text).code
            assert code is not None, text
            found = outcome(lambda code=code: yaql_compiled.evaluate(code, view))  # type: ignore[misc]
        except (ExpressionError, Uncompiled):
            continue
        expected = outcome(lambda text=text: yaql_library.evaluate(text, facts))  # type: ignore[misc]
        assert found == expected, text
        compared, with_value = compared + 1, with_value + (found != "no value")
    assert with_value > count / 4, "most expressions would compare nothing but errors"
    assert parse("old($.missing)").value(view) is UNDEFINED


def test_compiled_expressions_have_the_values_of_the_library() -> None:
    assert_same(random.randrange(10**6), 1_000)  # noqa: S311 - as above


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_random_compiled_expressions_have_the_values_of_the_library(seed: int) -> None:
    assert_same(seed, 20_000)


def from_library(node: Any) -> yaql_syntax.Tree:
    """The tree of a node of the library."""
    if isinstance(node, expressions.Wrap):
        return from_library(node.expr)
    if isinstance(node, expressions.KeywordConstant):
        return ("word", node.value)
    if isinstance(node, expressions.Constant):
        return yaql_syntax.literal(node.value)
    if isinstance(node, expressions.MappingRuleExpression):
        return ("=>", from_library(node.source), from_library(node.destination))
    if isinstance(node, expressions.GetContextValue):
        return ("$", node.path.value)
    if node is NO_VALUE:
        return yaql_syntax.GAP
    args = [from_library(arg) for arg in node.args]
    if isinstance(node, expressions.BinaryOperator):
        return (node.operator, *args)
    if isinstance(node, expressions.UnaryOperator):
        return (f"unary {node.operator}", *args)
    if type(node) is expressions.Function:
        return ("call", node.name, *args)
    names = {"ListExpression": "list", "MapExpression": "map", "IndexExpression": "index"}
    return (names[type(node).__name__], *args)


def outcome_of(parse: Callable[[], Any]) -> Any:
    """A tree; or the place and the value of the first mistake."""
    try:
        return parse()
    except yaql_syntax.Unreadable as error:
        return error.args
    except YaqlParsingException as error:
        return error.position, error.value if error.position is not None else None
    except ValueError:  # an odd escape
        return ValueError


def test_what_is_parsed_here_is_what_the_library_parses() -> None:
    chance = random.Random()  # noqa: S311 - as above
    engine = yaql.YaqlFactory().create()
    parsed = 0
    for _ in range(20_000):
        if chance.random() < 0.5:
            text = expression(chance, 3)
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(TOKENS) + text[at + chance.randrange(3) :]
        else:
            text = chance.choice(("", " ")).join(chance.choices(TOKENS, k=chance.randint(1, 9)))
        tree = outcome_of(lambda text=text: yaql_syntax.read(text))  # type: ignore[misc]
        assert tree == outcome_of(lambda text=text: from_library(engine(text).expression)), text  # type: ignore[misc]
        parsed += isinstance(tree, tuple) and isinstance(tree[0], str)
    assert parsed > 1_000

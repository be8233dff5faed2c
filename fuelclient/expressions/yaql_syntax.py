"""Parse YAQL to trees of tuples.

The forms that releases and plugins use are parsed here, without the library, whose import and tables take a fifth of a
second. Everything else, errors too, is left to the library's own parser. Where both parse a text, the trees are equal.

A tree is `("value", type, value)` for a literal, `("word", text)`, `("$", name)`, `(".", left, right)` and likewise
for the other operators, `("unary not", operand)`, `("call", name, *args)`, `("list", *items)` or `("map", *rules)`;
an argument can be a rule `("=>", key, value)`. Trees are hashable, and literals of different types differ.
"""

from __future__ import annotations

import codecs
import functools
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

Tree = tuple[Any, ...]

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<dollar>\$\w*)|(?P<number>\b\d+(?:\.?\d+)?\b)|(?P<call>\b[^\W\d]\w*)\(
    |(?P<word>(?!__)\b[^\W\d]\w*\b)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)
    |(?P<sign>=>|=~|!~|!=|>=|<=|->|\?\.|[-.+*/><=()\[\],{}]))""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:U.{8}|u.{4}|x..|[0-7]{1,3}|N\{[^}]+\}|[\\'"abfnrtv])""")
_LITERALS = {"true": True, "false": False, "null": None}
_BINARY = {
    **dict.fromkeys((".", "?."), 11), **dict.fromkeys(("=~", "!~"), 8), **dict.fromkeys(("*", "/", "mod"), 7),
    **dict.fromkeys("+-", 6), **dict.fromkeys((">", "<", ">=", "<=", "!=", "=", "in"), 5), "and": 3, "or": 2,
}  # fmt: skip
"""How tightly each operator binds; `->`, whose left side binds names, is left to the library."""
_UNARY = {"+": 9, "-": 9, "not": 4}


class Unusual(Exception):
    """A form that is left to the library."""


def parse(text: str) -> Tree:
    """The tree of an expression. Raise the errors of the library's parser."""
    try:
        return read(text)
    except (Unusual, RecursionError):
        return from_library(_library_parser()(text).expression)


def read(text: str) -> Tree:
    """The tree of an expression in the usual forms. Raise `Unusual` for others, and for what is not YAQL."""
    return _Reader(text).whole()


class _Reader:
    """A text that is read token by token: each has a kind, which for words and signs is their text, and a value."""

    def __init__(self, text: str) -> None:
        self._tokens = [*self._scanned(text), ("end", None)]
        self._at = 0

    def _scanned(self, text: str) -> Iterator[tuple[str, Any]]:
        at, end = 0, len(text.rstrip(" \t\r\n"))
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise Unusual
            kind, at = str(match.lastgroup), match.end()
            value = match[kind]
            if kind == "sign" or (kind == "word" and value in ("in", "mod", "and", "or", "not")):
                kind = value
            yield kind, value

    def whole(self) -> Tree:
        tree = self._expression(0)
        self._take("end")
        return tree

    def _take(self, kind: str) -> Any:
        found, value = self._tokens[self._at]
        if found != kind:
            raise Unusual
        self._at += 1
        return value

    def _expression(self, least: int) -> Tree:
        """An expression whose operators bind more tightly than `least`."""
        tree = self._operand()
        while (binds := _BINARY.get(operator := self._tokens[self._at][0], 0)) > least:
            self._at += 1
            tree = (operator, tree, self._expression(binds))
        if self._tokens[self._at][0] in ("[", "{", "("):
            raise Unusual
        return tree

    def _operand(self) -> Tree:
        kind, value = self._tokens[self._at]
        self._at += 1
        if kind in _UNARY:
            return (f"unary {kind}", self._expression(_UNARY[kind]))
        if kind == "(":
            tree = self._expression(0)
            self._take(")")
            return tree
        if kind in _LISTS:
            name, end = _LISTS[kind]
            return (name, *([value] if kind == "call" else []), *self._arguments(end))
        if kind not in _LEAVES:
            raise Unusual
        return _LEAVES[kind](value)

    def _arguments(self, end: str) -> Iterator[Tree]:
        """Yield the arguments up to a bracket; once one is a rule, all that follow are."""
        if self._tokens[self._at][0] == end:
            self._at += 1
            return
        only_rules = False
        while True:
            tree = self._expression(0)
            if self._tokens[self._at][0] == "=>":
                self._at += 1
                tree, only_rules = ("=>", tree, self._expression(0)), True
            elif only_rules:
                raise Unusual
            yield tree
            if self._tokens[self._at][0] == end:
                self._at += 1
                return
            self._take(",")


def literal(value: Any) -> Tree:
    return ("value", type(value).__name__, value)


def _unquoted(quoted: str) -> str:
    if quoted[0] == "`":
        return quoted[1:-1].replace("\\`", "`")
    if "\\" not in quoted:
        return quoted[1:-1]
    try:
        return _ESCAPE.sub(lambda match: codecs.decode(match[0], "unicode-escape"), quoted[1:-1])
    except UnicodeDecodeError:
        raise Unusual from None


_LISTS = {"call": ("call", ")"), "[": ("list", "]"), "{": ("map", "}")}
_LEAVES: Mapping[str, Callable[[str], Tree]] = {
    "dollar": lambda name: ("$", name),
    "number": lambda digits: literal(float(digits) if "." in digits else int(digits)),
    "text": lambda quoted: literal(_unquoted(quoted)),
    "word": lambda word: literal(_LITERALS[word]) if word in _LITERALS else ("word", word),
}

_parsing = threading.Lock()  # the library's parser keeps its state in itself


@functools.cache
def _library_parser() -> Any:
    import yaql  # type: ignore[import-untyped]

    engine = yaql.YaqlFactory().create()

    def parsed(text: str) -> Any:
        with _parsing:
            return engine(text)

    return parsed


_OTHER: Tree = ("other",)
"""A part that has no form here, so that only the library can evaluate it."""


def from_library(node: Any) -> Tree:
    """The tree of a node of the library."""
    from yaql.language import expressions  # type: ignore[import-untyped]

    if isinstance(node, expressions.Wrap):
        return from_library(node.expr)
    if isinstance(node, expressions.KeywordConstant):
        return ("word", node.value)
    if isinstance(node, expressions.Constant):
        return literal(node.value)
    if isinstance(node, expressions.MappingRuleExpression):
        return ("=>", from_library(node.source), from_library(node.destination))
    if isinstance(node, expressions.GetContextValue):
        return ("$", node.path.value)
    if not isinstance(node, expressions.Function):
        return _OTHER
    args = [from_library(arg) for arg in node.args]
    if isinstance(node, expressions.BinaryOperator):
        return (node.operator, *args)
    if isinstance(node, expressions.UnaryOperator):
        return (f"unary {node.operator}", *args)
    if type(node) is expressions.Function:
        return ("call", node.name, *args)
    kinds = {expressions.ListExpression: "list", expressions.MapExpression: "map"}
    return (kinds.get(type(node), "other"), *args)


def parts(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and all trees in it, without recursion."""
    stack = [tree]
    while stack:
        yield (found := stack.pop())
        stack.extend(part for part in reversed(found) if isinstance(part, tuple))


_FACTS: Collection[Tree] = (("$", "$"), ("$", "$1"))


def _named(tree: Tree) -> tuple[str, bool] | None:
    """The name that a part reads of `$`, and whether a missing one is null there."""
    if tree[0] not in (".", "?.") or tree[1] not in _FACTS:
        return None
    member = tree[2]
    is_get = member[0] == "call" and member[1] == "get" and len(member) > 2
    name = (member[2] if is_get else member)[-1]
    return (name, is_get) if isinstance(name, str) and (is_get or member[0] == "word") else None


def root_names(tree: Tree) -> Iterator[tuple[str, bool]]:
    """Yield the names that an expression reads of `$`, and whether a missing one is null there.

    Arguments of methods are left out, because `$` may be something else in them.
    """
    stack = [tree]
    while stack:
        part = stack.pop()
        named = _named(part)
        if named:
            yield named
        operands = part[1:2] if part[0] in (".", "?.") else part[1:]
        stack.extend(operand for operand in reversed(operands) if isinstance(operand, tuple))


def names_of_facts(tree: Tree) -> set[str] | None:
    """The names that an expression may read of the facts; None if it may read all."""
    named = [name for name in map(_named, parts(tree)) if name]
    is_whole = sum(part in _FACTS for part in parts(tree)) > len(named) or any(
        part[0] == "other" for part in parts(tree)
    )
    return None if is_whole else {name for name, _ in named}


def place_of(error: Exception) -> tuple[bool, int | None, str]:
    """Whether an error is about the text of an expression, its position (None at the end), and its word."""
    from yaql.language import exceptions  # it was imported by the parser that raised the error

    if not isinstance(error, exceptions.YaqlParsingException):
        return False, None, ""
    return True, error.position, str(error.value)

"""Parse YAQL to trees of tuples.

The library, whose import and tables take a fifth of a second, parses the same texts to the same trees, but for deep
nesting, and finds the same mistakes in others.

A tree is `("value", type, value)` for a literal, `("word", text)`, `("$", name)`, `(".", left, right)` and likewise
for the other operators, `("unary not", operand)`, `("call", name, *args)`, `("index", value, *args)`,
`("list", *items)` or `("map", *rules)`. An argument can be a rule `("=>", key, value)`. `GAP` stands for an argument
that is left out between two commas. Trees are hashable, and literals of different types differ.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Collection, Iterator
from typing import Any

Tree = tuple[Any, ...]

MAX_DEPTH = 64
"""Brackets, operators and calls in one another: up to 16 in Fuel's releases and plugins. Python allows a thousand calls
in one another, and each level takes up to nine, below those of a server or the terminal UI."""

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<variable>\$\w*)|(?P<number>\b\d+(?:\.?\d+)?\b)|(?P<call>\b[^\W\d]\w*)\(
    |(?P<word>(?!__)\b[^\W\d]\w*\b)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)
    |(?P<sign>=>|=~|!~|!=|>=|<=|->|\?\.|[-.+*/><=()\[\],{}])
    |(?P<unknown>[\s\S]))""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:U.{8}|u.{4}|x..|[0-7]{1,3}|N\{[^}]+\}|[\\'"abfnrtv])""")
_LITERALS = {"true": True, "false": False, "null": None}
_BINARY = {
    **dict.fromkeys((".", "?."), 11), "[": 10, **dict.fromkeys(("=~", "!~"), 8), **dict.fromkeys(("*", "/", "mod"), 7),
    **dict.fromkeys("+-", 6), **dict.fromkeys((">", "<", ">=", "<=", "!=", "=", "in"), 5), "and": 3, "or": 2, "->": 1,
}  # fmt: skip
"""How tightly each operator binds, `[` after a value too."""
_UNARY = {"+": 9, "-": 9, "not": 4}
GAP: Tree = ("gap",)


class Unreadable(Exception):
    """A text is not YAQL. The arguments are the offset of the first token that does not fit, and its value; None at the
    end of the text."""


class TooDeep(Exception):
    """A text is nested more deeply than `MAX_DEPTH`. The argument is the offset where, None at the end of the text."""


def read(text: str) -> Tree:
    """The tree of an expression. Raise `Unreadable`, `TooDeep`, and `UnicodeDecodeError` for an odd escape."""
    reader = _Reader(text)
    tree = reader.expression(0)
    reader.take("end")
    return tree


def _tokens(text: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the kind, the value and the offset of each token, and ends without end. The kind of a sign and of an
    operator is its text. Raise `Unreadable`, and what decoding an escape raises."""
    at, end = 0, len(text.rstrip(" \t\r\n"))
    while at < end:
        match = _TOKEN.match(text, at)
        assert match, "the last alternative is any character"  # noqa: S101 - for the type
        kind, at = str(match.lastgroup), match.end()
        value: Any = match[kind]
        if kind in ("number", "text"):
            value = _unquoted(value) if kind == "text" else float(value) if "." in value else int(value)
            kind = "literal"
        elif kind == "word" and value in _LITERALS:
            kind, value = "literal", _LITERALS[value]
        elif kind == "sign" or (kind == "word" and value in ("in", "mod", "and", "or", "not")):
            kind = value
        elif kind == "variable":
            kind = "$"
        elif kind == "unknown":
            raise Unreadable(at - 1, value)
        yield kind, value, match.start(str(match.lastgroup))
    yield from itertools.repeat(("end", None, None))


class _Reader:
    """A text that is read token by token; `_kind`, `_value` and `_at` are those of the next token. `_depth` counts the
    levels around it, `_height` those of the part before it."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._depth = self._height = 0
        self._next()

    def _next(self) -> None:
        self._kind, self._value, self._at = next(self._tokens)

    def _takes(self, kind: str) -> bool:
        """Whether the next token is of a kind; if so, go on to the one after it."""
        found = self._kind == kind
        if found:
            self._next()
        return found

    def take(self, kind: str) -> None:
        if not self._takes(kind):
            raise Unreadable(self._at, self._value)

    def expression(self, least: int) -> Tree:
        """An expression whose operators bind more tightly than `least`."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeep(self._at)
        tree = self._operand()
        while (binds := _BINARY.get(operator := self._kind, 0)) > least:
            height = self._height
            self._next()
            if operator == "[":
                tree = ("index", tree, *self._arguments("]"))
            else:
                tree = (operator, tree, self.expression(0 if operator == "->" else binds))
            self._raise(max(height, self._height))
        self._depth -= 1
        return tree

    def _raise(self, height: int) -> None:
        """Note that the part before the next token has one level above parts of this height."""
        self._height = height + 1
        if self._height > MAX_DEPTH:
            raise TooDeep(self._at)

    def _operand(self) -> Tree:
        kind, value = self._kind, self._value
        if kind not in _BEGIN:
            raise Unreadable(self._at, value)
        self._next()
        self._height = 0
        if kind in _UNARY:
            tree = (f"unary {kind}", self.expression(_UNARY[kind]))
        elif kind == "(":
            tree = self.expression(0)
            self.take(")")
        elif kind in _LISTS:
            name, end = _LISTS[kind]
            tree = (name, *([value] if kind == "call" else []), *self._arguments(end))
        else:
            tree = literal(value) if kind == "literal" else (kind, value)
        self._raise(self._height)
        return tree

    def _arguments(self, end: str) -> Iterator[Tree]:
        """Yield the arguments up to a bracket; once one is a rule, all that follow are."""
        if self._takes(end):
            return
        values = gaps = rules = height = 0
        while True:
            while not rules and self._takes(","):
                gaps += 1
                yield GAP
            tree = self.expression(0)
            height = max(height, self._height)
            if self._kind == "=>" and gaps <= (values > 0):
                self._next()
                tree, rules = ("=>", tree, self.expression(0)), 1
                self._raise(max(height, self._height))
            elif rules:
                raise Unreadable(self._at, self._value)
            values, gaps = values + 1, 0
            self._height = height = max(height, self._height)
            yield tree
            if self._takes(end):
                return
            self.take(",")


def literal(value: Any) -> Tree:
    return ("value", type(value).__name__, value)


def _unquoted(quoted: str) -> str:
    if quoted[0] == "`":
        return quoted[1:-1].replace("\\`", "`")
    return _ESCAPE.sub(lambda match: codecs.decode(match[0], "unicode-escape"), quoted[1:-1])


_LISTS = {"call": ("call", ")"), "[": ("list", "]"), "{": ("map", "}")}
_BEGIN = {*_UNARY, *_LISTS, "(", "literal", "word", "$"}
_DEPTHS = {**dict.fromkeys(("(", "call", "[", "{"), 1), **dict.fromkeys((")", "]", "}"), -1)}


def arguments(text: str, names: Collection[str]) -> Iterator[str]:
    """Yield the texts of the arguments of all calls of some functions in a text that is YAQL.

    >>> list(arguments("f($.a, $.get('b, c')) or g(1) or f($.d.where($.x > 1))", {"f"}))
    ['$.a', "$.get('b, c')", '$.d.where($.x > 1)']
    """
    tokens = [*itertools.takewhile(lambda token: token[0] != "end", _tokens(text))]
    for number, (call, name, start) in enumerate(tokens):
        if call != "call" or name not in names:
            continue
        depth, begin = 1, start + len(name) + 1
        for kind, _, at in tokens[number + 1 :]:
            depth += _DEPTHS.get(kind, 0)
            if depth == 0 or (depth == 1 and kind == ","):
                yield text[begin:at].strip()
                begin = at + 1
            if depth == 0:
                break


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
        if named := _named(part):
            yield named
        operands = part[1:2] if part[0] in (".", "?.") else part[1:]
        stack.extend(operand for operand in reversed(operands) if isinstance(operand, tuple))


def names_of_facts(tree: Tree) -> set[str] | None:
    """The names that an expression may read of the facts; None if it may read all."""
    named = [name for name in map(_named, parts(tree)) if name]
    is_whole = sum(part in _FACTS for part in parts(tree)) > len(named)
    return None if is_whole else {name for name, _ in named}

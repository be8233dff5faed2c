"""Parse and evaluate Fuel's own expression language: conditions such as `settings:storage.images_ceph.value == true`.

Restrictions of roles and settings, limits, and conditions of tasks are written in it. Values are compared as Python
compares them, because Nailgun does so: numbers never equal texts, but 1 equals true.

Precedence, from weakest: `or`; `and`; `==` and `!=`; `in` and `not`. So `not a == b` means `(not a) == b`, and
`not x in l` means `(not x) in l`. The language lacks `<`, `>`, arithmetic and `not in`. Texts are in single or double
quotes, without escapes, and keywords are lower case. Source: the lexer and parser of Nailgun's `expression` package.
It skips characters that it does not know; here they are errors.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from fuelclient.expressions.errors import ExpressionError, UndefinedValue, quoted

if TYPE_CHECKING:
    from lark import Lark, UnexpectedToken

Models: TypeAlias = Mapping[str, Mapping[str, Any]]

MAX_LENGTH = 10_000
"""The longest expression of Fuel's releases and plugins has a few hundred characters."""
MAX_DEPTH = 100
"""Nested operators; deeper expressions would come near Python's own limit of recursion."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression, which can be evaluated on many models."""

    text: str
    root: Node

    def evaluate(self, models: Models, *, strict: bool = True, as_master: bool = False) -> Any:
        """The value on `models` (`settings`, `cluster`, `version`, `networking_parameters`).

        `and` and `or` return the value of the operand that decides, and evaluate nothing after it. A missing path
        raises `UndefinedValue` if `strict`, and is None otherwise. Raise `ExpressionError` for an unknown model, and
        for an `in` on something that contains nothing; as on a master, what is missing may be that something.

        >>> parse("cluster:mode == 'ha_compact' and not settings:debug").evaluate(
        ...     {"cluster": {"mode": "ha_compact"}, "settings": {"debug": False}}
        ... )
        True
        """
        return self.root.value(Scope(models, strict, self.text, strict or as_master))

    def paths(self) -> frozenset[str]:
        """The model paths that the expression can read.

        >>> sorted(parse("settings:a.b == 1 or 'x' in settings:c").paths())
        ['settings:a.b', 'settings:c']
        """
        return frozenset(node.text for level in _levels(self.root) for node in level if isinstance(node, Path))


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """The parsed expression, from a cache if the same text was parsed before.

    Raise `ExpressionError` if the text is not an expression (an empty one is not), is longer than `MAX_LENGTH`, or
    nests deeper than `MAX_DEPTH`.

    >>> parse("not 'x' in settings:list") is parse("not 'x' in settings:list")
    True
    """
    if len(text) > MAX_LENGTH:
        message = f"Expression {quoted(text)} has {len(text)} characters."
        raise ExpressionError(message, text, position=MAX_LENGTH, hint=f"At most {MAX_LENGTH} are allowed.")
    root = _parse_tree(text)
    if len(_levels(root)) > MAX_DEPTH:
        message = f"Expression {quoted(text)} is nested more than {MAX_DEPTH} operators deep."
        raise ExpressionError(message, text, position=0, hint="Join conditions with and, or.")
    return Expression(text, root)


def _levels(root: Node) -> list[list[Node]]:
    """The nodes by their distance from the root, without recursion."""
    levels = [[root]]
    while below := [operand for node in levels[-1] for operand in node.operands]:
        levels.append(below)
    return levels


def parse_condition(condition: str) -> Expression:
    """The condition of a task, parsed as it reads the facts of a node. Its messages show what its author wrote.

    Raise what `parse` raises.
    """
    return Expression(condition, parse(rewrite(parse(condition).text)).root)


def value_of_condition(text: str, facts: Mapping[Any, Any], *, as_master: bool = False) -> Any:
    """The value of the condition of a task on facts. Raise `ExpressionError` if it has none."""
    models = {"settings": facts, "cluster": facts.get("cluster") or {}}
    return parse_condition(text).evaluate(models, strict=False, as_master=as_master)


_TEXT_OR_PATH = re.compile(r"""("[^"]*"|'[^']*'|(?<!\w)\w*+:[\w.\-]+)""")


def rewrite(condition: str) -> str:
    """A task's condition, which is written for the settings of a master, as it reads the facts of a node.

    Facts have no section `common`, no section of components (each component is a section with `enabled`), and no
    `value` at the end of a path. Quoted texts and other models stay as they are. Source: Nailgun `lcm.task_serializer`,
    which rewrites quoted texts as well.

    >>> rewrite("settings:additional_components.ceilometer.value == true")
    'settings:ceilometer.enabled == true'
    >>> rewrite("settings:common.debug.value == settings:storage.volumes_ceph.value")
    'settings:debug == settings:storage.volumes_ceph'
    """
    return _TEXT_OR_PATH.sub(lambda match: _rewritten(match[0]), condition)


def _rewritten(part: str) -> str:
    model, _, path = part.partition(":")
    if model != "settings":
        return part
    section, _, rest = path.partition(".")
    name = rest.removesuffix(".value")
    if section == "additional_components" and name:
        return f"settings:{name}.enabled"
    if section == "common" and name:
        return f"settings:{name}"
    return "settings:" + path.removesuffix(".value")


@dataclass(frozen=True, slots=True)
class Scope:
    """The models of one evaluation by name, whether undefined values are errors, the expression for messages, and
    whether searching in null is an error."""

    models: Models
    strict: bool
    text: str
    searches_strictly: bool = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a string, true, false or null."""

    constant: int | str | bool | None
    operands: ClassVar[tuple[Node, ...]] = ()

    def value(self, _scope: Scope) -> Any:
        return self.constant


@dataclass(frozen=True, slots=True)
class Path:
    """A value of a model: `settings:storage.images_ceph.value`."""

    text: str
    operands: ClassVar[tuple[Node, ...]] = ()

    def value(self, scope: Scope) -> Any:
        """The value, or None for an undefined one if the scope is not strict.

        Always raise `ExpressionError` for an unknown model; raise `UndefinedValue` if strict. Anything below a null, a
        number or a text is undefined too; Nailgun fails there with an internal error.
        """
        model, _, path = self.text.partition(":")
        if model not in scope.models:
            known = ", ".join(sorted(scope.models))
            hint = f"The expression {quoted(scope.text)} can read: {known}."
            raise ExpressionError(f'No model with name "{model}" defined.', scope.text, hint=hint)
        value: Any = scope.models[model]
        for key in path.split("."):
            if isinstance(value, Mapping) and key in value:
                value = value[key]
            elif scope.strict:
                raise UndefinedValue(self.text, scope.text)
            else:
                return None
        return value


@dataclass(frozen=True, slots=True)
class Not:
    """`not`."""

    operands: tuple[Node]

    def value(self, scope: Scope) -> Any:
        return not self.operands[0].value(scope)


@dataclass(frozen=True, slots=True)
class Deciding:
    """`or`, or `and`: the value of the first operand whose truth decides (true for `or`, false for `and`), otherwise of
    the last; operands after it are not evaluated."""

    operands: tuple[Node, ...]
    decides: bool

    def value(self, scope: Scope) -> Any:
        value: Any = None
        for operand in self.operands:
            value = operand.value(scope)
            if bool(value) is self.decides:
                break
        return value


@dataclass(frozen=True, slots=True)
class Same:
    """`==`, or `!=` if negated."""

    operands: tuple[Node, Node]
    negated: bool = False

    def value(self, scope: Scope) -> Any:
        left, right = self.operands
        return bool(left.value(scope) == right.value(scope)) != self.negated


@dataclass(frozen=True, slots=True)
class Within:
    """`in`: whether a list has an element, a mapping a key, or a string a part."""

    operands: tuple[Node, Node]

    def value(self, scope: Scope) -> Any:
        """Whether the part is in the whole. Null contains nothing if the scope does not search strictly.

        Raise `ExpressionError` if the right side cannot contain anything (a number, or null if strict), or if anything
        but a text is looked for in a text. Nailgun fails there with an internal error.
        """
        part, whole = (operand.value(scope) for operand in self.operands)
        if whole is None and not scope.searches_strictly:
            return False
        if isinstance(whole, str):
            fits = isinstance(part, str)
        else:
            fits = isinstance(whole, Mapping | list | tuple | set | frozenset)
        if not fits:
            message = f"Expression {quoted(scope.text)} looks for {_described(part)} in {_described(whole)}."
            raise ExpressionError(message, scope.text, hint='"in" needs a list or a mapping, or two strings.')
        try:
            return part in whole
        except TypeError:  # a list or a mapping is never the key of a mapping
            return False


Node: TypeAlias = Literal | Path | Not | Deciding | Same | Within


def _described(value: object) -> str:
    """What `value` is, in the words of a YAML document."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for types, words in ((str, "a string"), (int | float, "a number"), (Mapping, "a mapping")):
        if isinstance(value, types):
            return words
    return "a list"


_GRAMMAR = r"""
?start: either
?either: both | both (_OR both)+
?both: equal | equal (_AND equal)+ -> both
?equal: member
    | equal _EQ member -> same
    | equal _NE member -> different
?member: unary
    | member _IN unary -> within
?unary: atom
    | _NOT unary -> negated
?atom: NUMBER -> number
    | STRING -> string
    | _TRUE -> true
    | _FALSE -> false
    | _NULL -> null
    | PATH -> path
    | _OPEN either _CLOSE

PATH.2: /\w*:[\w.\-]+/
NUMBER: /-?[0-9]{1,300}(?![0-9])/
STRING: /"[^"]*"|'[^']*'/
_TRUE: /true\b/
_FALSE: /false\b/
_NULL: /null\b/
_OR: /or\b/
_AND: /and\b/
_NOT: /not\b/
_IN: /in\b/
_EQ: "=="
_NE: "!="
_OPEN: "("
_CLOSE: ")"
%ignore /\s+/
"""

_VALUE = 'a value (a number, a quoted string, true, false, null or model:path), "not" or "("'
_OPERATOR = '"and", "or", "==", "!=", "in" or the end'
_HINTS = {
    "<": "Numbers cannot be ordered; only == and != exist.",
    ">": "Numbers cannot be ordered; only == and != exist.",
    "=": "Write == for equality.",
    "!": 'Write "not".',
    "&": 'Write "and".',
    "|": 'Write "or".',
    ":": "A path begins with the name of a model and a colon: settings:storage.images_ceph.value.",
}
_WORDS = {"true", "false", "null", "and", "or", "not", "in"}


_NODES: Mapping[str, Callable[[Any], Node]] = {
    "either": lambda operands: Deciding(tuple(operands), decides=True),
    "both": lambda operands: Deciding(tuple(operands), decides=False),
    "same": lambda sides: Same(tuple(sides)),
    "different": lambda sides: Same(tuple(sides), negated=True),
    "within": lambda sides: Within(tuple(sides)),
    "negated": lambda operands: Not(tuple(operands)),
    "number": lambda tokens: Literal(int(tokens[0])),
    "string": lambda tokens: Literal(str(tokens[0])[1:-1]),
    "true": lambda _: Literal(True),
    "false": lambda _: Literal(False),
    "null": lambda _: Literal(None),
    "path": lambda tokens: Path(str(tokens[0])),
}
"""What each rule makes of its parts, while the text is parsed."""


@functools.cache
def _parser() -> Lark:
    """The parser, which is built once per process, in some 15 ms.

    The basic lexer distinguishes an unknown character from a word in the wrong place; the default one does not.
    """
    from lark import Lark  # it costs 50 ms to import

    return Lark(_GRAMMAR, parser="lalr", lexer="basic", transformer=SimpleNamespace(**_NODES))


def _parse_tree(text: str) -> Node:
    """The parsed `text`. Raise `ExpressionError` with the position of the first mistake."""
    from lark import UnexpectedCharacters, UnexpectedToken

    try:
        tree: object = _parser().parse(text)
    except UnexpectedCharacters as error:
        raise _unknown(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise _misplaced(text, error) from None
    assert isinstance(tree, Node)  # noqa: S101 - what the builder makes
    return tree


def _unknown(text: str, position: int) -> ExpressionError:
    """The error for characters that no part of an expression begins with."""
    if text[position] in "\"'":
        return _syntax_error(text, position, "a quote that is never closed", "a quoted string")
    match = re.match(r"\w+", text[position:])
    word = match[0] if match else text[position]
    return _syntax_error(text, position, quoted(word), "a part of an expression", _hint(word, text, position))


def _hint(word: str, text: str, position: int) -> str:
    """A hint of what the author of the unknown `word` probably meant."""
    if word.lower() in _WORDS:
        return f"Write it in lower case: {word.lower()}."
    if word.isdigit():
        return "A number has at most 300 digits."
    if text.startswith(":", position + len(word)):
        return _HINTS[":"]
    if re.match(r"\w", word):
        return f"Put strings in quotes: {quoted(word)}."
    return _HINTS.get(word, "")


def _misplaced(text: str, error: UnexpectedToken) -> ExpressionError:
    """The error for a part of an expression that is in the wrong place."""
    wants_value = "NUMBER" in error.expected
    if error.token.type == "$END":
        position, actual = len(text.rstrip()), "the end"
        expected = _VALUE if wants_value else 'a closing ")"'
    else:
        position, actual = error.token.start_pos or 0, quoted(str(error.token))
        expected = _VALUE if wants_value else _OPERATOR
    hint = 'Write "not (x in y)" instead of "x not in y".' if error.token.type == "_NOT" else ""
    return _syntax_error(text, position, actual, expected, hint)


def _syntax_error(text: str, position: int, actual: str, expected: str, hint: str = "") -> ExpressionError:
    """The error for `actual` at `position` of `text`, where `expected` should be.

    >>> print(_syntax_error("1 < 2", 2, '"<"', '"==" or the end', "There is no <."))
    Expression "1 < 2" cannot be read at character 3: found "<" where "==" or the end was expected. There is no <.
    """
    message = (
        f"Expression {quoted(text, position)} cannot be read at character {position + 1}:"
        f" found {actual} where {expected} was expected."
    )
    return ExpressionError(message, text, position=position, expected=expected, hint=hint)

"""Parse Fuel's expression language. Importing this module imports the parser library.

Precedence, from weakest: `or`; `and`; `==` and `!=`; `in` and `not`. So `not a == b` means `(not a) == b`, and
`not x in l` means `(not x) in l`. The language lacks `<`, `>`, arithmetic and `not in`. Texts are in single or double
quotes, without escapes, and keywords are lower case. Source: the lexer and parser of Nailgun's `expression` package.
It skips characters that it does not know; here they are errors.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from lark import Lark, UnexpectedCharacters, UnexpectedToken

from fuelclient.expressions.errors import ExpressionError, quoted
from fuelclient.expressions.legacy import Deciding, Literal, Node, Not, Path, Same, Within

GRAMMAR = r"""
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

VALUE = 'a value (a number, a quoted string, true, false, null or model:path), "not" or "("'
OPERATOR = '"and", "or", "==", "!=", "in" or the end'
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
    """Return the parser, which is built once per process, in some 15 ms.

    The basic lexer distinguishes an unknown character from a word in the wrong place; the default one does not.
    """
    return Lark(GRAMMAR, parser="lalr", lexer="basic", transformer=SimpleNamespace(**_NODES))


def parse_tree(text: str) -> Node:
    """Return the parsed `text`. Raise `ExpressionError` with the position of the first mistake."""
    try:
        tree: object = _parser().parse(text)
    except UnexpectedCharacters as error:
        raise _unknown(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise _misplaced(text, error) from None
    assert isinstance(tree, Node)  # noqa: S101 - what the builder makes
    return tree


def _unknown(text: str, position: int) -> ExpressionError:
    """Return the error for characters that no part of an expression begins with."""
    if text[position] in "\"'":
        return _syntax_error(text, position, "a quote that is never closed", "a quoted string")
    match = re.match(r"\w+", text[position:])
    word = match[0] if match else text[position]
    return _syntax_error(text, position, quoted(word), "a part of an expression", _hint(word, text, position))


def _hint(word: str, text: str, position: int) -> str:
    """Return a hint of what the author of the unknown `word` probably meant."""
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
    """Return the error for a part of an expression that is in the wrong place."""
    wants_value = "NUMBER" in error.expected
    if error.token.type == "$END":
        position, actual = len(text.rstrip()), "the end"
        expected = VALUE if wants_value else 'a closing ")"'
    else:
        position, actual = error.token.start_pos or 0, quoted(str(error.token))
        expected = VALUE if wants_value else OPERATOR
    hint = 'Write "not (x in y)" instead of "x not in y".' if error.token.type == "_NOT" else ""
    return _syntax_error(text, position, actual, expected, hint)


def _syntax_error(text: str, position: int, actual: str, expected: str, hint: str = "") -> ExpressionError:
    """Return the error for `actual` at `position` of `text`, where `expected` should be.

    >>> print(_syntax_error("1 < 2", 2, '"<"', '"==" or the end', "There is no <."))
    Expression "1 < 2" cannot be read at character 3: found "<" where "==" or the end was expected. There is no <.
    """
    message = (
        f"Expression {quoted(text, position)} cannot be read at character {position + 1}:"
        f" found {actual} where {expected} was expected."
    )
    return ExpressionError(message, text, position=position, expected=expected, hint=hint)

"""The grammar of Fuel's expression language. Importing this module imports the parser library.

Binding, weakest first: `or`; `and`; `==` and `!=`; `in` and `not`. So `not a == b` is `(not a) == b`, and
`not x in l` is `(not x) in l`. There is no `<`, no `>`, no arithmetic and no `not in`. Texts stand between
single or double quotes and know no escapes; the words are lower case. Source: the lexer and parser of Nailgun's
`expression` package, which skips characters that it does not know; here they are errors.
"""

from __future__ import annotations

import functools
import re

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken, v_args

from fuelclient.expressions.failure import ExpressionError, quoted, syntax_error
from fuelclient.expressions.nodes import Both, Either, Literal, Node, Not, Path, Same, Within

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

VALUE = 'a value (a number, a quoted text, true, false, null or model:path), "not" or "("'
OPERATOR = '"and", "or", "==", "!=", "in" or the end'
_HINTS = {
    "<": "Numbers cannot be ordered: there are only == and !=.",
    ">": "Numbers cannot be ordered: there are only == and !=.",
    "=": "Equality is written ==.",
    "!": 'Negation is written "not".',
    "&": 'It is written "and".',
    "|": 'It is written "or".',
    ":": "A path follows a model's name and a colon: settings:storage.images_ceph.value.",
}
_WORDS = {"true", "false", "null", "and", "or", "not", "in"}


@v_args(inline=True)
class _Builder(Transformer[Token, Node]):
    """Makes the nodes while the text is parsed."""

    def either(self, *operands: Node) -> Node:
        return Either(operands)

    def both(self, *operands: Node) -> Node:
        return Both(operands)

    def same(self, left: Node, right: Node) -> Node:
        return Same(left, right)

    def different(self, left: Node, right: Node) -> Node:
        return Same(left, right, negated=True)

    def within(self, part: Node, whole: Node) -> Node:
        return Within(part, whole)

    def negated(self, operand: Node) -> Node:
        return Not(operand)

    def number(self, token: Token) -> Node:
        return Literal(int(token))

    def string(self, token: Token) -> Node:
        return Literal(str(token)[1:-1])

    def true(self) -> Node:
        return Literal(True)

    def false(self) -> Node:
        return Literal(False)

    def null(self) -> Node:
        return Literal(None)

    def path(self, token: Token) -> Node:
        return Path(str(token))


@functools.cache
def _parser() -> Lark:
    """The parser, built once per process in some 15 ms.

    The basic lexer is asked for because it tells an unknown character from a word in the wrong place.
    """
    return Lark(GRAMMAR, parser="lalr", lexer="basic", transformer=_Builder())


def parse_tree(text: str) -> Node:
    """The parsed `text`. Raises `ExpressionError` with the place of the first thing that is wrong."""
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
        return syntax_error(text, position, "a quote that is never closed", "a quoted text")
    match = re.match(r"\w+", text[position:])
    found = match[0] if match else text[position]
    return syntax_error(text, position, quoted(found), "a part of an expression", _hint(found, text, position))


def _hint(found: str, text: str, position: int) -> str:
    """What the author of the unknown characters `found` has probably meant."""
    if found.lower() in _WORDS:
        return f"It is written in lower case: {found.lower()}."
    if found.isdigit():
        return "A number has at most 300 digits."
    if text.startswith(":", position + len(found)):
        return _HINTS[":"]
    if re.match(r"\w", found):
        return f"Texts stand between quotes: {quoted(found)}."
    return _HINTS.get(found, "")


def _misplaced(text: str, error: UnexpectedToken) -> ExpressionError:
    """The error for a part of an expression that cannot stand where it does."""
    wants_value = "NUMBER" in error.expected
    if error.token.type == "$END":
        position, found = len(text.rstrip()), "the end"
        expected = VALUE if wants_value else 'a closing ")"'
    else:
        position, found = error.token.start_pos or 0, quoted(str(error.token))
        expected = VALUE if wants_value else OPERATOR
    hint = ""
    if error.token.type == "_NOT":
        hint = 'Write "not (x in y)" for what is not in y.'
    return syntax_error(text, position, found, expected, hint)

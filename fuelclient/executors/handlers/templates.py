"""Templates of handler commands: text for bash, with placeholders that each become one word.

A value is quoted for the place between words. In a place that bash reads in another way, such as inside quotes, the
quotes of the value would end those of the template, and the rest of the value would be a command. Such templates are
refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

_PLACEHOLDER = re.compile(r"\{((?:node|task|transaction|parameters)(?:\.[\w-]+)*)\}")
_ARITHMETIC = "in a command with arithmetic"
_ELSEWHERE = (("<<", "in a command with a here-document"), ("((", _ARITHMETIC), ("$[", _ARITHMETIC))

_AGAIN = re.compile(
    r"(?<![\w./-])(?P<word>eval|let|trap|declare|typeset|local|read|mapfile|readarray|printf\s+-v|(?:\[|test)\s+-v)(?=\s)"
    r"|(?P<subscript>\w\[[^\]]*\{)|(?P<numbers>\[\[.*\s-(?:eq|ne|lt|le|gt|ge)\s)",
    re.DOTALL,
)
"""What bash evaluates a second time, when the quotes are gone: some words, subscripts, and the numbers of `[[`."""


class _Place(NamedTuple):
    """What a character opens in which a placeholder is not a word, and the character that closes it."""

    words: str
    end: str
    escapes: bool = False


_QUOTES = {
    "'": _Place("inside single quotes", "'"),
    '"': _Place("inside double quotes", '"', escapes=True),
    "`": _Place("inside backquotes", "`", escapes=True),
}


def misplaced(template: str) -> str:
    """Return which placeholder of a template is not a word of its own, and why; an empty string for a good template.

    >>> misplaced("erase {node.name} --ip={node.ip}")
    ''
    >>> misplaced("echo 'erase {node.name}'")
    '{node.name} stands inside single quotes'
    """
    first = _PLACEHOLDER.search(template)
    if not first:
        return ""
    for mark, where in _ELSEWHERE:
        if mark in template:
            return f"{first[0]} stands {where}"
    if again := _AGAIN.search(template):
        what = again["word"] or ("a subscript" if again["subscript"] else "[[ and numbers")
        return f"{first[0]} stands in a command with {what}, which bash evaluates once more"
    position = 0
    while position < len(template):
        end, where = _passage(template, position)
        if where and (match := _PLACEHOLDER.search(template, position, end)):
            return f"{match[0]} stands {where}"
        position = end
    return ""


def _passage(template: str, start: int) -> tuple[int, str]:
    """Return where the passage that begins at `start` ends, and what it is if a placeholder in it is no word."""
    character = template[start]
    if character in "\\$" and (placeholder := _PLACEHOLDER.match(template, start + 1)):
        return placeholder.end(), "after a backslash" if character == "\\" else "after a dollar sign"
    if character == "\\":
        return start + 2, ""
    if template.startswith("$'", start):
        return _closed(template, start + 2, _Place("", "'", escapes=True)), "inside single quotes"
    if template.startswith("${", start):
        return _closed(template, start + 2, _Place("", "}", escapes=True)), "inside ${}"
    if character == "#" and (start == 0 or template[start - 1] in " \t\n;&|()"):
        end = template.find("\n", start)
        return (len(template) if end < 0 else end), "in a comment"
    if place := _QUOTES.get(character):
        return _closed(template, start + 1, place), place.words
    return start + 1, ""


def _closed(template: str, position: int, place: _Place) -> int:
    while position < len(template) and template[position] != place.end:
        position += 2 if place.escapes and template[position] == "\\" else 1
    return min(position + 1, len(template))


def filled(template: str, value: Callable[[str], str]) -> str:
    """Return a template with the value of each placeholder as one word. Raise `ValueError` if it is not one there."""
    if problem := misplaced(template):
        raise ValueError(f"the handler command cannot be used: {problem}")
    return _PLACEHOLDER.sub(lambda match: shlex.quote(value(match[1])), template)

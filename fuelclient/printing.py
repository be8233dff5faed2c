"""Make texts from documents and machines safe to print in a terminal.

Names of tasks and outputs of commands may come from sources that the user does not know. A terminal obeys every escape
sequence in them: it moves its cursor, renames its window, or types answers as if it were the user.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that are commands, are invisible, or break lines unexpectedly."""

_COLOUR = r"\x1b\[[0-9;:]*m"
_PIECE = re.compile(rf"{_COLOUR}|\r\n|.", re.DOTALL)
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[^\[]")
"""Control sequences; strings for the terminal, such as the title of its window, with their end; other commands."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str, keep: str = "") -> str:
    """`text` with every character that a terminal may obey escaped, except those in `keep`.

    >>> print(printable("a\\x1b[2Jb\\nc"), printable("ü ✓"), printable("a\\tb", keep="\\t") == "a\\tb")
    a\\x1b[2Jb\\nc ü ✓ True
    """
    if text.isprintable():
        return text
    return "".join(character if character in keep else _escaped(character) for character in text)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "node"), count(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_MESSAGE = 120
"""The number of characters that a message gives to a list of ids."""


def ranges(items: Iterable[Any]) -> str:
    """A list in words; three and more numbers in a row are a range.

    >>> ranges([1, 2, 3, 7, 9, 10]), ranges(["master", "1", "2", "3"]), ranges([2])
    ('1-3, 7, 9, 10', 'master, 1-3', '2')
    """
    words: list[str] = []
    run: list[str] = []
    for item in (*map(str, items), ""):
        if run and not (run[-1].isdecimal() and item.isdecimal() and int(item) == int(run[-1]) + 1):
            words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else run
            run = []
        run.append(item)
    return ", ".join(words)


def ids_text(items: Iterable[Any]) -> str:
    """A list for a message: ranges of numbers, and of a long list the beginning and the number of the others.

    >>> ids_text(range(2701, 3001)), len(ids_text(range(0, 900, 2)))
    ('2701-3000', 118)
    """
    known = list(items)
    if len(whole := ranges(known)) <= _MESSAGE:
        return whole
    shown = next(
        number for number in range(len(known), 0, -1) if len(ranges(known[:number])) <= _MESSAGE - 14 or number == 1
    )
    return f"{ranges(known[:shown])} and {len(known) - shown} more"


def one_line(text: str) -> str:
    """`text` for a cell of a table or a bar: line breaks and tabs become spaces, the rest is as in `printable`.

    >>> one_line("a\\tb\\nc\\x1b[31m")
    'a b c\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    return printable(text.replace("\n", " ").replace("\t", " "))


def plain_lines(text: str) -> list[str]:
    """The lines of an output without colours, cursor movements, and text that a carriage return overwrites.

    >>> plain_lines("a\\x1b[31mred\\x1b[0m\\n10 %\\r20 %\\n\\x1b]0;title\\x07x")
    ['ared', '20 %', 'x']
    """
    plain = _ESCAPES.sub("", text).removesuffix("\n")
    lines = plain.split("\n") if plain else []
    return [_CONTROLS.sub(" ", line.rstrip("\r").rpartition("\r")[2]) for line in lines]


def plain_line(text: str) -> str:
    """The message of another program on one line.

    >>> plain_line("no such\\n\\tfile")
    'no such file'
    """
    return printable(" ".join(" ".join(plain_lines(text)).split()))


def terminal_safe(text: str) -> str:
    """Escape everything in the output of a command that a terminal may obey, except line breaks, tabs and colours.

    Colours are reset at the end.

    >>> terminal_safe("\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07\\r\\n")
    '\\x1b[31mred\\x1b[0m\\\\x1b]0;title\\\\x07\\n\\x1b[0m'
    """
    if text.isprintable():
        return text
    coloured = re.search(_COLOUR, text) is not None
    return _PIECE.sub(_safe_piece, text) + ("\x1b[0m" if coloured else "")


def _safe_piece(match: re.Match[str]) -> str:
    if (piece := match[0]) == "\r\n":
        return "\n"
    return piece if len(piece) > 1 else printable(piece, keep="\n\t")


def _escaped(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) not in _OBEYED:
        return character
    return character.encode("unicode_escape").decode("ascii")

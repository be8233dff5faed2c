"""Texts of others on the screen of a user, in a command's output or the UI: nothing in them that a terminal obeys.

The names of tasks and what commands print come from documents and machines that the user may not know. A terminal
obeys escape sequences, wherever they come from: they move its cursor, rename its window, or answer for its user.
"""

from __future__ import annotations

import re
import unicodedata

_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""The categories of characters that are commands, invisible, or break lines where nobody sees why."""

_COLOUR = r"\x1b\[[0-9;:]*m"
_PIECE = re.compile(rf"{_COLOUR}|\r\n|.", re.DOTALL)


def printable(text: str, keep: str = "") -> str:
    """`text` with every character that a terminal may obey as its escape; those in `keep` stay.

    >>> print(printable("a\\x1b[2Jb\\nc"), printable("ü ✓"), printable("a\\tb", keep="\\t") == "a\\tb")
    a\\x1b[2Jb\\nc ü ✓ True
    """
    if text.isprintable():
        return text
    return "".join(_shown(one) if one not in keep else one for one in text)


def one_line(text: str) -> str:
    """`text` as a cell of a table or a part of a bar shows it: what breaks lines is a blank, as are tabs, and what a
    terminal may obey is its escape.

    >>> one_line("a\\tb\\nc\\x1b[31m")
    'a b c\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    return printable(text.replace("\n", " ").replace("\t", " "))


def tame(text: str) -> str:
    """The output of a command for a terminal: lines, tabs and colours as they are, everything else escaped; colours
    end with it.

    >>> tame("\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07\\r\\n")
    '\\x1b[31mred\\x1b[0m\\\\x1b]0;title\\\\x07\\n\\x1b[0m'
    """
    if text.isprintable():
        return text
    coloured = re.search(_COLOUR, text) is not None
    return _PIECE.sub(_tamed, text) + ("\x1b[0m" if coloured else "")


def _tamed(match: re.Match[str]) -> str:
    piece = match[0]
    if piece == "\r\n":
        return "\n"
    return piece if len(piece) > 1 else printable(piece, keep="\n\t")


def _shown(one: str) -> str:
    if one.isprintable() or unicodedata.category(one) not in _OBEYED:
        return one
    return one.encode("unicode_escape").decode("ascii")

"""Match the patterns of expressions in time linear in the length of the text, where that means what `re` means."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from fuelclient.graph.match import Regex

_LONGEST = 1000
"""Longer patterns are read only where memory is limited. Those of releases and plugins have some 30 characters."""


def linear(pattern: str, text: str, flags: int = 0) -> Any:
    """RE2's matcher of a pattern for a text; None if it has none, or if signs of the pattern mean something else to it
    there. Whether it is a pattern at all, Python's `re` decides."""
    if len(pattern) > _LONGEST:
        return None
    beyond_ascii = ("\\b" in pattern or "\\B" in pattern or flags & re.IGNORECASE) and not text.isascii()
    is_empty = not text and "\\B" in pattern  # Python finds no such place before 3.14
    regex = None if beyond_ascii or is_empty or (text.endswith("\n") and "$" in pattern) else _regex(pattern, flags)
    return regex and regex.for_text(text)


@functools.lru_cache(maxsize=128)
def _regex(pattern: str, flags: int) -> Regex | None:
    try:
        return Regex(pattern, flags)
    except Exception:  # RE2 cannot express it, or it is none
        return None


class Pattern:
    """A compiled pattern of `re`, whose matches RE2 finds if it can. Their ends and groups are always Python's.

    So what takes Python unlimited time is left out: to find that there is no match at a place. Where the two may
    differ, as about empty matches, Python finds all that follow. It is also faster for patterns without repeats.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._python, self._flags = re.compile(pattern, flags), flags
        self._repeats = any(sign in pattern for sign in "*+?{")

    def __repr__(self) -> str:
        return repr(self._python)

    @property  # type: ignore[misc]  # for the library's tests of types
    def __class__(self) -> type:
        return re.Pattern

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        regex, at = self._repeats and linear(self._python.pattern, text, self._flags), 0
        founds: Iterable[Any] = regex.finditer(text) if regex else (None,)
        for found in founds:
            match = self._python.match(text, found.start()) if found else None
            if not match or not match[0] or match.end() != found.end():
                yield from self._python.finditer(text, at)
                return
            yield match
            at = match.end()

    def search(self, text: str) -> re.Match[str] | None:
        return next(self.finditer(text), None)

    def split(self, text: str, most: int = 0) -> list[str | Any]:
        return self._around(text, most, re.Match.groups)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, most: int = 0) -> str:
        if callable(new):
            return "".join(self._around(text, most, lambda match: (new(match),)))
        self._python.sub(new, "")  # an error in it is one without a match, too
        has_groups = "\\" in new
        return "".join(self._around(text, most, lambda match: (match.expand(new) if has_groups else new,)))

    def _around(self, text: str, most: int, put: Callable[[re.Match[str]], Any]) -> list[str | Any]:
        """The parts of a text around its matches, of which at most `most` count (all if it is 0, none if it is less),
        and what is put in place of each."""
        parts: list[str | Any] = []
        at = 0
        for match in islice(self.finditer(text), max(0, most) if most else None):
            parts += text[at : match.start()], *put(match)
            at = match.end()
        return [*parts, text[at:]]

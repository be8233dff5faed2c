"""Match the names and patterns by which tasks, roles and tags are referred to.

A word between slashes is a regular expression that has to match the beginning of a name, because Nailgun uses
`re.match`. Any other word is the name itself. Patterns are matched in linear time; see `patterns`.
"""

from __future__ import annotations

import functools
import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import accumulate

from fuelclient.graph.patterns import Regex, anchored, encoded

_SIMPLE = re.compile(r"\^?([\w-]*)(\.\*|\$)?", re.ASCII)
"""Most of Fuel's patterns: they say what a name is or how it begins, and need no matcher."""
_LETTERS = re.compile(r"\^?([\w-]*)", re.ASCII)
_FEW = 16
"""Up to this many names are matched one by one."""
_LAST = "\U0010ffff"


def is_pattern(word: str) -> bool:
    """Return whether `word` is a regular expression. A lone slash is one, and matches everything."""
    return word.startswith("/") and word.endswith("/")


@functools.lru_cache(maxsize=4096)
def _parts(word: str) -> tuple[tuple[Regex, bool], ...]:
    return anchored(word[1:-1])


@functools.lru_cache(maxsize=4096)
def matcher(word: str) -> Callable[[str], bool]:
    """Return a predicate on names.

    Raise `re.error` if the pattern is not a regular expression, or cannot be matched in linear time.

    >>> matcher("/db/")("db2"), matcher("/db/")("primary-db"), matcher("db")("db2")
    (True, False, False)
    """
    if not is_pattern(word):
        return word.__eq__
    if simple := _SIMPLE.fullmatch(word, 1, max(1, len(word) - 1)):
        start = simple[1]
        return (start, start + "\n").__contains__ if simple[2] == "$" else lambda name: name.startswith(start)
    parts = _parts(word)
    return lambda name: all(regex.matches(name) is wanted for regex, wanted in parts)


def matches(word: str, name: str) -> bool:
    """Return whether `word`, a name or a pattern, matches `name`. Raise what `matcher` does."""
    return matcher(word)(name)


@functools.lru_cache(maxsize=65536)
def pattern_error(word: str) -> str:
    """Return what is wrong with `word` as a regular expression; an empty string for a good one or a plain name."""
    try:
        matcher(word)
    except re.error as error:
        return str(error)
    return ""


def is_beyond_us(word: str) -> bool:
    """Return whether Python could match `word` but we do not: a pattern that could take unlimited time, or a huge one.

    An upload refuses it, but a master, or an older engine file, may have it.
    """
    if not pattern_error(word):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(word[1:-1])
    except (re.error, OverflowError, RecursionError):
        return False
    return True


class Names(Collection[str]):
    """Names among which many words are searched, in their order, without duplicates.

    A pattern is matched with those names only that begin with its letters, and with all of these at once.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._ranks = {name: rank for rank, name in enumerate(dict.fromkeys(names))}
        self._names = sorted(self._ranks)
        self._odd = [name for name in self._names if "\n" in name]

    def __contains__(self, name: object) -> bool:
        return name in self._ranks

    def __iter__(self) -> Iterator[str]:
        return iter(self._ranks)

    def __len__(self) -> int:
        return len(self._ranks)

    def matching(self, word: str) -> tuple[str, ...]:
        """Return the names that `word` matches, in their order. Raise what `matcher` does.

        >>> Names(["db", "primary-db", "db2"]).matching("/db/")
        ('db', 'db2')
        """
        if not is_pattern(word):
            return (word,) if word in self._ranks else ()
        letters = beginning(word)
        first = bisect_left(self._names, letters)
        last = bisect_left(self._names, letters + _LAST, first)
        if last - first <= _FEW or self._odd or _SIMPLE.fullmatch(word, 1, max(1, len(word) - 1)):
            return self._in_order(filter(matcher(word), self._names[first:last]))
        names = set(self._names[first:last])
        for regex, wanted in _parts(word):
            scanned = self._scanned(regex, first, last)
            names = names.intersection(scanned) if wanted else names.difference(scanned)
        return self._in_order(names)

    def _in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=self._ranks.__getitem__))

    def _scanned(self, regex: Regex, first: int, last: int) -> Iterator[str]:
        text, starts = self._lines
        form = regex.form("" if text.isascii() else "\x80", lines=True)
        for match in form.finditer(text, starts[first], starts[last] - 1):
            yield self._names[bisect_left(starts, match.start())]

    @functools.cached_property
    def _lines(self) -> tuple[bytes, list[int]]:
        """Return the names as lines of one text, and where each begins; the last number is the end."""
        lines = [encoded(name) + b"\n" for name in self._names]
        return b"".join(lines), [0, *accumulate(map(len, lines))]


def beginning(word: str) -> str:
    """Return letters with which every name begins that the pattern `word` matches.

    >>> beginning("/^primary-.*/"), beginning("/dbs?/"), beginning("/a|b/")
    ('primary-', 'db', '')
    """
    match = _LETTERS.match(word, 1) if "|" not in word else None
    if not match:
        return ""
    return match[1][:-1] if word.startswith(("?", "*", "{"), match.end()) else match[1]

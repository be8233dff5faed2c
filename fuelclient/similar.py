"""Find the name that a wrong word was probably meant to be, for messages."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from functools import cached_property

_ALIKE = 0.6
_LONGEST = 200
"""Longer words and names are not compared; that takes as long as the product of their lengths."""
_COMPARED = 40
"""So many names are compared letter by letter: those that share the most letters with the word."""
_WORDS = 200
"""The most words of one check for which a similar name is searched: a graph can have thousands of unknown names."""
_KINDS, _TIMES = 128, 8


def normal(name: str) -> str:
    """A name in the form in which names are compared: letters and their accents can be written in two ways.

    >>> normal("cafe\u0301") == "caf\u00e9"
    True
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


class Similar:
    """Names that are prepared when the nearest one to a wrong word is first searched: most graphs need none."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = set(names)
        self._answers: dict[str, str] = {}

    @cached_property
    def _names(self) -> list[tuple[str, int, tuple[int, int]]]:
        return [(name, len(name), _letters(name)) for name in sorted(self._known) if len(name) <= _LONGEST]

    def nearest(self, word: str) -> str:
        """The name that `word` was probably meant to be, or an empty string; always that after `_WORDS` words.

        >>> Similar(["controller", "compute"]).nearest("controler"), Similar(["yaql_exp"]).nearest("YAQL_EXP")
        ('controller', 'yaql_exp')
        """
        if word not in self._answers:
            if len(self._answers) >= _WORDS or len(word) > _LONGEST:
                return ""
            small = word.lower()
            self._answers[word] = self._search(word) or (self._search(small) if small != word else "")
        return self._answers[word]

    def _search(self, word: str) -> str:
        (letters, further), length = _letters(word), len(word)
        candidates = []
        for name, size, (own, rest) in self._names:
            most = 2 * ((letters & own).bit_count() + min(further, rest)) / (length + size or 1)
            if most >= _ALIKE:
                candidates.append((most, name))
        candidates.sort(reverse=True)
        best, nearest = _ALIKE, ""
        matcher = difflib.SequenceMatcher(b=word)
        for most, name in candidates[:_COMPARED]:
            if most < best:
                break
            matcher.set_seq1(name)
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and name > nearest):
                best, nearest = ratio, name
        return nearest


def _letters(word: str) -> tuple[int, int]:
    """The letters of a word as bits, one for each time that a letter occurs, and how many are left out.

    So two words are compared in one step, and seem at least as alike as they are.
    """
    bits, further, times = 0, 0, dict[int, int]()
    for character in word:
        kind = ord(character) % _KINDS
        count = times.get(kind, 0)
        times[kind] = count + 1
        if count < _TIMES:
            bits |= 1 << kind * _TIMES + count
        else:
            further += 1
    return bits, further

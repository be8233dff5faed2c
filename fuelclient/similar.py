"""Find the name, or the word of a command line, that a misspelt word was probably meant to be, for messages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cached_property

_MIN_RATIO = 0.6
SIMILAR, VERY_SIMILAR = 0.7, 0.8
"""The similarity from which on a word of a command line is suggested: for the same first letter, and for a different
one."""
_MAX_LENGTH = 200
"""Longer words and names are not compared; the time is proportional to the product of their lengths."""
_MAX_COMPARED = 40
"""How many names are compared letter by letter: those that share the most letters with the word."""
_MAX_WORDS = 200
"""How many words of one check are searched for a similar name: a graph can have thousands of unknown names."""
_LETTER_CLASSES, _MAX_REPEATS = 128, 8
"""The sizes of the bit set of a word, see `_letters`."""


def normal(name: str) -> str:
    """Normalize a name for comparisons: Unicode has two ways to write a letter with an accent.

    >>> normal("cafe\u0301") == "caf\u00e9"
    True
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def is_id(word: str) -> bool:
    """Whether `word` is an id and not a name.

    >>> is_id("12"), is_id("node-12")
    (True, False)
    """
    return word.isascii() and word.isdigit()


class Similar:
    """Find the nearest of many names, which are prepared at the first search: most graphs need none."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = set(names)
        self._answers: dict[str, str] = {}

    @cached_property
    def _names(self) -> dict[tuple[int, int, int], list[str]]:
        """The names by what bounds their similarity: their length and `_letters`. Names with numbers share many."""
        alike: dict[tuple[int, int, int], list[str]] = {}
        for name in self._known:
            if len(name) <= _MAX_LENGTH:
                alike.setdefault((len(name), *_letters(name)), []).append(name)
        return alike

    def nearest(self, word: str) -> str:
        """The name that `word` was probably meant to be, or an empty string, as always after `_MAX_WORDS` words.

        >>> Similar(["controller", "compute"]).nearest("controler"), Similar(["yaql_exp"]).nearest("YAQL_EXP")
        ('controller', 'yaql_exp')
        """
        if word not in self._answers:
            if len(self._answers) >= _MAX_WORDS or len(word) > _MAX_LENGTH:
                return ""
            lowercase = word.lower()
            self._answers[word] = self._search(word) or (self._search(lowercase) if lowercase != word else "")
        return self._answers[word]

    def _search(self, word: str) -> str:
        from difflib import SequenceMatcher  # only a misspelt name needs it

        (letters, left_out), length = _letters(word), len(word)
        bounds: dict[float, list[str]] = {}
        for (size, own, others), names in self._names.items():
            bound = 2 * ((letters & own).bit_count() + min(left_out, others)) / (length + size or 1)
            bounds.setdefault(bound, []).extend(names)
        candidates: list[tuple[float, str]] = []
        for bound in sorted(filter(_MIN_RATIO.__le__, bounds), reverse=True):
            candidates += ((bound, name) for name in sorted(bounds[bound], reverse=True))
            if len(candidates) >= _MAX_COMPARED:
                break
        best, nearest = _MIN_RATIO, ""
        matcher = SequenceMatcher(b=word)
        for bound, name in candidates[:_MAX_COMPARED]:
            if bound < best:
                break
            matcher.set_seq1(name)
            if (ratio := matcher.ratio()) > best or (ratio == best and name > nearest):
                best, nearest = ratio, name
        return nearest


def close(word: str, known: Iterable[str]) -> str:
    """The one of the `known` words of a command line of which `word` is a slip, or an empty string. Unlike names, such
    words are short and many, so that the nearest one is often another word. Dashes in front do not count.

    >>> close("--asume", ["--assume", "--env"]), close("evn", ["env"]), close("deploy", ["demo"])
    ('--assume', 'env', '')
    >>> close("--role", ["--log-file"]), close("--type", ["--quote"]), close("--sequence", ["--insecure"])
    ('', '', '')
    """
    from difflib import SequenceMatcher  # only a misspelt word needs it

    bare = {name.lstrip("-"): name for name in known}
    typed = {"--url": "server"}.get(word, word.lstrip("-"))  # as other programs call it
    near = "" if is_id(typed) else Similar(bare).nearest(typed)
    needed = SIMILAR if near[:1] == typed[:1] else VERY_SIMILAR
    is_slip = sorted(near) == sorted(typed) or SequenceMatcher(None, typed, near).ratio() >= needed
    return bare[near] if near and is_slip else ""


def _letters(word: str) -> tuple[int, int]:
    """The letters of a word as bits, one for each occurrence of a letter, and how many letters are left out.

    This compares two words in one step; the result is an upper bound of their similarity.
    """
    bits, left_out, times = 0, 0, dict[int, int]()
    for character in word:
        letter_class = ord(character) % _LETTER_CLASSES
        count = times.get(letter_class, 0)
        times[letter_class] = count + 1
        if count < _MAX_REPEATS:
            bits |= 1 << letter_class * _MAX_REPEATS + count
        else:
            left_out += 1
    return bits, left_out

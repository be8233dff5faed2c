"""Match the names and patterns by which tasks, roles and tags are referred to.

A word between slashes is a regular expression that has to match the beginning of a name, because Nailgun uses
`re.match`. Any other word is the name itself.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterable


def is_pattern(word: str) -> bool:
    """Return whether `word` is a regular expression. A lone slash is one, and matches everything."""
    return word.startswith("/") and word.endswith("/")


@functools.lru_cache(maxsize=4096)
def matcher(word: str) -> Callable[[str], bool]:
    """Return a predicate on names. Raise `re.error` if the pattern is not a regular expression.

    >>> matcher("/db/")("db2"), matcher("/db/")("primary-db"), matcher("db")("db2")
    (True, False, False)
    """
    if not is_pattern(word):
        return word.__eq__
    try:
        with warnings.catch_warnings():  # Python warns about sets such as [[a], whose meaning has not changed
            warnings.simplefilter("ignore", FutureWarning)
            match = re.compile(word[1:-1]).match
    except (OverflowError, RecursionError) as error:  # /a{99999999999}/ and the like
        raise re.error(str(error)) from error
    return lambda name: match(name) is not None


def matches(word: str, name: str) -> bool:
    """Return whether `word`, a name or a pattern, matches `name`. Raise what `matcher` does."""
    return matcher(word)(name)


def matching(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that `word` matches, in their order. Raise what `matcher` does."""
    return tuple(filter(matcher(word), names))


def pattern_error(word: str) -> str:
    """Return what is wrong with `word` as a regular expression; an empty string for a good one or a plain name."""
    try:
        matcher(word)
    except re.error as error:
        return str(error)
    return ""

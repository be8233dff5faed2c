"""Names and patterns: how tasks, roles and tags are referred to.

A word between slashes is a regular expression that must match the beginning of a name (Nailgun uses
`re.match`), anything else is the name itself.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterable


def is_pattern(word: str) -> bool:
    """Whether `word` is a regular expression; a lone slash is one, and matches everything."""
    return word.startswith("/") and word.endswith("/")


@functools.lru_cache(maxsize=4096)
def matcher(word: str) -> Callable[[str], bool]:
    """A predicate on names. Raises `re.error` for a pattern that is no regular expression.

    >>> matcher("/db/")("db2"), matcher("/db/")("primary-db"), matcher("db")("db2")
    (True, False, False)
    """
    if not is_pattern(word):
        return word.__eq__
    try:
        with warnings.catch_warnings():  # Python warns about sets such as [[a], which mean what they always meant
            warnings.simplefilter("ignore", FutureWarning)
            match = re.compile(word[1:-1]).match
    except (OverflowError, RecursionError) as error:  # /a{99999999999}/ and the like
        raise re.error(str(error)) from error
    return lambda name: match(name) is not None


def matches(word: str, name: str) -> bool:
    """Whether `word`, a name or a pattern, means `name`. Raises `re.error` like `matcher`."""
    return matcher(word)(name)


def matching(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that `word` means, in their order. Raises `re.error` like `matcher`."""
    return tuple(filter(matcher(word), names))


def pattern_error(word: str) -> str:
    """What is wrong with `word` as a regular expression; an empty string for a good one, and for a plain name."""
    try:
        matcher(word)
    except re.error as error:
        return str(error)
    return ""

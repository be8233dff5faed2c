"""YAQL's functions for regular expressions, in linear time. Importing this imports the library.

A pattern that cannot be matched so, or not with Python's meaning on that text, raises `Uncounted`: Python matches it
where the work has a limit (see `child_process`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from yaql.standard_library import regex as library  # type: ignore[import-untyped]

from fuelclient.expressions.budget import TooLarge, Uncounted, is_apart, spend, spend_text
from fuelclient.graph.match import Regex, Unbounded

_LONGEST = 10_000
_FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII)
_SCANNED = 80
"""Looking through so many characters counts as one element."""


def _compiled(pattern: str, ignore_case: bool = False, multi_line: bool = False, dot_all: bool = False) -> Any:
    if len(pattern) > _LONGEST:
        raise TooLarge(f"a regular expression has more than {_LONGEST} characters")
    return library.regex(pattern, ignore_case, multi_line, dot_all)


@functools.lru_cache(maxsize=256)
def _linear(pattern: str, flags: int) -> Regex | None:
    try:
        return Regex(pattern, flags)
    except Unbounded:
        return None


def _matcher(stated: Any, text: str) -> Any:
    """What matches `text` by a text or a compiled expression: RE2, or Python where the work has a limit."""
    regexp = _compiled(stated) if isinstance(stated, str) else stated
    linear = _linear(regexp.pattern, regexp.flags & _FLAGS)
    ends_otherwise = text.endswith("\n") and "$" in regexp.pattern
    words_otherwise = not text.isascii() and re.search(r"\\[bB]", regexp.pattern)
    if linear is None or ends_otherwise or words_otherwise:
        if not is_apart():
            raise Uncounted
        return regexp
    return linear.for_text(text)


def _searched(stated: Any, text: str) -> Any:
    spend(len(text) // _SCANNED)
    return _matcher(stated, text).search(text)


def _matches(string: str, regexp: Any) -> bool:
    return _searched(regexp, string) is not None


def _all(stated: Any, text: str) -> Iterator[Any]:
    """Yield the matches in `text`, counting what is looked through for each."""
    matches = _matcher(stated, text).finditer(text)
    while True:
        spend(1 + len(text) // _SCANNED)
        match = next(matches, None)
        if match is None:
            return
        yield match


def _search(context: Any, regexp: Any, string: str, selector: Any = None) -> Any:
    match = _searched(regexp, string)
    if match is None or selector is None:
        return match and match.group()
    return selector(_published(context, match))


def _search_all(context: Any, regexp: Any, string: str, selector: Any = None) -> Iterator[Any]:
    for match in _all(regexp, string):
        yield match.group() if selector is None else selector(_published(context, match))


def _published(context: Any, match: Any) -> Any:
    """A context in which a match and its groups are `$1`, `$2` and so on, and by name."""
    child = context.create_child_context()
    numbers = {str(number + 1): number for number in range(len(match.groups()) + 1)}
    for name, number in {**numbers, **match.re.groupindex}.items():
        child[f"${name}"] = {"value": match.group(number), "start": match.start(number), "end": match.end(number)}
    return child


def _split(regexp: Any, string: str, max_split: int = 0) -> list[str | None]:
    pieces: list[str | None] = []
    end = 0
    for count, match in enumerate(_all(regexp, string), start=1):
        pieces += [string[end : match.start()], *match.groups()]
        end = match.end()
        if count == max_split:
            break
    return [*pieces, string[end:]] if max_split >= 0 else [string]


def _replaced(regexp: Any, string: str, text_of: Callable[[Any], str], count: int) -> str:
    pieces: list[str] = []
    end = length = 0
    for number, match in enumerate(_all(regexp, string), start=1):
        pieces += [string[end : match.start()], text_of(match)]
        length += len(pieces[-2]) + len(pieces[-1])
        spend_text(length + len(string) - end)
        end = match.end()
        if number == count:
            break
    return "".join((*pieces, string[end:]))


def _replace(regexp: Any, string: str, repl: str, count: int = 0) -> str:
    if "\\" not in repl:
        return _replaced(regexp, string, lambda _: repl, count)
    return _replaced(regexp, string, lambda match: str(match.expand(repl)), count)


def _replace_by(context: Any, regexp: Any, string: str, repl: Any, count: int = 0) -> str:
    return _replaced(regexp, string, lambda match: str(repl(_published(context, match))), count)


INSTEAD: Mapping[str, Callable[..., Any]] = {
    "regex.regex": _compiled,
    "regex.matches": lambda regexp, string: _matches(string, regexp),
    "regex.matches_": _matches,
    "regex.matches_operator_regex": _matches,
    "regex.matches_operator_string": _matches,
    "regex.not_matches_operator_regex": lambda string, regexp: not _matches(string, regexp),
    "regex.not_matches_operator_string": lambda string, pattern: not _matches(string, pattern),
    "regex.search": _search,
    "regex.search_all": _search_all,
    "regex.split": _split,
    "regex.split_string": lambda string, regexp, max_split=0: _split(regexp, string, max_split),
    "regex.replace": _replace,
    "regex.replace_string": lambda string, regexp, repl, count=0: _replace(regexp, string, repl, count),
    "regex.replace_by": _replace_by,
    "regex.replace_by_string": lambda context, string, regexp, repl, count=0: _replace_by(
        context, regexp, string, repl, count
    ),
}
"""The functions by their key in `library`, with the parameters of the library's own."""

"""Match the names and patterns that refer to tasks, roles and tags, in time linear in the length of the text.

A word between slashes is a regular expression that has to match the beginning of a name, because Nailgun uses
`re.match`. Any other word is the name itself.

Python's own matcher backtracks: it needs hours to match `(a+)+$` on thirty letters. Patterns come from uploads,
plugins and masters, so RE2 matches them here. Python parses them first, so that they keep the meaning they have in
`re`. What RE2 cannot express is refused: references to groups, possessive repeats, and look-aheads except at the
beginning of a pattern.

Two differences remain: for `\\b` only ASCII letters are letters, and `$` does not match before a newline that ends the
text.
"""

from __future__ import annotations

import contextlib
import functools
import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from re import _constants as op
from re import _parser as parser
from typing import Any

_REFUSED = {
    op.ASSERT: "a look-ahead or look-behind",
    op.ASSERT_NOT: "a look-ahead or look-behind",
    op.GROUPREF: "a reference to a group",
    op.GROUPREF_EXISTS: "a reference to a group",
    op.ATOMIC_GROUP: "an atomic group",
    op.POSSESSIVE_REPEAT: "a possessive repeat",
}
_SAME_IN_RE2 = re.compile(r"(?:[\w.^$*+?|)-]|\((?!\?)|\(\?:|\\[.dw-]|\[[\w.-]+\])*", re.ASCII)
"""Patterns that Python and RE2 understand alike if the text is ASCII, as most are."""
_REPEATS = {(0, op.MAXREPEAT): "*", (1, op.MAXREPEAT): "+", (0, 1): "?"}
_CATEGORIES: Mapping[Any, tuple[Callable[[str], bool], bool]] = {
    op.CATEGORY_DIGIT: (str.isdecimal, True),
    op.CATEGORY_NOT_DIGIT: (str.isdecimal, False),
    op.CATEGORY_WORD: (lambda character: character.isalnum() or character == "_", True),
    op.CATEGORY_NOT_WORD: (lambda character: character.isalnum() or character == "_", False),
    op.CATEGORY_SPACE: (str.isspace, True),
    op.CATEGORY_NOT_SPACE: (str.isspace, False),
}
"""A test for each of Python's character classes, and the result that it has for members of the class."""
_ASCII, _CHARACTERS, _NEWLINE = 0x80, 0x110000, 10
_IGNORECASE = int(re.IGNORECASE)
_NEVER = r"[^\x00-\x{10ffff}]"
_MAX_DEPTH = 32
"""Groups in one another. Python allows a thousand calls in one another, and writing a group takes up to ten."""
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^]\\])*|([()])", re.DOTALL)
"""The brackets of groups. A set that is not closed goes to the end, so that each character is looked at once."""
Ranges = tuple[tuple[int, int], ...]


class Unbounded(re.error):
    """A regular expression can be matched by Python, but not in linear time."""

    def __init__(self, what: str) -> None:
        super().__init__(f"it has {what}, and matching that can take unlimited time")


class Regex:
    """A regular expression that is matched in linear time, anywhere in a text.

    Raise `re.error` for a pattern that Python cannot read or that is too large, and `Unbounded` for one that RE2 cannot
    express. `flags` are those of `re`.
    """

    __slots__ = ("_forms", "_items", "_source", "_state")

    def __init__(self, pattern: str, flags: int = 0, *, tree: Any = None) -> None:
        self._source, self._forms = (pattern, flags), dict[tuple[bool | None, bool], Any]()
        self._items: Any = tree[0] if tree else None
        self._state: Any = tree[1] if tree else None
        if tree is None and not flags and pattern.count("(") < _MAX_DEPTH and _SAME_IN_RE2.fullmatch(pattern):
            with contextlib.suppress(re.error):  # Python parses it again below, for its own message
                self._forms[True, True] = _compiled(f"(?m)^(?:{pattern})".encode())
        self.form("", lines=True)

    def form(self, text: str, *, lines: bool = False) -> Any:
        """The compiled RE2 pattern for bytes in UTF-8.

        If `text` is ASCII, it is for ASCII texts only, and needs no tables of all characters. With `lines`, it matches
        only at the beginning of a line and never beyond its end, so that many names are searched at once.
        """
        kind = (lines, text.isascii())
        if kind not in self._forms:
            written = self._written(lines=lines, narrow=kind[1])
            self._forms[kind] = _compiled((f"(?m:^)(?:{written})" if lines else written).encode())
        return self._forms[kind]

    def for_text(self, text: str) -> Any:
        """The compiled RE2 pattern for strings; only for ASCII if `text` is. Its methods are those of `re.Pattern`."""
        kind = (None, text.isascii())
        if kind not in self._forms:
            self._forms[kind] = _compiled(self._written(lines=False, narrow=kind[1]))
        return self._forms[kind]

    def _written(self, *, lines: bool, narrow: bool) -> str:
        if self._state is None:
            self._items = parsed(*self._source)
            self._state = self._items.state
        names = {number: name for name, number in self._state.groupdict.items()}
        try:
            return _Writer(names, lines=lines, narrow=narrow).sequence(self._items, int(self._state.flags))
        except RecursionError as error:  # brackets in the comments of a pattern can hide others
            raise re.error("it is nested too deeply") from error

    def matches(self, name: str) -> bool:
        """Whether the beginning of `name` matches, as `re.match` does."""
        return self.form(name, lines="\n" not in name).match(encoded(name)) is not None


def anchored(pattern: str) -> tuple[tuple[Regex, bool], ...]:
    """Split a pattern into expressions that the beginning of a name must match, or must not match (False).

    This allows a look-ahead such as `(?!primary)` at the beginning. Raise what `Regex` raises.
    """
    if "(?" not in pattern:
        return ((Regex(pattern), True),)
    tree = parsed(pattern, 0)
    parts, items = [], list(tree)
    while items:
        code, value = items[0]
        if code in (op.ASSERT, op.ASSERT_NOT) and value[0] == 1:
            parts.append((Regex(pattern, tree=(list(value[1]), tree.state)), code is op.ASSERT))
        elif code is not op.AT or value not in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            break
        del items[0]
    return ((Regex(pattern, tree=(items, tree.state)), True), *parts)


def encoded(text: str) -> bytes:
    """Encode `text` for RE2. Surrogates, which no file contains, are encoded like other characters."""
    return text.encode("utf-8", "surrogatepass")


def _is_too_deep(pattern: str) -> bool:
    if pattern.count("(") <= _MAX_DEPTH:
        return False
    levels = accumulate((sign == "(") - (sign == ")") for sign in _BRACKETS.findall(pattern))
    return any(level > _MAX_DEPTH for level in levels)


def parsed(pattern: str, flags: int) -> Any:
    if _is_too_deep(pattern):
        raise re.error(f"it has groups that are nested more than {_MAX_DEPTH} deep")
    try:
        with warnings.catch_warnings():  # Python warns about sets such as [[a], whose meaning has not changed
            warnings.simplefilter("ignore", FutureWarning)
            return parser.parse(pattern, flags)
    except (OverflowError, RecursionError) as error:  # a{99999999999} and the like
        raise re.error(str(error)) from error


def _compiled(written: str | bytes) -> Any:
    import re2  # the import takes 10 ms, and most commands match no pattern

    try:
        return re2.compile(written, _options())
    except re2.error:
        raise re.error("it is too large, or nested too deeply") from None


@functools.cache
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    return options


class _Writer:
    """Writes a parsed pattern in RE2's syntax. `lines` is as in `Regex.form`; `narrow` limits it to ASCII texts."""

    def __init__(self, names: Mapping[int, str], *, lines: bool, narrow: bool) -> None:
        self._names, self._lines, self._narrow = names, lines, narrow

    def sequence(self, items: Iterable[Any], flags: int) -> str:
        return "".join([self._item(code, value, flags) for code, value in items])

    def _item(self, code: Any, value: Any, flags: int) -> str:
        if code is op.LITERAL or code is op.NOT_LITERAL or code is op.IN or code is op.ANY:
            written = self._characters(code, value, flags)
            return f"(?i:{written})" if flags & _IGNORECASE else written
        if code is op.MAX_REPEAT or code is op.MIN_REPEAT:
            least, most, inner = value
            bounds = f"{{{least},{'' if most is op.MAXREPEAT else most}}}"
            times = _REPEATS.get((least, most), bounds) + ("?" if code is op.MIN_REPEAT else "")
            return f"(?:{self.sequence(inner, flags)}){times}"
        if code is op.SUBPATTERN:
            number, added, removed, inner = value
            return self._group(number, self.sequence(inner, (flags | added) & ~removed))
        if code is op.BRANCH:
            return f"(?:{'|'.join(self.sequence(branch, flags) for branch in value[1])})"
        if code is op.AT:
            return self._position(value, self._lines or bool(flags & re.MULTILINE))
        raise Unbounded(_REFUSED.get(code, str(code)))

    def _group(self, number: int | None, written: str) -> str:
        if number is None or self._lines:
            return f"(?:{written})"
        return f"(?P<{self._names[number]}>{written})" if number in self._names else f"({written})"

    def _position(self, where: Any, multiline: bool) -> str:
        if where is op.AT_BEGINNING or where is op.AT_BEGINNING_STRING:
            return "(?m:^)" if self._lines or (multiline and where is op.AT_BEGINNING) else r"\A"
        if where is op.AT_END or where is op.AT_END_STRING:
            return "(?m:$)" if self._lines or (multiline and where is op.AT_END) else r"\z"
        return r"\b" if where is op.AT_BOUNDARY else r"\B"

    def _characters(self, code: Any, value: Any, flags: int) -> str:
        if code is op.ANY:
            return "(?s:.)" if flags & re.DOTALL and not self._lines else r"[^\n]"
        if code is op.LITERAL:
            character = chr(value)
            return character if character.isalnum() and value < _ASCII else self._set(((value, value),))
        if code is op.NOT_LITERAL:
            return self._set(((value, value),), negated=True)
        negated = value[0][0] is op.NEGATE
        members = (self._member(kind, inner, flags) for kind, inner in value[negated:])
        return self._set(tuple(pair for ranges in members for pair in ranges), negated=negated)

    def _member(self, code: Any, value: Any, flags: int) -> Ranges:
        if code is op.CATEGORY:
            return _category(value, self._narrow, bool(flags & re.ASCII))
        return ((value, value),) if code is op.LITERAL else (value,)

    def _set(self, ranges: Ranges, *, negated: bool = False) -> str:
        if self._lines:
            ranges = (*ranges, (_NEWLINE, _NEWLINE)) if negated else _without_newline(ranges)
        if not ranges:
            return _NEVER
        written = "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ranges)
        return f"[{'^' if negated else ''}{written}]"


def _without_newline(ranges: Ranges) -> Ranges:
    parts = (((first, min(last, _NEWLINE - 1)), (max(first, _NEWLINE + 1), last)) for first, last in ranges)
    return tuple((start, end) for around in parts for start, end in around if start <= end)


@functools.cache
def _category(name: Any, narrow: bool, ascii_only: bool) -> Ranges:
    """The characters of a class as Python defines it. `ascii_only` is the flag (?a): only ASCII characters belong."""
    belongs, wanted = _CATEGORIES[name]
    members = (
        belongs(chr(code)) and not (ascii_only and (code >= _ASCII or 0x1C <= code < 0x20))
        for code in range(_ASCII if narrow else _CHARACTERS)
    )
    ranges: list[tuple[int, int]] = []
    for code, member in enumerate(members):
        if member is not wanted:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return tuple(ranges)


_SIMPLE = re.compile(r"\^?([\w-]*)(\.\*|\$)?", re.ASCII)
"""Patterns for one name or one prefix, as most of Fuel's are. They need no matcher."""
_PREFIX = re.compile(r"\^?([\w-]*)", re.ASCII)
_MAX_SINGLE = 16
"""Up to this many names are matched one by one."""
_LAST_CHARACTER = "\U0010ffff"


def is_pattern(word: str) -> bool:
    """Whether `word` is a regular expression. A lone slash is an empty one, which matches everything."""
    return word.startswith("/") and word.endswith("/")


@functools.lru_cache(maxsize=4096)
def _parts(word: str) -> tuple[tuple[Regex, bool], ...]:
    return anchored(word[1:-1])


@functools.lru_cache(maxsize=4096)
def matcher(word: str) -> Callable[[str], bool]:
    """A predicate on names.

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
    """Whether `word`, a name or a pattern, matches `name`. Raise what `matcher` does."""
    return matcher(word)(name)


@functools.lru_cache(maxsize=65536)
def pattern_error(word: str) -> str:
    """Why `word` cannot be matched as a regular expression; empty for a valid one and for a plain name."""
    try:
        matcher(word)
    except re.error as error:
        return str(error)
    return ""


def is_refused(word: str) -> bool:
    """Whether `word` is a pattern that Python accepts, but that could take unlimited time here or is too large; or one
    that is nested too deeply, whether Python accepts it or not.

    Uploads refuse it, but a master or an older engine file may have it.
    """
    if not pattern_error(word):
        return False
    if _is_too_deep(word[1:-1]):
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(word[1:-1])
    except (re.error, OverflowError, RecursionError):
        return False
    return True


class Names(Collection[str]):
    """An ordered set of names that can be searched by name or pattern.

    A pattern is matched only with the names that begin with its literal prefix, and with all of these at once.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._ranks = {name: rank for rank, name in enumerate(dict.fromkeys(names))}

    @functools.cached_property
    def _names(self) -> list[str]:
        return sorted(self._ranks)

    @functools.cached_property
    def _multiline(self) -> bool:
        return any("\n" in name for name in self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._ranks

    def __iter__(self) -> Iterator[str]:
        return iter(self._ranks)

    def __len__(self) -> int:
        return len(self._ranks)

    def matching(self, word: str) -> tuple[str, ...]:
        """The names that `word` matches, in their order. Raise what `matcher` does.

        >>> Names(["db", "primary-db", "db2"]).matching("/db/")
        ('db', 'db2')
        """
        if not is_pattern(word):
            return (word,) if word in self._ranks else ()
        prefix = beginning(word)
        first = bisect_left(self._names, prefix)
        last = bisect_left(self._names, prefix + _LAST_CHARACTER, first)
        if last - first <= _MAX_SINGLE or self._multiline or _SIMPLE.fullmatch(word, 1, max(1, len(word) - 1)):
            return self._sorted(filter(matcher(word), self._names[first:last]))
        names = set(self._names[first:last])
        for regex, wanted in _parts(word):
            found = self._scan(regex, first, last)
            names = names.intersection(found) if wanted else names.difference(found)
        return self._sorted(names)

    def _sorted(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=self._ranks.__getitem__))

    def _scan(self, regex: Regex, first: int, last: int) -> Iterator[str]:
        text, starts = self._lines
        form = regex.form("" if text.isascii() else "\x80", lines=True)
        for match in form.finditer(text, starts[first], starts[last] - 1):
            yield self._names[bisect_left(starts, match.start())]

    @functools.cached_property
    def _lines(self) -> tuple[bytes, list[int]]:
        """The names as lines of one text, and the offset of each line; the last offset is the end of the text."""
        lines = [encoded(name) + b"\n" for name in self._names]
        return b"".join(lines), [0, *accumulate(map(len, lines))]


def beginning(word: str) -> str:
    """The literal prefix of all names that the pattern `word` matches.

    >>> beginning("/^primary-.*/"), beginning("/dbs?/"), beginning("/a|b/")
    ('primary-', 'db', '')
    """
    match = _PREFIX.match(word, 1) if "|" not in word else None
    if not match:
        return ""
    return match[1][:-1] if word.startswith(("?", "*", "{"), match.end()) else match[1]

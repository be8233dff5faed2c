"""Count the work of one evaluation, and name what can go wrong in it.

Work is counted, not timed, so that a plan does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

MAX_ITEMS = 10_000
"""The most elements of a sequence that an expression may read. Source: Nailgun's settings."""

MAX_WORK = 1_000_000
"""The most work of one evaluation: 1 for an element of a sequence, `CALL` for a call. It takes about half a second.

A filter with ten calls for each of 10 000 elements takes a fifth of it.
"""

CALL = 2

MAX_BITS = 1024
"""The largest whole number has some 300 digits, as in the text of an expression."""

MAX_TEXT = 16 * 1024 * 1024
"""The longest text, in characters, that an expression may make."""

MAX_WRITTEN = 2_000_000
"""The most lines or entries that are written as one text before it is measured. They take some 130 MB; all common
facts of newton on 9900 nodes have half a million lines."""

_CHARACTERS = 20
"""So many characters of a new text count as one element, so that the work also bounds the memory: to some 240 MB, as a
character takes up to four bytes."""
_WRITTEN = 5
"""So many elements of a collection are written while a filter looks at one. The common facts of 9900 nodes have half a
million in 40 000 collections, and 16 million characters: together 95 percent of `MAX_WORK`."""
_COMPARED = 50
"""So many elements of nested values are compared while a filter looks at one."""
_LEAVES = frozenset({int, float, bool, type(None)})


class TooMuchWork(Exception):
    """An evaluation has exceeded `MAX_WORK`."""


class TooLarge(TooMuchWork):
    """A number or a text exceeds its limit, which the first argument names."""


class TooManyItems(Exception):
    """A sequence has more than `MAX_ITEMS` elements."""


class Uncompiled(Exception):
    """Only the library can evaluate an expression, in a process that has limits; see `child_process`."""


class Unfit(Exception):
    """A function does not fit its arguments, or does not exist. The argument is its name in the library's errors."""


class NoElement(Exception):
    """A sequence has no such element."""


class MissingKey(KeyError):
    """A mapping has no such key. `path` is how the expression names it."""

    def __init__(self, name: object, path: str = "") -> None:
        super().__init__(name)
        self.path = path or f"....{name}"


class Work:
    """What one evaluation has done so far."""

    __slots__ = ("_weights", "done")

    def __init__(self) -> None:
        self.done = 0
        self._weights: dict[int, tuple[Any, int]] = {}

    def spend(self, work: int) -> None:
        """Add to the work. Raise `TooMuchWork` if it exceeds the limit."""
        self.done += work
        if self.done > MAX_WORK:
            raise TooMuchWork

    def number(self, number: Any) -> Any:
        """Check the size of a new number. Raise `TooLarge`."""
        if type(number) is int and number.bit_length() > MAX_BITS:
            raise TooLarge(f"a number has more than {MAX_BITS} bits")
        return number

    def text(self, text: str) -> str:
        """Count a new text. Raise `TooLarge` or `TooMuchWork`."""
        if len(text) > MAX_TEXT:
            raise TooLarge(f"a text has more than {MAX_TEXT} characters")
        self.spend(len(text) // _CHARACTERS)
        return text

    def write(self, elements: int) -> None:
        """Count elements of a collection that are written as text, which counts by itself. Raise `TooMuchWork`."""
        self.spend(1 + elements // _WRITTEN)

    def limited(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the elements of a lazy sequence, counting them. Raise `TooManyItems` after the last that is allowed."""
        for count, item in enumerate(items):
            if count >= MAX_ITEMS:
                raise TooManyItems
            self.spend(1)
            yield item

    def weigh(self, value: Any) -> Any:
        """`value` after counting what it takes to compare, hash or print it with all that it contains.

        Values share their parts: forty nested pairs of one value are a trillion elements in some hundred bytes.
        """
        if type(value) not in _LEAVES:
            self.spend(len(value) // _CHARACTERS if type(value) is str else self.weight(value) // _COMPARED)
        return value

    def weight(self, value: Any) -> int:
        """The number of elements of a value, counting one that occurs twice twice. Each is visited once."""
        if type(value) in _LEAVES:
            return 1
        if isinstance(value, str):
            return 1 + len(value) // _CHARACTERS
        if (known := self._weights.get(id(value))) is not None:
            return known[1]
        self.spend(1)
        total = 1 + sum(map(self.weight, _parts(value)))
        self._weights[id(value)] = value, total  # with the value, so that its id remains its own
        return total


class Unlimited(Work):
    """Counts only the elements of lazy sequences, where the process has limits."""

    __slots__ = ()

    def spend(self, work: int) -> None:
        pass


def _parts(value: Any) -> Iterable[Any]:
    if (parts_of := getattr(value, "parts", None)) is not None:  # facts, which must not notice that they are read
        parts: Iterable[Any] = parts_of()
        return parts
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, frozenset):
        return frozenset.__iter__(value)  # in any order: sorting would read lazy elements
    return value if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray | range) else ()

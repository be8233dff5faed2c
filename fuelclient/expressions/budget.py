"""Limit the work of one evaluation. It is counted, not timed, so that a plan does not depend on the machine.

The library asks its options for limits after every call of a function and for every element of a sequence, and these
options count how often they are asked. `library` counts what one call can make large: texts, numbers, nested values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

MAX_ITEMS = 10_000
"""The most elements of a lazy sequence that an expression may ask for. Source: Nailgun's settings."""

MAX_WORK = 3_000_000
"""The work that one evaluation may take: 1 for an element of a sequence, `CALL` for a call of a function or operator.

A filter with ten calls for each of 10 000 elements takes a third of it. It takes about ten seconds.
"""

SHORT_WORK = 300_000
"""An evaluation that takes more, which is about a second, has to wait for its turn; see `take_turn`."""

AT_ONCE = 2
"""How many long evaluations a process does at a time, so that a server has threads for other requests."""

PATIENCE = 2.0
"""How many seconds an evaluation waits for its turn. Those of Fuel's releases and plugins take milliseconds."""

CALL = 10
"""A call takes as long as many elements, because the library searches for the overload that fits."""

MEMORY_QUOTA = 100 * 1024 * 1024

MAX_BITS = 1024
"""The largest whole number has some 300 digits, as in the text of an expression."""

MAX_TEXT = 16 * 1024 * 1024
"""The longest text, in characters, that an expression may make."""

_CHARACTERS = 20
"""So many characters of a new text count as one element, so that the work also bounds the memory: to some 240 MB, as a
character takes up to four bytes."""
_COMPARED = 50
"""So many elements of nested values are compared while a filter looks at one."""


class _Spent(threading.local):
    work = 0
    most = MAX_WORK
    has_turn = False
    weights: dict[int, tuple[Any, int]]


_spent = _Spent()
_turns = threading.BoundedSemaphore(AT_ONCE)


class TooMuchWork(Exception):
    """An evaluation has exceeded `MAX_WORK`."""


class Crowded(TooMuchWork):
    """Too many evaluations of this process take long at the moment."""


class TooLarge(TooMuchWork):
    """A number or a text exceeds its limit, which the first argument names."""


class Uncounted(Exception):
    """No count bounds a part of an expression, and this process has no other limit; see `child_process`."""


_apart = False


def set_apart() -> None:
    """State that this process evaluates expressions under limits of its own, so that uncounted work is allowed."""
    global _apart  # noqa: PLW0603 - it holds for the process, like its limits
    _apart = True


def is_apart() -> bool:
    """Whether uncounted work is allowed here."""
    return _apart


def begin() -> None:
    """Start counting for a new evaluation in this thread."""
    _spent.work, _spent.most = 0, min(SHORT_WORK, MAX_WORK)
    _spent.weights = {}


def spent() -> int:
    """The work of the current evaluation in this thread."""
    return _spent.work


def spend(work: int) -> None:
    """Add to the work of this thread's evaluation. Raise `TooMuchWork` if that exceeds the limit, or `Crowded`."""
    _spent.work = done = _spent.work + work
    if done > _spent.most:
        if done > MAX_WORK:
            raise TooMuchWork
        take_turn()
        _spent.has_turn, _spent.most = True, MAX_WORK


def take_turn() -> None:
    """Wait until the process may do one more long evaluation. Raise `Crowded` if that takes longer than `PATIENCE`."""
    if not _turns.acquire(timeout=PATIENCE):
        raise Crowded(f"{AT_ONCE} expressions that take long are being evaluated already")


def give_turn_back() -> None:
    """State that an evaluation that waited in `take_turn` has ended."""
    _turns.release()


def end() -> None:
    """End the evaluation of this thread, with the value as plain data: it may be computed lazily."""
    if _spent.has_turn:
        _spent.has_turn = False
        give_turn_back()


def spend_text(length: int) -> None:
    """Count a text of `length` characters that is about to be made. Raise `TooLarge` or `TooMuchWork`."""
    if length > MAX_TEXT:
        raise TooLarge(f"a text has more than {MAX_TEXT} characters")
    spend(length // _CHARACTERS)


def check_number(bits: int) -> None:
    """Raise `TooLarge` for a number that is about to be made with so many bits."""
    if bits > MAX_BITS:
        raise TooLarge(f"a number has more than {MAX_BITS} bits")


def weigh(value: Any) -> Any:
    """`value` after counting what it takes to compare, hash or print it with all that it contains.

    Values share their parts: forty nested pairs of one value are a trillion elements in some hundred bytes.
    """
    if type(value) in _LEAVES:
        return value
    if type(value) is str:
        spend(len(value) // _CHARACTERS)
    else:
        spend(_weight(value) // _COMPARED)
    return value


def weighed(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the elements of a sequence, each weighed when it is read."""
    return map(weigh, values)


_LEAVES = frozenset({int, float, bool, type(None)})


def _weight(value: Any) -> int:
    """The number of elements of a value, counting one that occurs twice twice. Each is visited once."""
    if type(value) in _LEAVES:
        return 1
    if isinstance(value, str):
        return 1 + len(value) // _CHARACTERS
    weights = _spent.weights
    known = weights.get(id(value))
    if known is not None:
        return known[1]
    parts = _parts(value)
    spend(1)
    total = 1 + sum(_weight(part) for part in parts)
    weights[id(value)] = value, total  # with the value, so that its id remains its own
    return total


def _parts(value: Any) -> Iterable[Any]:
    parts_of: Callable[[], Iterable[Any]] | None = getattr(value, "parts", None)
    if parts_of is not None:  # facts, which must not notice that they are read
        return parts_of()
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    return value if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray | range) else ()


class _Elements(int):
    """The limit of elements, which the library compares with 0 before each of them."""

    def __ge__(self, other: int) -> bool:
        spend(1)
        return int(self) >= other


class Counting(dict[str, Any]):
    """Options for the library that count how often they are read."""

    def __init__(self) -> None:
        super().__init__(
            {
                "yaql.limitIterators": _Elements(MAX_ITEMS),
                "yaql.memoryQuota": MEMORY_QUOTA,
                "yaql.convertInputData": False,
                "yaql.convertSetsToLists": True,
            }
        )

    def get(self, name: str, default: Any = None) -> Any:
        """An option; the library reads the memory quota after each call."""
        if name == "yaql.memoryQuota":
            spend(CALL)
        return super().get(name, default)

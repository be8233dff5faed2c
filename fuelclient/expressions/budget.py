"""Limit the work of one evaluation. It is counted, not timed, so that a plan does not depend on the machine.

The library asks its options for limits after every call of a function and for every element of a sequence, and these
options count how often they are asked.
"""

from __future__ import annotations

import threading
from typing import Any

from fuelclient.expressions.functions import MOST_ITEMS

MOST_WORK = 3_000_000
"""The work that one evaluation may take: 1 for an element of a sequence, `CALL` for a call of a function or operator.

A filter with ten calls for each of 10 000 elements takes a third of it. It takes about ten seconds.
"""

CALL = 10
"""A call takes as long as many elements, because the library searches for the overload that fits."""

MEMORY_QUOTA = 100 * 1024 * 1024

_spent = threading.local()


class TooMuchWork(Exception):
    """An evaluation has exceeded `MOST_WORK`."""


def begin() -> None:
    """Start counting for a new evaluation in this thread."""
    _spent.work = 0


def spent() -> int:
    """Return the work of the current evaluation in this thread."""
    return getattr(_spent, "work", 0)


def spend(work: int) -> None:
    """Add to the work of this thread's evaluation. Raise `TooMuchWork` if that exceeds the limit."""
    _spent.work = done = spent() + work
    if done > MOST_WORK:
        raise TooMuchWork


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
                "yaql.limitIterators": _Elements(MOST_ITEMS),
                "yaql.memoryQuota": MEMORY_QUOTA,
                "yaql.convertInputData": False,
                "yaql.convertSetsToLists": True,
            }
        )

    def get(self, name: str, default: Any = None) -> Any:
        """Return an option; the library reads the memory quota after each call."""
        if name == "yaql.memoryQuota":
            spend(CALL)
        return super().get(name, default)

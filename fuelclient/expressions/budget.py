"""The budget of an evaluation: how much work one expression may cause, counted and not timed.

Time differs from machine to machine, and two plans of one graph may not. The library asks its options for limits
whenever a function has been called and whenever a sequence gives an element: that is where it is counted.
"""

from __future__ import annotations

import threading
from typing import Any

from fuelclient.expressions.functions import MOST_ITEMS

MOST_WORK = 3_000_000
"""How much work one evaluation may take: an element of a sequence is 1, a call of a function or operator `CALL`.

A filter with ten calls for each of 10 000 elements is a third of it; it is used up in some ten seconds.
"""

CALL = 10
"""What a call costs; the library searches for the function that fits, which takes as long as many elements do."""

MEMORY_QUOTA = 100 * 1024 * 1024

_spent = threading.local()


class TooMuchWork(Exception):
    """An evaluation has used up `MOST_WORK`."""


def begin() -> None:
    """Nothing has been spent by the evaluation that begins."""
    _spent.work = 0


def spent() -> int:
    """What the evaluation that this thread began last has spent."""
    return getattr(_spent, "work", 0)


def spend(work: int) -> None:
    """The evaluation of this thread has done so much more. Raises `TooMuchWork`."""
    _spent.work = done = spent() + work
    if done > MOST_WORK:
        raise TooMuchWork


class _Elements(int):
    """The limit of elements. The library compares it with 0 before each of them."""

    def __ge__(self, other: int) -> bool:
        spend(1)
        return int(self) >= other


class Counting(dict[str, Any]):
    """Options of the library that count how often they are asked for."""

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
        """An option; its memory quota is asked for after each call."""
        if name == "yaql.memoryQuota":
            spend(CALL)
        return super().get(name, default)

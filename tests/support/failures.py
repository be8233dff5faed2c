"""Check many things of one kind in one test: a case of its own for each takes ten times as long as most such checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Value = TypeVar("Value")


def failures(values: Iterable[Value], check: Callable[[Value], object]) -> dict[str, str]:
    """Return the message of each failed assertion, by the value. Without any value, that is a failure, too."""
    found, checked = {}, 0
    for checked, value in enumerate(values, 1):  # noqa: B007 (counted)
        try:
            check(value)
        except AssertionError as error:
            found[str(value)] = str(error)
    return found if checked else {"": "there is nothing to check"}

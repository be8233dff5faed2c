"""Sets with one order, whatever the hash seed of the process."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from fuelclient.expressions.functions import in_order


class OrderedSet(frozenset[Any]):
    """A set that is read in the order in which `plain` writes it, as are the sets made from it.

    The process that begins a run and the one that executes it have different hash seeds, and must agree.
    """

    @functools.cached_property
    def _ordered(self) -> list[Any]:
        """The elements, sorted once. Sorting at each reading doubled the time of a set for each set around it."""
        return in_order(super().__iter__())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ordered)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}"

    def union(self, *others: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().union(*others))

    def intersection(self, *others: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().intersection(*others))

    def difference(self, *others: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().difference(*others))

    def symmetric_difference(self, other: Iterable[Any]) -> OrderedSet:
        return OrderedSet(super().symmetric_difference(other))

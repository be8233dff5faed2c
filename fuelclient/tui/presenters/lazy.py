"""Sequences whose items are made when they are looked at, since there may be very many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

Item = TypeVar("Item")


class Lazy(Sequence[Item], Generic[Item]):
    """As many items as `size` says at that moment, each made by `make` from its place, and kept by nobody.

    >>> squares = Lazy(lambda: 4, lambda place: place * place)
    >>> squares[-1], squares[1:3], len(squares)
    (9, [1, 4], 4)
    """

    def __init__(self, size: Callable[[], int], make: Callable[[int], Item]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size()

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        if isinstance(place, slice):
            return [self._make(one) for one in range(*place.indices(self._size()))]
        size = self._size()
        if not -size <= place < size:
            raise IndexError(place)
        return self._make(place + size if place < 0 else place)

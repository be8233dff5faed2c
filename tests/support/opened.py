"""Things that a test opens and that are closed when it ends (`conftest.close_what_was_opened`).

Python 3.13 warns of SQLite connections that the garbage collector has to close, in whatever test happens to run then.
"""

from __future__ import annotations

from typing import Protocol, TypeVar
from weakref import WeakSet


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)
_new: list[Closable] = []
_earlier: WeakSet[Closable] = WeakSet()


def opened(thing: T) -> T:
    """Return `thing`, which will be closed."""
    _new.append(thing)
    return thing


def close_all() -> None:
    """Close what was opened so far. A backend or database that later tests go on with opens itself again."""
    _earlier.update(_new)
    _new.clear()
    for thing in list(_earlier):
        thing.close()

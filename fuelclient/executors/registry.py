"""The kinds of executors, by name: the built-in ones, and those that other packages add.

A kind is a class that derives from `connector.Connector`. Other packages add theirs as entry points of the group
`fuelclient.executors`; no other module of this package names a kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from fuelclient.errors import Unsupported, UsageError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fuelclient.executors.connector import Connector

GROUP = "fuelclient.executors"

# Ours are not entry points: to find one, Python reads the metadata of every package that is installed, which takes
# longer than most commands. So other packages are searched only for a kind that is not in this table.
_BUILT_IN: Mapping[str, tuple[str, str]] = {
    "local": ("fuelclient.executors.local", "LocalConnector"),
    "ssh": ("fuelclient.executors.ssh", "SshConnector"),
    "noop": ("fuelclient.executors.noop", "NoopConnector"),
    "directory": ("fuelclient.executors.local", "DirectoryConnector"),
    "dask": ("fuelclient.executors.dask", "DaskConnector"),
}


class _Kinds(Collection[str]):
    """The names of all kinds. Other packages are searched only by iterating, and for a name that is not built in."""

    def __contains__(self, kind: object) -> bool:
        return kind in _BUILT_IN or kind in added()

    def __iter__(self) -> Iterator[str]:
        yield from _BUILT_IN
        yield from (kind for kind in added() if kind not in _BUILT_IN)

    def __len__(self) -> int:
        return len(list(iter(self)))


KINDS: Collection[str] = _Kinds()


@cache
def added() -> Mapping[str, EntryPoint]:
    """The entry points of other packages by kind. If two packages add one kind, the first one by name counts."""
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.dist.name if point.dist else ""))
    return {point.name: point for point in reversed(points)}


@cache
def connector(kind: str) -> type[Connector]:
    """Import the class of a kind.

    Raise `UsageError` for a kind that is not known, naming those that are, and `Unsupported` for a class of another
    package that cannot be used.
    """
    if kind in _BUILT_IN:
        module, name = _BUILT_IN[kind]
        built_in: type[Connector] = getattr(import_module(module), name)
        return built_in
    if kind not in added():
        close = nearest(kind, KINDS)
        hint = f"Did you mean {close}? " if close else ""
        raise UsageError(f"There is no executor {kind!r}.", hint=f"{hint}Known: {', '.join(KINDS)}.")
    from fuelclient.executors.connector import Connector

    point = added()[kind]
    where = f"The executor {point.name} of {point.dist.name if point.dist else 'another package'} cannot be"
    hint = "Repair or remove that package."
    try:
        loaded = point.load()
    except Exception as error:  # whatever is wrong in a module of others, it is not a defect of ours
        raise Unsupported(f"{where} loaded: {type(error).__name__}: {error}.", hint=hint) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Connector)):
        raise Unsupported(f"{where} used: {point.value} is not a Connector.", hint=hint)
    return loaded


def runs_nothing(kind: str) -> bool:
    """Whether tasks of a kind only report what they would do. Raise what `connector` raises."""
    return not connector(kind).runs


def known(kind: str) -> type[Connector]:
    """The class of a kind; `Connector` itself, whose defaults are safe, if no such class can be used. The executor
    refuses such a kind, with the reason."""
    from fuelclient.executors.connector import Connector

    try:
        return connector(kind)
    except (UsageError, Unsupported):
        return Connector

"""Find the kinds of executors by name: built-in ones, and those of other packages.

A kind is a subclass of `connector.Connector`. Other packages add kinds as entry points of the group
`fuelclient.executors`. No other module of this package contains a list of kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from fuelclient.errors import Unsupported, UsageError, did_you_mean
from fuelclient.model.task import TaskType

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fuelclient.executors.connector import Connector

GROUP = "fuelclient.executors"

# These are not entry points: to find one, Python reads the metadata of all installed packages, which takes longer than
# most commands. So other packages are searched only for a kind that is not in this table.
_BUILT_IN: Mapping[str, tuple[str, str]] = {
    "local": ("fuelclient.executors.local", "LocalConnector"),
    "ssh": ("fuelclient.executors.ssh", "SshConnector"),
    "noop": ("fuelclient.executors.noop", "NoopConnector"),
    "directory": ("fuelclient.executors.local", "DirectoryConnector"),
    "dask": ("fuelclient.executors.dask", "DaskConnector"),
}


class _Kinds(Collection[str]):
    """The names of all kinds. Only iterating, and asking for a name that is not built in, searches other packages."""

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
    """Return the entry points of other packages by kind. If two packages add the same kind, the first name wins."""
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.dist.name if point.dist else ""))
    return {point.name: point for point in reversed(points)}


@cache
def connector(kind: str) -> type[Connector]:
    """Import the class of a kind.

    Raise `UsageError`, with the known kinds, for an unknown kind, and `Unsupported` for a class of another package that
    cannot be used.
    """
    if kind in _BUILT_IN:
        module, name = _BUILT_IN[kind]
        built_in: type[Connector] = getattr(import_module(module), name)
        return built_in
    if kind not in added():
        hint = f"{did_you_mean(kind, KINDS, '')} Known: {', '.join(KINDS)}.".lstrip()
        raise UsageError(f"There is no executor {kind!r}.", hint=hint)
    from fuelclient.executors.connector import Connector

    point = added()[kind]
    where = f"The executor {point.name} of {point.dist.name if point.dist else 'another package'} cannot be"
    hint = "Repair or remove that package."
    try:
        loaded = point.load()
    except Exception as error:  # any error in a module of another package
        raise Unsupported(f"{where} loaded: {type(error).__name__}: {error}.", hint=hint) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Connector)):
        raise Unsupported(f"{where} used: {point.value} is not a Connector.", hint=hint)
    return loaded


def runs_nothing(kind: str) -> bool:
    """Whether tasks of a kind only report what they would do. Raise what `connector` raises."""
    return not connector(kind).runs


DONE = frozenset({TaskType.SHELL, TaskType.MASTER_SHELL, TaskType.PUPPET})
"""The types of tasks that count as done where the executor runs nothing; the others are skipped."""


def skips(kind: str, type_: str) -> bool:
    """Whether an executor of a kind skips the tasks of a type, because it runs nothing or leaves such tasks out."""
    if not kind:
        return False
    used = class_of(kind)
    return bool(used.left_out(type_)) or (type_ not in DONE and not used.runs)


def class_of(kind: str) -> type[Connector]:
    """Return the class of a kind. If it cannot be used, return `Connector`, whose defaults are safe; the executor then
    refuses the kind, with the reason."""
    from fuelclient.executors.connector import Connector

    try:
        return connector(kind)
    except (UsageError, Unsupported):
        return Connector

"""The public API for other programs. Its names are stable; those of all other modules may change.

`connect` opens an engine file or a master; a `Backend` answers with frozen values. `preview`, `merge_layers` and
`plans` are pure functions of such values: they read no files, no clock and no environment variables. All errors are
subclasses of `FuelError` (module `fuelclient.errors`). `docs/api.md` is the guide.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from fuelclient.backends import connect as connecting
from fuelclient.backends.base import Backend
from fuelclient.backends.plans import planned as planning
from fuelclient.backends.plans import simulated as simulating
from fuelclient.environment.plans import plans as planning_from
from fuelclient.errors import FuelError, UsageError
from fuelclient.files import load as load_file
from fuelclient.files import metadata_file, task_files
from fuelclient.graph.merge import merge_layers as merging
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, MergedGraph, MergePolicy, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.run import RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Plan
from fuelclient.plan.preview import Preview, PreviewOptions, PreviewRow
from fuelclient.plan.study import preview as previewing
from fuelclient.serializers.graph import document_from, documents_from
from fuelclient.serializers.release import releases_from
from fuelclient.settings import Settings, in_force, load

__all__ = [
    "DEFAULT_TYPE",
    "Backend",
    "Finding",
    "FuelError",
    "GraphDocument",
    "Inputs",
    "Level",
    "MergePolicy",
    "MergedGraph",
    "Node",
    "OwnerRef",
    "Plan",
    "Preview",
    "PreviewOptions",
    "PreviewRow",
    "Release",
    "RunRequest",
    "Severity",
    "Snapshot",
    "connect",
    "merge_layers",
    "planned",
    "plans",
    "preview",
    "read_graph",
    "read_releases",
    "simulated",
]


@contextmanager
def connect(
    engine: str | os.PathLike[str] | None = None,
    *,
    server: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[Backend]:
    """Yield a backend for an engine file or for a master, and close it at the end of the block.

    With neither, environment variables and settings files decide, as they do for `fuel2`. `settings` override them by
    name (`{"OS_USERNAME": "admin"}`), but not an engine or a server that is given; `fuel2 config show` lists the names.
    Settings that the engine reads while it works, such as `FEATURE_GROUPS`, apply to the whole process until the end of
    the block. Nothing is opened before its first use: a file that does not exist is created by the first write.

    Raise `UsageError` if both an engine and a server are given, and for an unknown or invalid setting. Methods of the
    backend raise only `FuelError`; any other exception is chained as its cause.

    >>> with connect("/srv/lab.db") as backend:
    ...     backend.target
    '/srv/lab.db'
    """
    loaded = _guard(_settings, "connect")(engine, server, settings or {})
    with in_force(loaded):
        backend = connecting(loaded)
        try:
            yield cast("Backend", _Guarded(backend))
        finally:
            backend.close()


def _settings(engine: str | os.PathLike[str] | None, server: str | None, given: Mapping[str, Any]) -> Settings:
    if engine is not None and server is not None:
        raise UsageError("An engine and a server cannot be combined.", hint="Leave one of them out.")
    if server is not None and not server.strip():
        raise UsageError("The server is empty.", hint="Name a master, or leave it out.")
    target = {"ENGINE": None if engine is None else os.fspath(engine), "SERVER_ADDRESS": server}
    chosen = {name: value for name, value in target.items() if value is not None}
    others = {name: value for name, value in given.items() if name not in target} if chosen else given
    return load({**others, **chosen}, by_program=True, chooses=True)


_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def _guard(function: Callable[_Parameters, _Result], name: str = "") -> Callable[_Parameters, _Result]:
    """Wrap a function so that it raises only `FuelError`."""

    @wraps(function, updated=())  # a `__signature__` in `__dict__` has `self`, and that of a bound method has not
    def guarded(*args: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        try:
            return function(*args, **options)
        except FuelError:
            raise
        except Exception as error:  # usually caused by arguments of the wrong type
            message = f"{name or function.__name__} failed: {type(error).__name__}: {error}."
            raise FuelError(message, hint="Check its arguments.") from error

    return guarded


class _Guarded:
    """A backend, or a facet of one, whose methods raise only `FuelError`."""

    def __init__(self, guarded: object, prefix: str = "") -> None:
        self._guarded, self._prefix = guarded, prefix

    def __dir__(self) -> Iterable[str]:
        return dir(self._guarded)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # `copy` looks some up before `_guarded` is set
            raise AttributeError(name)
        value = getattr(self._guarded, name)
        if callable(value):
            return _guard(value, self._prefix + name)
        return value if isinstance(value, str) else _Guarded(value, f"{name}.")


merge_layers = _guard(merging)
planned = _guard(planning)
plans = _guard(planning_from)
preview = _guard(previewing)
simulated = _guard(simulating)


@_guard
def read_graph(path: str | os.PathLike[str], *, label: str = "file") -> GraphDocument:
    """Return the graph in a YAML or JSON file, or in all `tasks.yaml` of a directory.

    `label` becomes part of the ids of legacy entries, which have none of their own. Raise `InvalidDocument`, with
    all findings, if the document is not a graph.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return document_from(load_file(name), owner_label=label)
    metadata = metadata_file(name)
    documents = [load_file(file) for file in task_files(name)]
    return documents_from(documents, load_file(metadata) if metadata else None, owner_label=label)


@_guard
def read_releases(path: str | os.PathLike[str]) -> list[Release]:
    """Return the releases in a fixture, as `fuel2 release import` reads them. Raise `InvalidDocument` if one is
    invalid."""
    return releases_from(load_file(os.fspath(path)))

"""The engine file and what lies beside it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from fuelclient.errors import FuelError
from fuelclient.model.diagnosis import Diagnosis, Health
from fuelclient.store import access, health

_AREA = "engine"
_LITTLE_ROOM, _NO_ROOM = 200 << 20, 1 << 20
_ELSEWHERE = "Name another file with --engine or FUEL_ENGINE."


def examine(path: str) -> Iterator[Diagnosis]:
    """Yield what is known of the engine file at `path`."""
    if not os.path.lexists(path):
        yield _creatable(path)
        return
    try:
        found = health.examine(path)
    except FuelError as error:
        yield Diagnosis(_AREA, "file", Health.ERROR, error.message, error.hint or _ELSEWHERE)
        return
    except OSError as error:
        yield Diagnosis(_AREA, "file", Health.ERROR, f"{path}: {error.strerror}", _ELSEWHERE)
        return
    yield from _permissions(path)
    yield _room(os.path.dirname(os.path.realpath(path)))
    yield from _content(path, found)
    if not found.is_old and not found.damage:
        yield from _runs(path)


def _creatable(path: str) -> Diagnosis:
    """Return whether a file that does not exist can be created, with its directories."""
    parent = Path(path).absolute().parent
    while not parent.exists():
        parent = parent.parent
    if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
        return Diagnosis(_AREA, "file", Health.OK, f"{path} does not exist yet; the first command that writes makes it")
    message = f"{path} does not exist, and you cannot write to {parent}"
    return Diagnosis(_AREA, "file", Health.ERROR, message, f"{_ELSEWHERE} Or become the owner of {parent}.")


def _permissions(path: str) -> Iterator[Diagnosis]:
    if access.is_read_only(path):
        message = f"{path} is read-only for you, or its directory is: you can look, but change nothing"
        yield Diagnosis(_AREA, "file", Health.ERROR, message, f"Become its owner. {_ELSEWHERE}")
    else:
        yield Diagnosis(_AREA, "file", Health.OK, path)
    if os.stat(path).st_mode & 0o077:
        message = f"other users can open {path}, which has passwords of environments"
        yield Diagnosis(_AREA, "permissions", Health.WARNING, message, f"chmod 600 {shlex.quote(path)}")


def _room(directory: str) -> Diagnosis:
    disk = os.statvfs(directory)
    free = disk.f_bavail * disk.f_frsize
    message = f"{free >> 20} MB are free in {directory}"
    if free >= _LITTLE_ROOM:
        return Diagnosis(_AREA, "room", Health.OK, message)
    state = Health.ERROR if free < _NO_ROOM else Health.WARNING
    return Diagnosis(_AREA, "room", state, message, "Free some room: runs keep the output of their tasks there.")


def _content(path: str, found: health.Examined) -> Iterator[Diagnosis]:
    backup = f"Restore a backup, or save what can be read: sqlite3 {shlex.quote(path)} .recover"
    for line in found.damage:
        yield Diagnosis(_AREA, "integrity", Health.ERROR, f"{path} is damaged: {line}", backup)
    for line in found.dangling:
        yield Diagnosis(_AREA, "integrity", Health.ERROR, f"{path} has a row without its owner: {line}", backup)
    if not found.damage and not found.dangling:
        yield Diagnosis(_AREA, "integrity", Health.OK, "no damage was found")
    if found.is_old:
        message = f"its schema is of an earlier version of fuel2 ({found.schema})"
        mend = "The next command upgrades it; keep a copy if you may go back."
        yield Diagnosis(_AREA, "schema", Health.WARNING, message, mend)
    for name, directory in found.plugins:
        files = Path(f"{os.path.realpath(path)}.plugins", directory)
        if not files.is_dir():
            mend = "Install its package again: fuel2 plugins install FILE --force"
            yield Diagnosis(_AREA, "plugins", Health.ERROR, f"the files of plugin {name} are gone: {files}", mend)


def _runs(path: str) -> Iterator[Diagnosis]:
    """Yield the runs that have not ended although their process has."""
    from fuelclient.backends.local import LocalBackend
    from fuelclient.model.status import RunStatus

    with closing(LocalBackend(path)) as backend:
        for run in backend.runs.list(statuses=(RunStatus.PENDING, RunStatus.RUNNING)):
            if run.parent_id is None and run.runner == "gone":
                message = f"run {run.id} on environment {run.cluster_id} was interrupted: its process is gone"
                mend = f"fuel2 task resume {run.id}, or end it: fuel2 task stop {run.id}"
                yield Diagnosis(_AREA, "runs", Health.WARNING, message, mend)

"""An engine file as a whole: examine, check, copy, restore, export, import and compact it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from fuelclient.backends.local import LocalBackend
from fuelclient.engine.reading.unpacked_packages import Trees
from fuelclient.engine.runs import sweep
from fuelclient.engine.runs.paths import remove_path
from fuelclient.errors import Conflict, FuelError, NotFound, Unavailable, Unsupported, UsageError
from fuelclient.files.limits import EXPORT
from fuelclient.files.writing import permitted, remove_abandoned
from fuelclient.model.diagnosis import Diagnosis, Health
from fuelclient.model.run import PARENT
from fuelclient.model.status import RunStatus
from fuelclient.store import access, backups, health, plugins
from fuelclient.store.database import Database
from fuelclient.store.locks import make_directories

_AREA = "engine"
_LITTLE_ROOM, _NO_ROOM = 200 << 20, 1 << 20
"""Bytes of free disk space below which there is a warning, or an error."""

_UNFINISHED = (RunStatus.PENDING, RunStatus.RUNNING)
_ELSEWHERE = "Name another file with --engine or FUEL_ENGINE."


def examine(path: str) -> Iterator[Diagnosis]:
    """Examine permissions, free disk space, damage, files of plugins and interrupted runs."""
    if not os.path.lexists(path):
        yield _creatable(path)
        return
    try:
        examined = health.examine(path)
    except FuelError as error:
        yield Diagnosis(_AREA, "file", Health.ERROR, error.message, error.hint or _ELSEWHERE)
        return
    except OSError as error:
        yield Diagnosis(_AREA, "file", Health.ERROR, f"{path}: {error.strerror}", _ELSEWHERE)
        return
    yield from _permissions(path)
    yield _room(os.path.dirname(os.path.realpath(path)))
    yield from _content(path, examined)
    if not examined.is_old and not examined.damage:
        yield from _runs(path)


def _creatable(path: str) -> Diagnosis:
    """Examine whether a file that does not exist can be created, with its directories."""
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


def _content(path: str, examined: health.Examined) -> Iterator[Diagnosis]:
    backup = f"Restore a backup, or save what can be read: sqlite3 {shlex.quote(path)} .recover"
    for line in examined.damage:
        yield Diagnosis(_AREA, "integrity", Health.ERROR, f"{path} is damaged: {line}", backup)
    for line in examined.dangling:
        yield Diagnosis(_AREA, "integrity", Health.ERROR, f"{path} has a row without its owner: {line}", backup)
    if not examined.damage and not examined.dangling:
        yield Diagnosis(_AREA, "integrity", Health.OK, "no damage was found")
    if examined.is_old:
        message = f"its schema is of an earlier version of fuel2 ({examined.schema})"
        fix = "The next command upgrades it; keep a copy if you may go back."
        yield Diagnosis(_AREA, "schema", Health.WARNING, message, fix)
    for name, directory in examined.plugins:
        files = Path(f"{os.path.realpath(path)}.plugins", directory)
        if not files.is_dir():
            fix = "Install its package again: fuel2 plugins install FILE --force"
            yield Diagnosis(_AREA, "plugins", Health.ERROR, f"the files of plugin {name} are gone: {files}", fix)


def _runs(path: str) -> Iterator[Diagnosis]:
    with closing(LocalBackend(path)) as backend:
        for run in backend.runs.list(statuses=_UNFINISHED):
            if run.parent_id is None and run.runner == "gone":
                message = f"run {run.id} on environment {run.cluster_id} was interrupted: its process is gone"
                fix = f"fuel2 task resume {run.id}, or end it: fuel2 task stop {run.id}"
                yield Diagnosis(_AREA, "runs", Health.WARNING, message, fix)


def check(path: str) -> Iterator[Diagnosis]:
    """Examine the file as `examine` does, and also its documents and the files beside it."""
    _require(path)
    sound = True
    for diagnosis in examine(path):
        sound = sound and diagnosis.health is not Health.ERROR
        yield diagnosis
    if not sound or health.examine(path).is_old:
        return
    broken = health.unreadable(path)
    fix = f"Restore a backup: fuel2 --engine {shlex.quote(path)} engine restore FILE"
    for line in broken:
        yield Diagnosis(_AREA, "documents", Health.ERROR, line, fix)
    if not broken:
        yield Diagnosis(_AREA, "documents", Health.OK, "all documents can be read")
    with closing(Database(path)) as database:
        for orphan in sweep.orphans(database):
            fix = "fuel2 engine compact removes it"
            yield Diagnosis(_AREA, "files", Health.WARNING, f"{orphan} belongs to no run", fix)


def backup(path: str, target: str, *, force: bool = False) -> None:
    """Copy an engine file, and the packages beside it, to `target`, which becomes an engine file.

    Raise `Conflict` if `target` exists, unless `force` is set, and `Unavailable` if it is not a regular file, or if
    `path` was written by another program or a later version. Nothing is copied then.
    """
    _require(path)
    health.schema(path)
    if os.path.exists(target):
        access.size_of(target)  # a copy that takes the place of /dev/null breaks the machine
        if os.path.samefile(path, target):
            raise UsageError(f"{target} is the engine file itself.", hint="Name another file.")
        if not force:
            raise Conflict(f"{target} exists.", hint="Name another file, or use --force.")
    _unpacked(path)  # a damaged file is refused before it is copied
    backups.copy(path, target)
    _copy_packages(path, target)


def restore(path: str, source: str, *, force: bool = False) -> str:
    """Replace an engine file by a backup; return the path of the earlier content, or an empty string.

    Raise `Unavailable` if the backup is damaged or empty, or the engine file cannot be written; `Conflict` if a run has
    not ended or another process has the file open, unless `force` is set.
    """
    _require(source, "backup", "")
    if not access.size_of(source):
        raise Unavailable(f"Backup {source} is empty.", hint="Name another.")
    examined = health.examine(source)
    if damage := (*examined.damage, *examined.dangling):
        raise Unavailable(f"Backup {source} is damaged: {damage[0]}.", hint="Name another.")
    if os.path.exists(path) and access.is_read_only(path):
        raise access.read_only(path)
    if not force and os.path.exists(path):
        _require_idle(path)
    with permitted(path, to="written"):
        kept = backups.restore(source, path)
    _copy_packages(source, path)
    return kept


def export(path: str) -> dict[str, Any]:
    """Read everything as plain data. Raise `Unsupported` if it is larger than `load` accepts."""
    _require(path)
    with closing(Database(path)) as database, database.read() as connection:
        if backups.size(connection) > EXPORT.bytes:
            raise too_large(path)
        data = backups.exported(connection)
    if _has_more_values(data, EXPORT.values):
        raise too_large(path)
    return data


def too_large(path: str) -> Unsupported:
    limit = f"{EXPORT.bytes // 2**20} MiB and {EXPORT.values // 10**6} million values"
    return Unsupported(
        f"{path} holds more than an export may have: {limit}.", hint="Copy it with `fuel2 engine backup FILE`."
    )


def _has_more_values(data: Any, limit: int) -> bool:
    rest, number = [data], 0
    while rest and number <= limit:
        value = rest.pop()
        number += 1
        if isinstance(value, dict):
            rest += value
            rest += value.values()
        elif isinstance(value, list):
            rest += value
    return number > limit


def load(path: str, data: Mapping[str, Any]) -> None:
    """Make an engine file from an export. Raise `Conflict` if it exists, `InvalidDocument` for other data."""
    if os.path.exists(path):
        remove_abandoned(os.path.dirname(path))  # an import that was killed when it was nearly done
        raise Conflict(f"{path} exists.", hint="Name a new file with --engine.")
    with permitted(path, to="made"):
        make_directories(os.path.dirname(os.path.realpath(path)))
        with backups.temporary(path) as fresh:
            backups.create(fresh, lambda connection: backups.imported(connection, path, data))
            backups.restore(fresh, path)


def compact(path: str) -> tuple[int, int]:
    """Remove the files beside an engine file that belong to none of its runs, and give its free pages back to the disk.

    Return the size of the file in bytes, before and after.
    """
    _require(path)
    with closing(Database(path)) as database:
        for orphan in sweep.orphans(database):
            remove_path(orphan)
    return backups.compact(path)


def _require(path: str, noun: str = "engine file", where: str = ", with --engine or FUEL_ENGINE") -> None:
    if not os.path.lexists(path):
        raise NotFound(noun, path, hint=f"Name one that exists{where}.")


def _require_idle(path: str) -> None:
    """Raise `Conflict` if a run has not ended, or another process has the file open. A damaged file is idle."""
    try:
        with closing(LocalBackend(path)) as backend:
            running = backend.runs.list(statuses=_UNFINISHED, names=(PARENT,))
    except FuelError:
        return
    if running:
        hint = f"End it: `fuel2 task stop {running[0].id} --kill`; or use --force."
        raise Conflict(f"Run {running[0].id} has not ended.", hint=hint)
    if not access.is_quiet(path):
        raise Conflict(
            f"Another process has {path} open.", hint="It may be a server or `fuel2 tui`: stop it, or use --force."
        )


def _copy_packages(source: str, target: str) -> None:
    """Copy the unpacked packages that the target lacks: equal names have equal contents."""
    here, there = Trees(source), Trees(target)
    for unpacked in _unpacked(target):
        if here.has(unpacked) and not there.has(unpacked):
            with there.staging() as staged:
                shutil.copytree(here.path(unpacked), staged, symlinks=True, dirs_exist_ok=True)
                staged.rename(there.path(unpacked))


def _unpacked(path: str) -> list[str]:
    with closing(Database(path)) as database, database.read() as connection:
        return [plugin.unpacked for plugin in plugins.every(connection) if plugin.unpacked]

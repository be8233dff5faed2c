"""What is done with an engine file as a whole: check, copy, restore, export, import and compact it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from fuelclient.backends.doctor import engine_file
from fuelclient.backends.local import LocalBackend
from fuelclient.engine.reading.unpacked_packages import Trees
from fuelclient.engine.runs import sweep
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


def check(path: str) -> Iterator[Diagnosis]:
    """Yield what is known of an engine file, as `doctor` does, and of its documents and the files beside it."""
    _require(path)
    sound = True
    for diagnosis in engine_file.examine(path):
        sound = sound and diagnosis.health is not Health.ERROR
        yield diagnosis
    if not sound or health.examine(path).is_old:
        return
    broken = health.unreadable(path)
    mend = f"Restore a backup: fuel2 --engine {shlex.quote(path)} engine restore FILE"
    for line in broken:
        yield Diagnosis(_AREA, "documents", Health.ERROR, line, mend)
    if not broken:
        yield Diagnosis(_AREA, "documents", Health.OK, "all documents can be read")
    with closing(Database(path)) as database:
        for orphan in sweep.orphans(database):
            mend = "fuel2 engine compact removes it"
            yield Diagnosis(_AREA, "files", Health.WARNING, f"{orphan} belongs to no run", mend)


def backup(path: str, target: str, *, force: bool = False) -> None:
    """Copy an engine file, and the packages beside it, to `target`, which is an engine file, too.

    Raise `Conflict` if that exists, unless `force` is set, and `Unavailable` if it is no regular file, or if `path` is
    of another program or of a later version: then nothing is copied.
    """
    _require(path)
    health.schema(path)
    if os.path.exists(target):
        _require_replaceable(target, path, force=force)
    _unpacked(path)  # a damaged file is refused before it is copied
    backups.copy(path, target)
    _copy_packages(path, target)


def _require_replaceable(target: str, path: str, *, force: bool) -> None:
    access.size_of(target)  # a copy that takes the place of /dev/null breaks the machine
    if os.path.samefile(path, target):
        raise UsageError(f"{target} is the engine file itself.", hint="Name another file.")
    if not force:
        raise Conflict(f"{target} exists.", hint="Name another file, or use --force.")


def restore(path: str, source: str, *, force: bool = False) -> str:
    """Put a backup in the place of an engine file; return where the earlier content is kept, or an empty string.

    Raise `Unavailable` if the backup is damaged or empty, or the engine file cannot be written; `Conflict` if a run
    has not ended or another process has the file open, unless `force` is set.
    """
    _require(source)
    if not access.size_of(source):
        raise Unavailable(f"Backup {source} is empty.", hint="Name another.")
    found = health.examine(source)
    if found.damage or found.dangling:
        raise Unavailable(f"Backup {source} is damaged: {(*found.damage, *found.dangling)[0]}.", hint="Name another.")
    if os.path.exists(path) and access.is_read_only(path):
        raise access.read_only(path)
    if not force and os.path.exists(path):
        _require_idle(path)
    with permitted(path, to="written"):
        kept = backups.restore(source, path)
    _copy_packages(source, path)
    return kept


def export(path: str) -> dict[str, Any]:
    """Return everything in an engine file as plain data. Raise `Unsupported` if that is more than `load` takes."""
    _require(path)
    with closing(Database(path)) as database, database.read() as connection:
        if backups.size(connection) > EXPORT.bytes:
            raise too_large(path)
        found = backups.exported(connection)
    if _has_more_values(found, EXPORT.values):
        raise too_large(path)
    return found


def too_large(path: str) -> Unsupported:
    """Return the error for an engine file whose export could not be imported."""
    most = f"{EXPORT.bytes // 2**20} MiB and {EXPORT.values // 10**6} million values"
    return Unsupported(
        f"{path} holds more than an export may have: {most}.", hint="Copy it with `fuel2 engine backup FILE`."
    )


def _has_more_values(data: Any, most: int) -> bool:
    left, number = [data], 0
    while left and number <= most:
        value = left.pop()
        number += 1
        if isinstance(value, dict):
            left += value
            left += value.values()
        elif isinstance(value, list):
            left += value
    return number > most


def load(path: str, data: Mapping[str, Any]) -> None:
    """Make an engine file from what `export` returned. Raise `Conflict` if it exists, `InvalidDocument` for anything
    else."""
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

    Return the bytes of the file before and after that.
    """
    _require(path)
    with closing(Database(path)) as database:
        for orphan in sweep.orphans(database):
            shutil.rmtree(orphan) if orphan.is_dir() and not orphan.is_symlink() else orphan.unlink()
    return backups.compact(path)


def _require(path: str) -> None:
    if not os.path.lexists(path):
        raise NotFound("engine file", path, hint="Name one that exists, with --engine or FUEL_ENGINE.")


def _require_idle(path: str) -> None:
    """Raise `Conflict` if a run has not ended, or another process has the file open. A damaged file is idle."""
    running: list[int] = []
    try:
        with closing(LocalBackend(path)) as backend:
            unfinished = backend.runs.list(statuses=(RunStatus.PENDING, RunStatus.RUNNING), names=(PARENT,))
            running = [run.id for run in unfinished]
    except FuelError:
        return
    if running:
        raise Conflict(
            f"Run {running[0]} has not ended.", hint=f"End it: `fuel2 task stop {running[0]} --kill`; or use --force."
        )
    if not access.is_quiet(path):
        raise Conflict(
            f"Another process has {path} open.", hint="It may be a server or `fuel2 tui`: stop it, or use --force."
        )


def _copy_packages(source: str, target: str) -> None:
    """Copy the unpacked packages that the copy names and that are not there yet: their names say what they hold."""
    here, there = Trees(source), Trees(target)
    for unpacked in _unpacked(target):
        if here.has(unpacked) and not there.has(unpacked):
            with there.staging() as staged:
                shutil.copytree(here.path(unpacked), staged, symlinks=True, dirs_exist_ok=True)
                staged.rename(there.path(unpacked))


def _unpacked(path: str) -> list[str]:
    """Return the names of the unpacked packages of an engine file."""
    with closing(Database(path)) as database, database.read() as connection:
        return [plugin.unpacked for plugin in plugins.every(connection) if plugin.unpacked]

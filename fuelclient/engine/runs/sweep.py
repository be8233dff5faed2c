"""Delete the oldest runs beyond the limits of the settings, and remove files that deleted runs have left.

A runner does so at its end. A command that has written starts a sweep in the background if files are due that a
deletion left behind, because it was killed or a node did not answer: `python -m fuelclient.engine.runs.sweep ENGINE`.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from fuelclient.engine.runs import delete
from fuelclient.engine.runs.background import forget_package, launch
from fuelclient.engine.runs.executors import Provider, executor_for
from fuelclient.engine.runs.paths import log_path, runs_path
from fuelclient.engine.runs.processes import later
from fuelclient.errors import FuelError
from fuelclient.model.run import PARENT, Run
from fuelclient.settings import load
from fuelclient.store import health, leftovers, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.leftovers import Leftover

_EVER = "9999"
_TOGETHER = 20
"""How many runs are deleted in one transaction: other writers wait for its end."""


def start(engine: str) -> None:
    """Start a sweep in the background."""
    launch("fuelclient.engine.runs.sweep", [os.path.realpath(engine)], runs_path(engine) / "sweep.log")


def sweep(database: Database, provider: Provider = executor_for) -> None:
    """Delete the runs that the limits leave no room for, and remove the files that are due."""
    settings = load()
    with database.read() as connection:
        doomed = _too_old_or_too_many(connection, settings.retention_days, settings.retention_runs)
    for first in range(0, len(doomed), _TOGETHER):
        with database.write() as connection:
            still = {run.id for run in runs.ended_by_age(connection)}
            found = delete.forget(connection, [run for run in doomed[first : first + _TOGETHER] if run.id in still])
        delete.remove(database, found, provider)
    if settings.retention_megabytes:
        delete.remove(database, _make_room(database, settings.retention_megabytes << 20), provider)
    with database.write() as connection:
        found = delete.claim(connection)
    delete.remove(database, found, provider)


def orphans(database: Database) -> list[Path]:
    """Return the files beside an engine file that belong to none of its runs, and are not to be removed by a sweep."""
    present = _entries(runs_path(database.path))  # before the runs are read: a run is stored before its files are made
    with database.read() as connection:
        known = {"sweep.log"}
        for run in runs.every(connection, kinds=[PARENT]):
            known |= {run.uuid, f"{run.id}.log"}
        for leftover in leftovers.due(connection, _EVER):
            known |= {leftover.uuid, f"{leftover.run_id}.log"}
    return [path for path in present if path.name not in known]


def _too_old_or_too_many(connection: Connection, days: int, most: int) -> list[Run]:
    """Return the runs to delete for their age, and the oldest of the others beyond `most`. A limit of 0 is none."""
    old = runs.ended_by_age(connection, later(timedelta(days=-days))) if days else []
    too_many = len(runs.every(connection, kinds=[PARENT])) - len(old) - most if most else 0
    known = {run.id for run in old}
    others = [run for run in runs.ended_by_age(connection) if run.id not in known]
    return [*old, *others[: max(0, too_many)]]


def _make_room(database: Database, most: int) -> list[Leftover]:
    """Delete the oldest runs, one after the other, until the engine file and the files of its runs have at most so many
    bytes; return the files that are to be removed.

    Nothing tells in advance how much room a run takes, since runs share facts: the file is measured after each one.
    """
    files = {path.name: _size(path) for path in _entries(runs_path(database.path))}
    found: list[Leftover] = []

    def fits(connection: Connection) -> bool:
        return health.used(connection) + sum(files.values()) <= most

    while True:
        with database.read() as connection:
            if fits(connection):
                return found
        with database.write() as connection:
            oldest = next(iter(runs.ended_by_age(connection)), None)
            if oldest is None or fits(connection):
                return found
            found += delete.forget(connection, [oldest])
        for name in (oldest.uuid, log_path(database.path, oldest.id).name):
            files.pop(name, None)


def _entries(directory: Path) -> list[Path]:
    try:
        return [*directory.iterdir()]
    except OSError:  # it is not there, or was just removed by whatever ended last
        return []


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a directory; those that vanish meanwhile have none."""
    total = 0
    # `rglob` would raise if a directory vanished while it is walked
    below = (Path(root, name) for root, folders, names in os.walk(path) for name in (*folders, *names))
    for one in (path, *below):
        try:
            total += one.lstat().st_size
        except OSError:
            continue
    return total


def main() -> int:
    """Sweep the engine file that the argument names."""
    os.umask(0o077)
    forget_package()
    database = Database(sys.argv[1])
    try:
        sweep(database)
    except FuelError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

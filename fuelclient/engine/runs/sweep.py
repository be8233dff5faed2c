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
from fuelclient.engine.runs.paths import runs_path
from fuelclient.engine.runs.processes import later
from fuelclient.errors import FuelError
from fuelclient.model.run import PARENT, Run
from fuelclient.settings import load
from fuelclient.store import health, leftovers, runs
from fuelclient.store.database import Connection, Database

_MEGABYTE = 1 << 20
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
        doomed = _beyond(
            connection, database.path, settings.retention_days, settings.retention_runs, settings.retention_megabytes
        )
    for first in range(0, len(doomed), _TOGETHER):
        with database.write() as connection:
            still = {run.id for run in runs.ended_by_age(connection)}
            found = delete.forget(connection, [run for run in doomed[first : first + _TOGETHER] if run.id in still])
        delete.remove(database, found, provider)
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


def _beyond(connection: Connection, engine: str, days: int, most: int, megabytes: int) -> list[Run]:
    """Return the runs to delete, oldest first. A limit of 0 is none."""
    oldest = later(timedelta(days=-days)) if days else ""
    files = {path.name: _size(path) for path in _entries(runs_path(engine))}
    too_many = max(0, len(runs.every(connection, kinds=[PARENT])) - most) if most else 0
    too_much = max(0, health.used(connection) + sum(files.values()) - megabytes * _MEGABYTE) if megabytes else 0
    candidates = runs.ended_by_age(connection)
    sizes = runs.bytes_by_run(connection) if too_much else {}
    doomed: list[Run] = []
    for run in candidates:
        if not ((run.time_end or "") < oldest or len(doomed) < too_many or too_much > 0):
            break
        doomed.append(run)
        too_much -= sizes.get(run.id, 0) + files.get(run.uuid, 0) + files.get(f"{run.id}.log", 0)
    return doomed


def _entries(directory: Path) -> list[Path]:
    return [*directory.iterdir()] if directory.is_dir() else []


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a directory; those that vanish meanwhile have none."""
    total = 0
    for one in (path, *path.rglob("*")):
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

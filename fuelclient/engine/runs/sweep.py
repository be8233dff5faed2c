"""Delete the oldest runs beyond the limits of the settings, and remove files that deleted runs have left.

A runner does so at its end. A command that has written starts a sweep in the background if files are due that a
deletion left behind, because it was killed or a node did not answer: `python -m fuelclient.engine.runs.sweep ENGINE`.

Spools stay on nodes until their run is deleted, since `task logs` reads them there. What is to be removed is stored in
the transaction that deletes the runs. A node may be switched off by then, or belong to someone else: what cannot be
removed is reported, with the command that removes it, and a sweep tries it again.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from fuelclient.engine.runs.background import forget_package, launch
from fuelclient.engine.runs.jobs import Provider, executor_for, finished, target_of
from fuelclient.engine.runs.paths import is_spool_on_nodes, log_path, own_name, runs_path, spool_on_nodes, spool_path
from fuelclient.engine.runs.processes import later, now
from fuelclient.errors import FuelError, Unavailable
from fuelclient.executors import registry
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Target
from fuelclient.model.node import Node
from fuelclient.model.run import PARENT, Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.model.task import TaskType
from fuelclient.settings import load
from fuelclient.store import health, history, leftovers, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import nodes
from fuelclient.store.leftovers import Leftover

_EVER = "9999"
_TOGETHER = 20
"""How many runs are deleted in one transaction: other writers wait for its end."""


def start(engine: str) -> None:
    launch("fuelclient.engine.runs.sweep", [os.path.realpath(engine)], runs_path(engine) / "sweep.log")


def sweep(database: Database, provider: Provider = executor_for) -> None:
    """Delete the runs that the limits leave no room for, and remove the files that are due."""
    settings = load()
    with database.read() as connection:
        doomed = _too_old_or_too_many(connection, settings.retention_days, settings.retention_runs)
    for first in range(0, len(doomed), _TOGETHER):
        with database.write() as connection:
            still = {run.id for run in runs.ended_by_age(connection)}
            left = forget(connection, [run for run in doomed[first : first + _TOGETHER] if run.id in still])
        remove(database, left, provider)
    if settings.retention_megabytes:
        remove(database, _make_room(database, settings.retention_megabytes << 20), provider)
    with database.write() as connection:
        left = claim(connection)
    remove(database, left, provider)


def orphans(database: Database) -> list[Path]:
    """The files beside an engine file that belong to none of its runs, and that no sweep will remove."""
    present = _entries(runs_path(database.path))  # before the runs are read: a run is stored before its files are made
    with database.read() as connection:
        known = {"sweep.log"}
        for run in runs.every(connection, name=PARENT):
            known |= {run.uuid, f"{run.id}.log"}
        for leftover in leftovers.due(connection, _EVER):
            known |= {leftover.uuid, f"{leftover.run_id}.log"}
    return [path for path in present if path.name not in known]


def _too_old_or_too_many(connection: Connection, days: int, most: int) -> list[Run]:
    """The runs to delete for their age, and the oldest of the others beyond `most`. A limit of 0 is no limit."""
    old = runs.ended_by_age(connection, later(timedelta(days=-days))) if days else []
    too_many = len(runs.every(connection, name=PARENT)) - len(old) - most if most else 0
    known = {run.id for run in old}
    others = [run for run in runs.ended_by_age(connection) if run.id not in known]
    return [*old, *others[: max(0, too_many)]]


def _make_room(database: Database, most: int) -> list[Leftover]:
    """Delete the oldest runs, one after the other, until the engine file and the files of its runs have at most so many
    bytes; the files that are to be removed.

    Runs share facts, so the room that a run takes is unknown in advance: the file is measured after each one.
    """
    files = {path.name: _size(path) for path in _entries(runs_path(database.path))}
    left: list[Leftover] = []

    def fits(connection: Connection) -> bool:
        return health.used(connection) + sum(files.values()) <= most

    while True:
        with database.read() as connection:
            if fits(connection):
                return left
        with database.write() as connection:
            oldest = next(iter(runs.ended_by_age(connection)), None)
            if oldest is None or fits(connection):
                return left
            left += forget(connection, [oldest])
        for name in (oldest.uuid, log_path(database.path, oldest.id).name):
            files.pop(name, None)


def _entries(directory: Path) -> list[Path]:
    try:
        return [*directory.iterdir()]
    except OSError:  # it is not there, or was just removed by whatever ended last
        return []


def _size(path: Path) -> int:
    """The bytes of a file, or of all files in a directory; those that vanish meanwhile count nothing."""
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


_AT_A_TIME = 50
_SECONDS = 60.0
"""The nodes that are reached at a time, and the seconds for one: deleting a history must not hang on a dead node."""

_FIRST_MINUTES, _DOUBLINGS, _MOST_ATTEMPTS = 10, 8, 20
"""The time until files that could not be removed are tried again, how often it doubles, and the attempts until a sweep
gives up: after about a month."""


def empty_outputs(engine: str, parent: Run) -> None:
    """Empty the outputs of a run's commands and its log on this machine: they fill the disk.

    The spools stay, and with them how commands ended: a runner must still be able to learn that.
    """
    spool = spool_path(engine, parent)
    for path in (log_path(engine, parent.id), *spool.glob("*/*/*/out"), *spool.glob("*/*/*/err")):
        with suppress(OSError):
            os.truncate(path, 0)


def forget(connection: Connection, parents: Iterable[Run]) -> list[Leftover]:
    """Delete runs, and store which files of them are to be removed, for a sweep if this process is killed."""
    left = [*_leftovers(connection, parents)]
    for parent in parents:
        runs.delete(connection, parent.id)
    due = _later(0)
    return [replace(leftover, id=leftovers.insert(connection, leftover, due)) for leftover in left]


def remove(database: Database, left: Sequence[Leftover], provider: Provider) -> tuple[str, ...]:
    """Remove files of deleted runs; a sentence for each machine where some stay, which a sweep tries again.

    Call it outside of an event loop.
    """
    if not left:
        return ()
    here = [leftover for leftover in left if leftover.node is None]
    there = [leftover for leftover in left if leftover.node is not None]
    stays = {leftover.id: _removed_here(database.path, leftover) for leftover in here}
    if there:
        no_run = Run(0, there[0].uuid, 0, PARENT, RunStatus.READY, RunRequest(0))
        executor, places = provider(database.path, no_run), asyncio.Semaphore(_AT_A_TIME)
        reports = finished(executor, *(_removed(leftover, executor, places) for leftover in there))
        stays |= zip([one.id for one in there], reports, strict=True)
    gone = [leftover_id for leftover_id, why in stays.items() if not why]
    if gone:
        with database.write() as connection:
            leftovers.delete(connection, gone)
    return tuple(filter(None, stays.values()))


def claim(connection: Connection) -> list[Leftover]:
    """Take the files that are due, and make them due again later, so that no other sweep takes them now."""
    left = leftovers.due(connection, now())
    for leftover in left:
        leftovers.postpone(connection, leftover.id, _later(leftover.attempts + 1))
    leftovers.delete(connection, [leftover.id for leftover in left if leftover.attempts >= _MOST_ATTEMPTS])
    return left


def _leftovers(connection: Connection, parents: Iterable[Run]) -> Iterator[Leftover]:
    """Yield the files of runs on this machine, and the machines where they may have left spools."""
    by_target: dict[Target, Leftover] = {}
    for parent in parents:
        yield Leftover(0, parent.id, parent.uuid)
        for child in runs.children(connection, parent.id):
            for node in () if child.request.noop else _touched(connection, child):
                target = target_of(node, child.request.executor)
                if registry.known(target.kind).leaves_spools:  # also if it is no longer installed: report what stays
                    known = by_target.get(target) or Leftover(0, 0, parent.uuid, node, child.request.executor)
                    names = dict.fromkeys((*known.names, f"{node.id} ({node.name})"))
                    roots = dict.fromkeys((*known.roots, spool_on_nodes(parent)))
                    by_target[target] = replace(known, names=tuple(names), roots=tuple(roots))
    yield from by_target.values()


def _removed_here(engine: str, leftover: Leftover) -> str:
    """Remove the spool of a run and the log of its runner; a report if one of them stays."""
    try:
        spool = runs_path(engine) / own_name(leftover.uuid)
        log_path(engine, leftover.run_id).unlink(missing_ok=True)
        if spool.exists():
            shutil.rmtree(spool)
    except OSError as error:
        return f"{error.filename} stays: {error.strerror}."
    except Unavailable as error:
        return error.message
    return ""


def _later(attempts: int) -> str:
    """The time of the next sweep for files that could not be removed so often: later each time."""
    return later(timedelta(minutes=_FIRST_MINUTES * 2 ** min(attempts, _DOUBLINGS)))


def _touched(connection: Connection, child: Run) -> Iterable[Node]:
    """The nodes with a spool of a child: those where something began, or all if a task put files on others."""
    begun = history.begun(connection, child.id)
    if not begun:
        return ()
    former, present = runs.nodes_of(connection, child.id), nodes.every(connection, cluster_id=child.cluster_id)
    known = {node.id: node for node in (*former, *present)}
    if any(task_type == TaskType.UPLOAD_FILES for _, task_type in begun):
        return known.values()
    with_spool = {node for node, task_type in begun if task_type != TaskType.MASTER_SHELL}
    return [node for number, node in known.items() if number in with_spool]


async def _removed(leftover: Leftover, executor: MachineExecutor, places: asyncio.Semaphore) -> str:
    """Remove spools from a machine; a report of those that stay, with the reason and the command that removes them, or
    an empty string."""
    kept: dict[str, str] = {}
    target = target_of(leftover.node, leftover.executor) if leftover.node else Target()
    try:
        async with places, asyncio.timeout(_SECONDS):
            for proposed in leftover.roots:
                if not is_spool_on_nodes(proposed):
                    kept[proposed] = "it is not named like the directory of a run"
                    continue
                root, why = await executor.forget(target, proposed)
                if why:
                    kept[root] = why
    except TimeoutError:
        kept = dict.fromkeys(leftover.roots, f"the node did not answer within {_SECONDS:g} s")
    except FuelError as error:
        kept = dict.fromkeys(leftover.roots, error.message)
    if not kept:
        return ""
    noun, verb = "Node" if len(leftover.names) == 1 else "Nodes", "stays" if len(kept) == 1 else "stay"
    where, why = " ".join(kept), next(iter(kept.values())).rstrip(".")
    remove = shlex.join(["rm", "-rf", *kept])
    return f"{noun} {', '.join(leftover.names)}: {where} {verb}: {why}. Remove it there: {remove}"

"""Delete the oldest runs beyond the limits of the settings, and remove remaining files of deleted runs.

A runner does this at its end. If a deletion has left files behind, because it was killed or a node did not answer, a
later command that writes starts a sweep in the background: `python -m fuelclient.engine.runs.sweep ENGINE`.

Spools stay on nodes until their run is deleted, because `task logs` reads them there. The transaction that deletes the
runs also stores which files to remove. A node may be switched off by then, or have another owner. Files that cannot be
removed are reported, with the command that removes them, and a sweep tries again.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from fuelclient.engine.runs import paths
from fuelclient.engine.runs.background import forget_package, launch
from fuelclient.engine.runs.jobs import Provider, executor_for, run_and_close, target_of
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

_END_OF_TIME = "9999"
_RUNS_PER_WRITE = 20
"""How many runs are deleted in one transaction. Other writers have to wait for its end."""


def start(engine: str) -> None:
    launch("fuelclient.engine.runs.sweep", [os.path.realpath(engine)], paths.runs_path(engine) / "sweep.log")


def sweep(database: Database, provider: Provider = executor_for) -> None:
    """Delete the runs beyond the limits, and remove the files that are due."""
    settings = load()
    with database.read() as connection:
        excess = _beyond_limits(connection, settings.retention_days, settings.retention_runs)
    for first in range(0, len(excess), _RUNS_PER_WRITE):
        with database.write() as connection:
            deletable = {run.id for run in runs.ended_by_age(connection)}
            left = forget(connection, [run for run in excess[first : first + _RUNS_PER_WRITE] if run.id in deletable])
        remove(database, left, provider)
    if settings.retention_megabytes:
        remove(database, _make_room(database, settings.retention_megabytes << 20), provider)
    with database.write() as connection:
        left = claim(connection)
    remove(database, left, provider)


def orphans(database: Database) -> list[Path]:
    """Return the files next to an engine file that belong to no run, and that no sweep will remove."""
    # before the runs are read, because a run is stored before its files are made
    present = _entries(paths.runs_path(database.path))
    with database.read() as connection:
        known = {"sweep.log"}
        for run in runs.every(connection, name=PARENT):
            known |= {run.uuid, f"{run.id}.log"}
        for leftover in leftovers.due(connection, _END_OF_TIME):
            known |= {leftover.uuid, f"{leftover.run_id}.log"}
    return [path for path in present if path.name not in known]


def _beyond_limits(connection: Connection, days: int, max_runs: int) -> list[Run]:
    """Return the runs older than `days`, and the oldest of the others beyond `max_runs`. 0 means no limit."""
    old = runs.ended_by_age(connection, later(timedelta(days=-days))) if days else []
    too_many = len(runs.every(connection, name=PARENT)) - len(old) - max_runs if max_runs else 0
    known = {run.id for run in old}
    others = [run for run in runs.ended_by_age(connection) if run.id not in known]
    return [*old, *others[: max(0, too_many)]]


def _make_room(database: Database, max_bytes: int) -> list[Leftover]:
    """Delete the oldest runs until the engine file and the files of its runs have at most `max_bytes`. Return the files
    to remove.

    Runs share facts, so the size of a run is not known in advance. So the file is measured after each deletion.
    """
    files = {path.name: _size(path) for path in _entries(paths.runs_path(database.path))}
    left: list[Leftover] = []

    def fits(connection: Connection) -> bool:
        return health.used(connection) + sum(files.values()) <= max_bytes

    while True:
        with database.read() as connection:
            if fits(connection):
                return left
        with database.write() as connection:
            oldest = next(iter(runs.ended_by_age(connection)), None)
            if oldest is None or fits(connection):
                return left
            left += forget(connection, [oldest])
        for name in (oldest.uuid, paths.log_path(database.path, oldest.id).name):
            files.pop(name, None)


def _entries(directory: Path) -> list[Path]:
    try:
        return [*directory.iterdir()]
    except OSError:  # it does not exist, or was just removed by another process
        return []


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a directory, without those that are deleted meanwhile, and without
    reserves, which go with the runners of their runs."""
    total = 0
    # `rglob` would raise if a directory were deleted meanwhile
    entries = (
        Path(root, name)
        for root, folders, names in os.walk(path)
        for name in (*folders, *names)
        if name != paths.RESERVE
    )
    for one in (path, *entries):
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


_NODES_AT_A_TIME = 50
_NODE_SECONDS = 60.0
"""How many nodes are reached at a time, and the seconds for each: a dead node must not block a deletion for long."""

_FIRST_MINUTES, _DOUBLINGS, _MAX_ATTEMPTS = 10, 8, 20
"""The minutes until the removal of files is tried again, how often this time doubles, and the number of attempts until
a sweep gives up (after about a month)."""


def empty_outputs(engine: str, parent: Run) -> None:
    """Empty the outputs of a run's commands and its log on this machine, to free space on the disk.

    The spools and the exit codes in them are kept, because a runner may still need these.
    """
    spool = paths.spool_path(engine, parent)
    for path in (paths.log_path(engine, parent.id), *spool.glob("*/*/*/out"), *spool.glob("*/*/*/err")):
        with suppress(OSError):
            os.truncate(path, 0)


def forget(connection: Connection, parents: Iterable[Run]) -> list[Leftover]:
    """Delete runs. Store and return which of their files to remove; if this process is killed, a sweep removes them."""
    left = [*_leftovers(connection, parents)]
    for parent in parents:
        runs.delete(connection, parent.id)
    due = _next_attempt(0)
    return [replace(leftover, id=leftovers.insert(connection, leftover, due)) for leftover in left]


def remove(database: Database, left: Sequence[Leftover], provider: Provider) -> tuple[str, ...]:
    """Remove files of deleted runs. Return a sentence for each machine where files remain, which a sweep tries again.

    Call it outside of an event loop.
    """
    if not left:
        return ()
    here = [leftover for leftover in left if leftover.node is None]
    there = [leftover for leftover in left if leftover.node is not None]
    stays = {leftover.id: _remove_here(database.path, leftover) for leftover in here}
    if there:
        no_run = Run(0, there[0].uuid, 0, PARENT, RunStatus.READY, RunRequest(0))
        executor, limit = provider(database.path, no_run), asyncio.Semaphore(_NODES_AT_A_TIME)
        reports = run_and_close(executor, *(_remove_there(leftover, executor, limit) for leftover in there))
        stays |= zip([one.id for one in there], reports, strict=True)
    if removed_ids := [leftover_id for leftover_id, why in stays.items() if not why]:
        with database.write() as connection:
            leftovers.delete(connection, removed_ids)
    return tuple(filter(None, stays.values()))


def claim(connection: Connection) -> list[Leftover]:
    """Return the files that are due, and postpone them, so that no other sweep handles them at the same time."""
    left = leftovers.due(connection, now())
    for leftover in left:
        leftovers.postpone(connection, leftover.id, _next_attempt(leftover.attempts + 1))
    leftovers.delete(connection, [leftover.id for leftover in left if leftover.attempts >= _MAX_ATTEMPTS])
    return left


def _leftovers(connection: Connection, parents: Iterable[Run]) -> Iterator[Leftover]:
    """Yield the files of runs on this machine, and then the machines where runs may have left spools."""
    by_target: dict[Target, Leftover] = {}
    for parent in parents:
        yield Leftover(0, parent.id, parent.uuid)
        for child in runs.children(connection, parent.id):
            for node in () if child.request.noop else _nodes_with_spools(connection, child):
                target = target_of(node, child.request.executor)
                if registry.class_of(target.kind).leaves_spools:  # true for a kind that is not installed any more
                    known = by_target.get(target) or Leftover(0, 0, parent.uuid, node, child.request.executor)
                    names = dict.fromkeys((*known.names, f"{node.id} ({node.name})"))
                    roots = dict.fromkeys((*known.roots, paths.spool_on_nodes(parent)))
                    by_target[target] = replace(known, names=tuple(names), roots=tuple(roots))
    yield from by_target.values()


def _remove_here(engine: str, leftover: Leftover) -> str:
    """Remove the spool of a run and the log of its runner. Return an error message, or an empty string."""
    try:
        spool = paths.runs_path(engine) / paths.valid_uuid(leftover.uuid)
        paths.remove_path(paths.log_path(engine, leftover.run_id))
        paths.remove_path(spool)
    except OSError as error:
        return f"{error.filename} stays: {error.strerror}."
    except Unavailable as error:
        return error.message
    return ""


def _next_attempt(attempts: int) -> str:
    """Return the time of the next attempt to remove files; the delay doubles with the number of attempts."""
    return later(timedelta(minutes=_FIRST_MINUTES * 2 ** min(attempts, _DOUBLINGS)))


def _nodes_with_spools(connection: Connection, child: Run) -> Iterable[Node]:
    """Return the nodes with a spool of a child: those where an instance began, or all if a task uploaded files."""
    if not (begun := history.begun(connection, child.id)):
        return ()
    former, present = runs.nodes_of(connection, child.id), nodes.every(connection, cluster_id=child.cluster_id)
    known = {node.id: node for node in (*former, *present)}
    if any(task_type == TaskType.UPLOAD_FILES for _, task_type in begun):
        return known.values()
    with_spool = {node for node, task_type in begun if task_type != TaskType.MASTER_SHELL}
    return [node for number, node in known.items() if number in with_spool]


async def _remove_there(leftover: Leftover, executor: MachineExecutor, limit: asyncio.Semaphore) -> str:
    """Remove spools from a machine. If some remain, return a message with the reason and the command that removes
    them, else an empty string."""
    kept: dict[str, str] = {}
    target = target_of(leftover.node, leftover.executor) if leftover.node else Target()
    try:
        async with limit, asyncio.timeout(_NODE_SECONDS):
            for proposed in leftover.roots:
                if not paths.is_spool_on_nodes(proposed):
                    kept[proposed] = "it is not named like the directory of a run"
                    continue
                root, why = await executor.forget(target, proposed)
                if why:
                    kept[root] = why
    except TimeoutError:
        kept = dict.fromkeys(leftover.roots, f"the node did not answer within {_NODE_SECONDS:g} s")
    except FuelError as error:
        kept = dict.fromkeys(leftover.roots, error.message)
    if not kept:
        return ""
    noun, verb = "Node" if len(leftover.names) == 1 else "Nodes", "stays" if len(kept) == 1 else "stay"
    where, why = " ".join(kept), next(iter(kept.values())).rstrip(".")
    remove = shlex.join(["rm", "-rf", *kept])
    return f"{noun} {', '.join(leftover.names)}: {where} {verb}: {why}. Remove it there: {remove}"

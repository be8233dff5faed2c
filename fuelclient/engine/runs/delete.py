"""Remove the files of runs: those beside the engine file, and the spools on nodes.

Spools stay on nodes until their run is deleted, since `task logs` reads them there. What is to be removed is stored
in the transaction that deletes the runs. A node may be switched off by then, or belong to someone else: what cannot be
removed is reported, with the command that removes it, and a sweep tries it again (`engine.runs.sweep`).
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from fuelclient.engine.runs.executors import Provider
from fuelclient.engine.runs.jobs import target_of
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
from fuelclient.store import history, leftovers, nodes, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.leftovers import Leftover

_AT_A_TIME = 50
_SECONDS = 60.0
"""How many nodes are asked at a time, and how long one may take: deleting a history must not hang on a dead node."""

_FIRST_MINUTES, _DOUBLINGS, _MOST_ATTEMPTS = 10, 8, 20
"""How long until files that could not be removed are tried again, how often that time doubles, and when a sweep gives
up: after about a month."""


def empty_outputs(engine: str, parent: Run) -> None:
    """Empty the outputs of a run's commands and its log on this machine, which are what fills a disk.

    The spools stay, and with them how commands ended: a runner must still be able to learn that.
    """
    spool = spool_path(engine, parent)
    for path in (log_path(engine, parent.id), *spool.glob("*/*/*/out"), *spool.glob("*/*/*/err")):
        with suppress(OSError):
            os.truncate(path, 0)


def forget(connection: Connection, parents: Iterable[Run]) -> list[Leftover]:
    """Delete runs, and store which files of them are to be removed: whoever is killed now leaves that to a sweep."""
    found = [*_leftovers(connection, parents)]
    for parent in parents:
        runs.delete(connection, parent.id)
    due = _later(0)
    return [replace(leftover, id=leftovers.insert(connection, leftover, due)) for leftover in found]


def remove(database: Database, found: Sequence[Leftover], provider: Provider) -> tuple[str, ...]:
    """Remove files of deleted runs; return a sentence for each machine where some stay, which a sweep tries again.

    Call it outside of an event loop.
    """
    if not found:
        return ()
    here = [leftover for leftover in found if leftover.node is None]
    there = [leftover for leftover in found if leftover.node is not None]
    stays = {leftover.id: _removed_here(database.path, leftover) for leftover in here}
    if there:
        nobody = Run(0, there[0].uuid, 0, PARENT, RunStatus.READY, RunRequest(0))
        stays |= zip([one.id for one in there], _removed_there(there, provider(database.path, nobody)), strict=True)
    gone = [leftover_id for leftover_id, why in stays.items() if not why]
    if gone:
        with database.write() as connection:
            leftovers.delete(connection, gone)
    return tuple(filter(None, stays.values()))


def claim(connection: Connection) -> list[Leftover]:
    """Return the files that are due, and make them due again later, so that no other sweep takes them now."""
    found = leftovers.due(connection, now())
    for leftover in found:
        leftovers.postpone(connection, leftover.id, _later(leftover.attempts + 1))
    leftovers.delete(connection, [leftover.id for leftover in found if leftover.attempts >= _MOST_ATTEMPTS])
    return found


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
                    names = (*known.names, f"{node.id} ({node.name})")
                    roots = (*known.roots, spool_on_nodes(parent))
                    by_target[target] = replace(
                        known, names=tuple(dict.fromkeys(names)), roots=tuple(dict.fromkeys(roots))
                    )
    yield from by_target.values()


def _removed_here(engine: str, leftover: Leftover) -> str:
    """Remove the spool of a run and the log of its runner; return what stays, and why."""
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


def _removed_there(there: Sequence[Leftover], executor: MachineExecutor) -> list[str]:
    """Remove spools from machines and close the executor; return which stay on each, or an empty string."""

    async def remove_all() -> list[str]:
        places = asyncio.Semaphore(_AT_A_TIME)
        try:
            return await asyncio.gather(*(_removed(leftover, executor, places) for leftover in there))
        finally:
            await executor.close()

    return asyncio.run(remove_all())


def _later(attempts: int) -> str:
    """Return when a sweep removes files that could not be removed so often: later each time."""
    return later(timedelta(minutes=_FIRST_MINUTES * 2 ** min(attempts, _DOUBLINGS)))


def _touched(connection: Connection, child: Run) -> Iterable[Node]:
    """Return the nodes with a spool of a child: those where something began, or all if a task put files on others."""
    begun = history.begun(connection, child.id)
    if not begun:
        return ()
    known = {
        node.id: node
        for node in (*runs.nodes_of(connection, child.id), *nodes.of_cluster(connection, child.cluster_id))
    }
    if any(task_type == TaskType.UPLOAD_FILES for _, task_type in begun):
        return known.values()
    with_spool = {node for node, task_type in begun if task_type != TaskType.MASTER_SHELL}
    return [node for number, node in known.items() if number in with_spool]


async def _removed(leftover: Leftover, executor: MachineExecutor, places: asyncio.Semaphore) -> str:
    """Return which spools stay on a machine, why, and how to remove them; an empty string if none do."""
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

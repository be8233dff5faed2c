"""Remove the files of runs: those beside the engine file, and the spools on nodes.

Spools stay on nodes until their run is deleted, since `task logs` reads them there. A node may be switched off by then,
or belong to someone else: what cannot be removed is reported, with the command that removes it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from fuelclient.engine.runs.jobs import target_of
from fuelclient.engine.runs.paths import log_path, spool_on_nodes, spool_path
from fuelclient.errors import FuelError
from fuelclient.executors import registry
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Target
from fuelclient.model.node import Node
from fuelclient.model.run import Run
from fuelclient.model.task import TaskType
from fuelclient.store import history, nodes, runs
from fuelclient.store.database import Connection

_AT_A_TIME = 50
_SECONDS = 60.0
"""How many nodes are asked at a time, and how long one may take: deleting a history must not hang on a dead node."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A machine where runs have left files, the nodes that it stands for, and the directories."""

    target: Target
    nodes: tuple[str, ...]
    roots: tuple[str, ...]


def empty_outputs(engine: str, parent: Run) -> None:
    """Empty the outputs of a run's commands and its log on this machine, which are what fills a disk.

    The spools stay, and with them how commands ended: a runner must still be able to learn that.
    """
    spool = spool_path(engine, parent)
    for path in (log_path(engine, parent.id), *spool.glob("*/*/*/out"), *spool.glob("*/*/*/err")):
        with suppress(OSError):
            os.truncate(path, 0)


def remove_files(engine: str, parent: Run) -> None:
    """Remove the spool of a run and the log of its runner from this machine."""
    shutil.rmtree(spool_path(engine, parent), ignore_errors=True)
    with suppress(OSError):
        log_path(engine, parent.id).unlink()


def leftovers(connection: Connection, parents: Iterable[Run]) -> list[Leftover]:
    """Return the machines, other than this one, where runs may have left spools."""
    by_target: dict[Target, tuple[dict[str, None], dict[str, None]]] = {}
    for parent in parents:
        for child in runs.children(connection, parent.id):
            for node in () if child.request.noop else _touched(connection, child):
                target = target_of(node, child.request.executor)
                connector = registry.known(target.kind)  # None if it is no longer installed: report what stays
                if connector is None or connector.leaves_spools:
                    names, roots = by_target.setdefault(target, ({}, {}))
                    names[f"{node.id} ({node.name})"] = roots[spool_on_nodes(parent)] = None
    return [Leftover(target, tuple(names), tuple(roots)) for target, (names, roots) in by_target.items()]


def remove_leftovers(leftovers: Iterable[Leftover], executor: MachineExecutor) -> tuple[str, ...]:
    """Remove spools from nodes and close the executor; return a sentence for each machine where some stay.

    Call it outside of an event loop.
    """

    async def remove_all() -> tuple[str, ...]:
        places = asyncio.Semaphore(_AT_A_TIME)
        try:
            sentences = await asyncio.gather(*(_removed(leftover, executor, places) for leftover in leftovers))
            return tuple(filter(None, sentences))
        finally:
            await executor.close()

    return asyncio.run(remove_all())


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
    try:
        async with places, asyncio.timeout(_SECONDS):
            for proposed in leftover.roots:
                root, why = await executor.forget(leftover.target, proposed)
                if why:
                    kept[root] = why
    except TimeoutError:
        kept = dict.fromkeys(leftover.roots, f"the node did not answer within {_SECONDS:g} s")
    except FuelError as error:
        kept = dict.fromkeys(leftover.roots, error.message)
    if not kept:
        return ""
    noun, verb = "Node" if len(leftover.nodes) == 1 else "Nodes", "stays" if len(kept) == 1 else "stay"
    where, why = " ".join(kept), next(iter(kept.values())).rstrip(".")
    remove = shlex.join(["rm", "-rf", *kept])
    return f"{noun} {', '.join(leftover.nodes)}: {where} {verb}: {why}. Remove it there: {remove}"

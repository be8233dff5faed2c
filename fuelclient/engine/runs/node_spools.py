"""Spools on nodes: what executions have left there, which goes when they are deleted.

Until then they stay, since `task logs` reads what commands printed from where they ran. Nodes may be switched off by
then, or belong to somebody else: what cannot be removed is told, with the way to remove it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from fuelclient.engine.runs.jobs import target_of
from fuelclient.engine.runs.paths import spool_on_nodes
from fuelclient.errors import FuelError
from fuelclient.executors import registry
from fuelclient.executors.base import Target
from fuelclient.executors.machine import MachineExecutor
from fuelclient.model.node import Node
from fuelclient.model.run import Run
from fuelclient.model.task import TaskType
from fuelclient.store import history, nodes, runs
from fuelclient.store.database import Connection

_AT_A_TIME = 50
_SECONDS = 60.0
"""How many nodes are asked at a time, and how long one may take: deleting a history must not hang on a dead node."""


@dataclass(frozen=True, slots=True)
class Left:
    """A machine on which executions have left something, the nodes that stand for it, and where it lies."""

    target: Target
    nodes: tuple[str, ...]
    roots: tuple[str, ...]

    def told(self, roots: Iterable[str], why: str) -> str:
        """What stays there, why, and how to remove it."""
        where = " ".join(roots)
        noun, verb = "Node" if len(self.nodes) == 1 else "Nodes", "stay" if " " in where else "stays"
        return f"{noun} {', '.join(self.nodes)}: {where} {verb}: {why.rstrip('.')}. Remove it there: rm -rf {where}"


def of(connection: Connection, parents: Iterable[Run]) -> list[Left]:
    """The machines on which executions may have left something, this one apart."""
    found: dict[Target, tuple[dict[str, None], dict[str, None]]] = {}
    for parent in parents:
        for child in runs.children(connection, parent.id):
            for node in () if child.request.noop else _touched(connection, child):
                target = target_of(node, child.request.executor)
                connector = registry.known(target.kind)  # of a kind that is not known any more, nothing can be removed
                if connector is None or connector.leaves_spools:
                    names, roots = found.setdefault(target, ({}, {}))
                    names[f"{node.id} ({node.name})"] = roots[spool_on_nodes(parent)] = None
    return [Left(target, tuple(names), tuple(roots)) for target, (names, roots) in found.items()]


def _touched(connection: Connection, child: Run) -> Iterable[Node]:
    """The nodes with a spool of a part: those where something began, and all when a task put files on others."""
    begun = history.begun(connection, child.id)
    if not begun:
        return ()
    known = {
        node.id: node
        for node in (*runs.nodes_of(connection, child.id), *nodes.of_cluster(connection, child.cluster_id))
    }
    if any(kind == TaskType.UPLOAD_FILES for _, kind in begun):
        return known.values()
    with_spool = {node for node, kind in begun if kind != TaskType.MASTER_SHELL}
    return [node for number, node in known.items() if number in with_spool]


def remove(left: Iterable[Left], executor: MachineExecutor) -> tuple[str, ...]:
    """What executions have left on their nodes is gone; a sentence for each machine on which something stays.

    The executor is closed afterwards. For callers outside of an event loop.
    """
    asked = list(left)
    return asyncio.run(_removed(asked, executor)) if asked else ()


async def _removed(asked: list[Left], executor: MachineExecutor) -> tuple[str, ...]:
    places = asyncio.Semaphore(_AT_A_TIME)

    async def one(left: Left) -> str:
        async with places:
            return await _stays(left, executor)

    try:
        return tuple(filter(None, await asyncio.gather(*map(one, asked))))
    finally:
        await executor.close()


async def _stays(left: Left, executor: MachineExecutor) -> str:
    """What stays on a machine, in a sentence; empty when nothing does."""
    kept: dict[str, str] = {}
    try:
        async with asyncio.timeout(_SECONDS):
            for proposed in left.roots:
                root, why = await executor.forget(left.target, proposed)
                if why:
                    kept[root] = why
    except TimeoutError:
        kept = dict.fromkeys(left.roots, f"the node did not answer within {_SECONDS:g} s")
    except FuelError as error:
        kept = dict.fromkeys(left.roots, error.message)
    return left.told(kept, next(iter(kept.values()))) if kept else ""

"""Learn from the history of a Fuel master what earlier runs of an environment saw.

Source: Nailgun's `TransactionsManager`. For each task on each node the last run counts in which it succeeded, also one
that failed as a whole, but no dry run and no noop run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuelclient.errors import NotFound
from fuelclient.expressions.yaql_calls import ON_FACTS
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer
from fuelclient.model.run import HistoryFilter, HistoryRow, Run, uid_of
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.inputs import Memory, is_deployed_anew

_ASKS = re.compile(rf"\b(?:{'|'.join(ON_FACTS)})\s*\(")
SUCCEEDED = HistoryFilter(statuses=(InstanceStatus.READY,))


@dataclass(frozen=True, slots=True)
class History:
    """The runs of single graphs on an environment that ended, no dry or noop runs, by id.

    `succeeded` returns the instances of one that succeeded, `facts` what it saw, or raises `NotFound`: each is a
    request.
    """

    ended: Sequence[Run]
    succeeded: Callable[[Run], Sequence[HistoryRow]]
    facts: Callable[[int], DeploymentFacts]


def memory_of(
    history: History, environment: Environment, layers: Mapping[str, Sequence[Layer]], *, force: bool = False
) -> Memory | None:
    """Return what earlier runs remember of the tasks in `layers`; nothing of other tasks, and nothing with `force`.

    Return None if the facts of one of these runs cannot be had. Without a task that asks for changes, nothing is read.
    """
    forgotten = tuple(str(node.id) for node in environment.nodes if is_deployed_anew(node))
    asking = _asking(layer for of_type in layers.values() for layer in of_type)
    last: dict[tuple[str, str], int] = {}
    facts: dict[int, DeploymentFacts] = {}
    if force or not asking:
        return Memory(forgotten=forgotten)
    for run in reversed(history.ended):
        keys = {(row.task, uid_of(row.node)) for row in history.succeeded(run) if row.task in asking}
        new = {key for key in keys if key not in last and key[1] not in forgotten}
        if not new:
            continue
        try:
            facts[run.id] = history.facts(run.id)
        except NotFound:
            return None
        last.update(dict.fromkeys(new, run.id))
    return Memory(facts, last, forgotten)


def _asking(layers: Iterable[Layer]) -> set[str]:
    """Return the ids of the tasks with an expression that looks at facts of earlier runs."""
    return {task.id for layer in layers for task in layer.tasks if _ASKS.search(str(task.attributes))}

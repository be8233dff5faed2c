"""Learn from the history of a Fuel master what earlier runs of an environment saw.

Source: Nailgun's `TransactionsManager`. For each task on each node the last run counts in which it succeeded, also one
that failed as a whole, but no dry run and no noop run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from fuelclient.backends.base import Runs
from fuelclient.errors import NotFound
from fuelclient.expressions.yaql_calls import ON_FACTS
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import Layer
from fuelclient.model.run import CHILD, HistoryFilter
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.inputs import Memory, is_deployed_anew

_ASKS = re.compile(rf"\b(?:{'|'.join(ON_FACTS)})\s*\(")
_SUCCEEDED = HistoryFilter(statuses=(InstanceStatus.READY,))


def memory_of(
    runs: Runs, environment: Environment, layers: Mapping[str, Sequence[Layer]], *, force: bool = False
) -> Memory | None:
    """Return what earlier runs remember of the tasks in `layers`; nothing of other tasks, and nothing with `force`.

    Return None if the facts of one of these runs cannot be had.

    Without a task that asks for changes there is no request. Otherwise each ended run is one, and another one if a
    task that asks succeeded in it for the last time.
    """
    forgotten = tuple(str(node.id) for node in environment.nodes if is_deployed_anew(node))
    asking = _asking(layer for of_type in layers.values() for layer in of_type)
    last: dict[tuple[str, str], int] = {}
    facts: dict[int, DeploymentFacts] = {}
    if force or not asking:
        return Memory(forgotten=forgotten)
    for run in reversed(runs.list(cluster_id=environment.cluster.id, names=(CHILD,))):
        if run.dry_run or not run.is_final:
            continue
        rows = runs.history(run.id, _SUCCEEDED)
        keys = {(row.task, "null" if row.node is None else str(row.node)) for row in rows if row.task in asking}
        new = {key for key in keys if key not in last and key[1] not in forgotten}
        if not new:
            continue
        seen = _facts(runs, run.id)
        if seen is None:
            return None
        facts[run.id] = seen
        last.update(dict.fromkeys(new, run.id))
    return Memory(facts, last, forgotten)


def _asking(layers: Iterable[Layer]) -> set[str]:
    """Return the ids of the tasks with an expression that looks at facts of earlier runs."""
    return {task.id for layer in layers for task in layer.tasks if _ASKS.search(str(task.attributes))}


def _facts(runs: Runs, run_id: int) -> DeploymentFacts | None:
    """Return the facts that a run recorded; None if it recorded none."""
    try:
        return runs.deployment_info(run_id)
    except NotFound:
        return None

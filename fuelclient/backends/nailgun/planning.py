"""Plans of a master's environments, made here: its layers, nodes and facts, and the pure functions of the engine.

What ran before, and on which facts, only the master knows: expressions that ask what has changed get the answer of a
first run, and a notice (G035) says so. What plans is imported where it is used: listings do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fuelclient.backends.nailgun.environment import environment_of
from fuelclient.backends.nailgun.facts import Facts
from fuelclient.backends.nailgun.graphs import Graphs
from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import UsageError
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.run import HistoryRow, NodeKey, RunRequest
from fuelclient.model.status import InstanceStatus

if TYPE_CHECKING:
    from fuelclient.plan.plan import Plan

_FIRST_RUN = Finding(
    Severity.INFO,
    "G035",
    "what ran before is known to the master only: conditions that ask for changes are taken as in a first run",
    hint="--dry-run plans on the master.",
)


def require_request(request: RunRequest) -> None:
    """Nothing happens for a request that makes sense; `UsageError` for another one."""
    if not request.graph_types:
        raise UsageError("There is no graph to execute.", hint="Name at least one graph type.")
    if request.dry_run and request.noop:
        raise UsageError("A run is a dry run or a noop run, not both.", hint="Choose --dry-run or --noop.")


def plans(session: Session, graphs: Graphs, facts: Facts, request: RunRequest) -> tuple[Plan, ...]:
    """The plans of all graphs of a request, as things are now; raises what `base.Runs.plan` raises."""
    from fuelclient.expressions.evaluation import Expressions
    from fuelclient.plan.plan import merged_for, plan

    require_request(request)
    members = environment_of(session, request.cluster_id)
    snapshots = {kind: graphs.snapshot_of(members, kind) for kind in dict.fromkeys(request.graph_types)}
    expressions = Expressions(facts.effective(request.cluster_id))
    ids = {kind: {task.id for task in merged_for(one).tasks} for kind, one in snapshots.items()}
    found = []
    for kind in request.graph_types:
        elsewhere = {name for other, names in ids.items() if other != kind for name in names}
        found.append(plan(snapshots[kind], request, expressions, check=_runs_there, elsewhere=elsewhere))
    return tuple(found)


def findings_of(made: Plan, request: RunRequest) -> tuple[Finding, ...]:
    """The findings of a plan, and that it knows no past where that may matter."""
    asks = any("condition" in task.task.attributes for task in made.expansion.tasks) and not request.force
    return (*made.findings, _FIRST_RUN) if asks else made.findings


def durations(rows: Iterable[HistoryRow]) -> dict[tuple[str, str, str], float]:
    """How long task instances took, in seconds, by graph type, task and node; of several runs the last one counts."""
    found: dict[tuple[str, str, str], float] = {}
    for row in rows:
        seconds = _seconds(row.time_start, row.time_end)
        if row.status is InstanceStatus.READY and seconds is not None:
            found[row.graph_type, row.task, "null" if row.node is None else str(row.node)] = seconds
    return found


def _seconds(start: str | None, end: str | None) -> float | None:
    """The time between two moments in ISO 8601, None where they are no moments.

    >>> _seconds("2016-03-25T17:22:10.5", "2016-03-25T17:22:30"), _seconds(None, "x")
    (19.5, None)
    """
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds()
    except (TypeError, ValueError):  # no moments, or one with and one without a time zone
        return None


def _runs_there(_task: MergedTask, _node: NodeKey, _rendered: Mapping[str, Any]) -> str:
    """Nothing keeps a task from running on a master: its orchestrator has a handler for every type."""
    return ""

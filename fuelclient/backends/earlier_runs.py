"""Earlier runs of a graph: the last one, how its task instances ended, and how long they took."""

from __future__ import annotations

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound
from fuelclient.insight.progress import Earlier, earlier_of, earlier_run
from fuelclient.model.run import CHILD, HistoryFilter, Run
from fuelclient.model.status import InstanceStatus

SUCCEEDED = HistoryFilter(statuses=(InstanceStatus.READY,))


def ended_runs(backend: Backend, cluster_id: int) -> list[Run]:
    """The ended runs of single graphs on an environment, without dry and noop runs, by id."""
    return [run for run in backend.runs.list(cluster_id=cluster_id, names=(CHILD,)) if run.is_final and not run.dry_run]


def last_run(backend: Backend, cluster_id: int, graph_type: str) -> Run:
    """The last ended run of a graph, without dry runs and noop runs. Raise `NotFound` if it has not run."""
    if not (ended := [run for run in ended_runs(backend, cluster_id) if run.graph_type == graph_type]):
        raise NotFound(
            "run",
            graph_type,
            message=f"The {graph_type} graph of environment {cluster_id} has no run that ended.",
            hint="Dry runs and noop runs do not count. `fuel2 task list` shows all runs.",
        )
    return ended[-1]


def results_of(backend: Backend, cluster_id: int, graph_type: str, run_id: int | None = None) -> dict[str, set[str]]:
    """The statuses that the instances of each task (by id) had in a run of a graph, by default the last one."""
    results: dict[str, set[str]] = {}
    for row in backend.runs.history(run_id or last_run(backend, cluster_id, graph_type).id):
        if row.graph_type == graph_type:
            results.setdefault(row.task, set()).add(str(row.status))
    return results


def earlier_of_graph(backend: Backend, child: Run) -> Earlier | None:
    """The last successful run of the same graph on the same environment before `child`."""
    run = earlier_run(backend.runs.list(cluster_id=child.cluster_id, statuses=("ready",), names=(CHILD,)), child)
    return None if run is None else earlier_of(run, backend.runs.history(run.id, SUCCEEDED))

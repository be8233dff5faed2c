"""What the time left of a run is estimated from: earlier runs of its graphs, asked of a backend."""

from __future__ import annotations

from fuelclient.backends.base import Backend
from fuelclient.insight.progress import Earlier, earlier_of, earlier_run
from fuelclient.model.run import CHILD, HistoryFilter, Run


def earlier_of_graph(backend: Backend, child: Run) -> Earlier | None:
    """Return the last successful run of the same graph on the same environment before `child`."""
    run = earlier_run(backend.runs.list(cluster_id=child.cluster_id, statuses=("ready",), names=(CHILD,)), child)
    return None if run is None else earlier_of(run, backend.runs.history(run.id, HistoryFilter(statuses=("ready",))))

"""Check what may be done with a run, by whether it has ended and whether its runner lives."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fuelclient.engine.runs import processes
from fuelclient.environment.checks import is_possible
from fuelclient.errors import Conflict, NotFound
from fuelclient.insight.progress import rest_of
from fuelclient.model.run import NodeKey, Run
from fuelclient.store import history, runners, runs
from fuelclient.store.database import Connection


def existing(connection: Connection, run_id: int) -> Run:
    """Return the run. Raise `NotFound`, with the latest ids, if it does not exist."""
    run = runs.find(connection, run_id) if is_possible("run", run_id) else None
    if run is None:
        known = [str(known_id) for known_id in runs.ids(connection)]
        hint = "" if known else "Nothing was executed yet. Run `fuel2 graph execute`."
        raise NotFound("run", run_id, known=known[-12:], hint=hint)
    return run


def parent_of(connection: Connection, run_id: int) -> Run:
    """Return the run, or the run that it is a part of."""
    run = existing(connection, run_id)
    return existing(connection, run.parent_id) if run.parent_id else run


def is_alive(connection: Connection, run: Run) -> bool:
    """Return whether a process works on a run."""
    runner = runners.find(connection, run.cluster_id)
    return runner is not None and runner.run_id == run.id and processes.is_alive(runner)


def with_runner(connection: Connection, run: Run) -> Run:
    """Return the run; one that has not ended says whether its runner is alive."""
    if run.is_final or run.parent_id is not None:
        return run
    return replace(run, runner=processes.ALIVE if is_alive(connection, run) else processes.GONE)


def require_free(connection: Connection, cluster_id: int) -> None:
    """Raise `Conflict`, naming the run, if the environment has one that has not ended."""
    run = runs.unfinished(connection, cluster_id)
    if run is None:
        return
    if is_alive(connection, run):
        raise Conflict(
            f"Run {run.id} is already running on environment {cluster_id}.",
            hint=f"Wait for it (`fuel2 task watch {run.id}`), or stop it (`fuel2 env stop-deployment {cluster_id}`).",
        )
    raise Conflict(
        f"Run {run.id} has not ended on environment {cluster_id}: its runner was killed.",
        hint=f"Resume it (`fuel2 task resume {run.id}`), or end it (`fuel2 task stop {run.id}`).",
    )


def require_resumable(connection: Connection, run: Run) -> None:
    """Raise `Conflict` if a run has ended, or is running."""
    if run.is_final:
        rest = rest_of(replace(run, children=tuple(runs.children(connection, run.id))))
        raise Conflict(
            f"Run {run.id} has ended: it is {run.status}.", hint=f"Execute what it left: {rest}." if rest else ""
        )
    if is_alive(connection, run):
        raise Conflict(f"Run {run.id} is running already.", hint=f"Follow it: `fuel2 task watch {run.id}`.")


def deletable(connection: Connection, run_id: int, *, force: bool) -> Run:
    """Return the run to delete.

    Raise `Conflict` for a part, for a live run, and without `force` for a run that has not ended.
    """
    run = parent_of(connection, run_id)
    if run_id != run.id:
        raise Conflict(f"Run {run_id} is a part of run {run.id}.", hint=f"Delete {run.id} as a whole.")
    if not run.is_final:
        if is_alive(connection, run):
            raise Conflict(f"Run {run.id} is running.", hint=f"Run `fuel2 task stop {run.id}` first.")
        if not force:
            raise Conflict(
                f"Run {run.id} has not ended: its runner is gone.",
                hint=f"Run `fuel2 task resume {run.id}`, or delete it with --force.",
            )
    return run


def deletable_with_cluster(connection: Connection, cluster_id: int) -> list[Run]:
    """Return the runs of an environment. Raise `Conflict` if one of them has not ended.

    That includes a run whose runner was killed: its commands may still be running, and only the run knows them.
    """
    run = runs.unfinished(connection, cluster_id)
    if run is not None:
        if is_alive(connection, run):
            message = f"Run {run.id} is running on environment {cluster_id}."
        else:
            message = f"Run {run.id} has not ended on environment {cluster_id}: its runner was killed."
        raise Conflict(message, hint=f"End it first: `fuel2 task stop {run.id} --kill`.")
    return [run for run in runs.every(connection, cluster_id=cluster_id) if run.parent_id is None]


def require_idle(connection: Connection, cluster_id: int, node_ids: Collection[int]) -> None:
    """Raise `Conflict`, naming the run, if a live run works on one of these nodes, or is going to.

    A run whose runner was killed is no obstacle: it cannot be resumed without its nodes.
    """
    run = runs.unfinished(connection, cluster_id)
    if run is None or not is_alive(connection, run):
        return
    taken: set[NodeKey] = set(run.request.node_ids)
    for child in runs.children(connection, run.id):
        if not child.is_final:
            taken |= history.nodes_of(connection, child.id)
    busy = [str(node_id) for node_id in dict.fromkeys(node_ids) if node_id in taken]
    if busy:
        raise Conflict(
            f"Run {run.id} is running on node{'s' if len(busy) > 1 else ''} {', '.join(busy)} of environment "
            f"{cluster_id}.",
            hint=f"Wait for it (`fuel2 task watch {run.id}`), or end it first (`fuel2 task stop {run.id} --kill`).",
        )

"""Read runs, and check whether they have ended and whether their runners are alive."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from fuelclient.engine.facet import Facet, reads
from fuelclient.engine.reading import lookup
from fuelclient.engine.runs import processes
from fuelclient.engine.runs.paths import log_sentence
from fuelclient.environment import checks
from fuelclient.errors import Conflict, NotFound
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import NOWHERE, Event, HistoryFilter, HistoryRow, NodeKey, Run, RunRequest
from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import TaskType
from fuelclient.plan.inputs import Inputs
from fuelclient.store import facts, history, runners, runs
from fuelclient.store.database import Connection
from fuelclient.store.inventory import nodes
from fuelclient.support import unsupported

NO_FILTER = HistoryFilter()


class Records(Facet):
    """The part of `backends.base.Runs` that only reads. Commands that only read load no other part."""

    pause = 0.0
    act = unsupported(
        "Here, graphs define how environments are deployed and reset.",
        hint="Run such a graph with `fuel2 graph execute`.",
    )
    decided = unsupported("No master decides here: the engine computes the plan itself.", hint="Use a dry run.")

    def inputs(self, request: RunRequest) -> Inputs:
        """Read the inputs of a plan, with the durations of earlier runs."""
        from fuelclient.engine.reading.computed_facts import store_kept_values  # lists of runs need no facts
        from fuelclient.engine.runs import inputs

        if not self._database.is_reading:
            store_kept_values(self._database, request.cluster_id)
        with self._database.read() as connection:
            durations = history.durations(connection, request.cluster_id)
            return replace(inputs.read(connection, request), durations=durations)

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        checks.require_run_statuses(statuses)
        checks.require_run_names(names)
        chosen = self._list(cluster_id, statuses, names)
        is_certain = all(run.runner != processes.GONE for run in chosen)  # see `get`
        return chosen if is_certain else self._list(cluster_id, statuses, names)

    @reads
    def _list(
        self, connection: Connection, cluster_id: int | None, statuses: Sequence[str], names: Sequence[str]
    ) -> Sequence[Run]:
        if cluster_id is not None:
            lookup.cluster(connection, cluster_id)
        chosen = runs.every(connection, cluster_id=cluster_id, status=statuses or None, name=names or None)
        return [with_runner(connection, run) for run in chosen]

    def get(self, run_id: int) -> Run:
        run = self._run(run_id)
        # If the runner is gone, read again: it may have stored the end of the run after the first transaction began.
        return self._run(run_id) if run.runner == processes.GONE else run

    @reads
    def _run(self, connection: Connection, run_id: int) -> Run:
        run = with_parts(connection, run_id)
        if run.runner != processes.GONE or run.message:
            return run
        return replace(run, message=log_sentence(self._database.path, run.id))

    @reads
    def removable(self, connection: Connection, age: timedelta, cluster_id: int | None = None) -> Sequence[int]:
        if cluster_id is not None:
            lookup.cluster(connection, cluster_id)
        return [run.id for run in runs.ended_by_age(connection, processes.later(-age), cluster_id)]

    def history(self, run_id: int, filters: HistoryFilter = NO_FILTER) -> Sequence[HistoryRow]:
        checks.require_instance_statuses(filters.statuses)
        run, rows = self._history(run_id, filters)

        def every() -> tuple[Sequence[HistoryRow], Sequence[int]]:
            _, whole = self._history(run_id, NO_FILTER, samples=True)
            with self._database.read() as connection:
                return whole, nodes.ids(connection)

        checks.require_recorded(run, filters, rows, every)
        return rows

    @reads
    def _history(
        self, connection: Connection, run_id: int, filters: HistoryFilter, *, samples: bool = False
    ) -> tuple[Run, Sequence[HistoryRow]]:
        run = with_parts(connection, run_id)
        parts = (history_rows(connection, part, filters, samples=samples) for part in run.children or (run,))
        return run, [row for rows in parts for row in rows]

    @reads
    def outline(
        self, connection: Connection, child_id: int
    ) -> tuple[Mapping[tuple[str, str], tuple[int, int]], Sequence[str]]:
        definitions = runs.definitions_of(connection, existing(connection, child_id).id)
        tasks = [task for task, definition in definitions.items() if definition.get("type") != TaskType.GROUP]
        return history.counts(connection, child_id), tasks

    @reads
    def page(self, connection: Connection, child_id: int, numbers: range) -> Sequence[HistoryRow]:
        child = existing(connection, child_id)
        return history.rows(connection, child.id, child.graph_type, NO_FILTER, {}, numbers=numbers)

    @reads
    def column(
        self, connection: Connection, child_id: int, names: Sequence[str]
    ) -> tuple[Sequence[tuple[Any, ...]], Sequence[int]]:
        return history.column(connection, existing(connection, child_id).id, names)

    @reads
    def events(self, connection: Connection, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        return history.events_after(connection, parent_of(connection, run_id).id, after, limit)

    @reads
    def deployment_info(self, connection: Connection, run_id: int) -> DeploymentFacts:
        seen = facts.seen(connection, _last_planned(connection, run_id).id)
        if seen.is_empty:
            raise _nothing_recorded("deployment info", run_id)
        return seen

    def settings(self, run_id: int) -> Mapping[str, Any]:
        return self._recorded(run_id, facts.SETTINGS, "settings")

    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        return self._recorded(run_id, facts.NETWORKS, "network configuration")

    @reads
    def _recorded(self, connection: Connection, run_id: int, part: str, noun: str) -> Mapping[str, Any]:
        if (recorded := facts.part_of(connection, _last_planned(connection, run_id).id, part)) is None:
            raise _nothing_recorded(noun, run_id)
        return recorded


def with_parts(connection: Connection, run_id: int) -> Run:
    """Read a run with its children and the state of its runner."""
    run = with_runner(connection, existing(connection, run_id))
    return replace(run, children=tuple(runs.children(connection, run.id)))


def _last_planned(connection: Connection, run_id: int) -> Run:
    """Return the child of a run that was planned last, or the run itself if no child was planned."""
    run = existing(connection, run_id)
    return next((child for child in reversed(runs.children(connection, run.id)) if child.digest), run)


def _nothing_recorded(noun: str, run_id: int) -> NotFound:
    return NotFound(noun, f"of run {run_id}", hint="It is recorded when a graph begins.")


def existing(connection: Connection, run_id: int) -> Run:
    """Read a run. Raise `NotFound`, with the ids of runs, the latest first, if it does not exist."""
    return lookup.existing(connection, "run", run_id, runs.table, runs.whole)


def parent_of(connection: Connection, run_id: int) -> Run:
    """Return the run with this id, or the run of which it is a part."""
    run = existing(connection, run_id)
    return existing(connection, run.parent_id) if run.parent_id else run


def is_alive(connection: Connection, run: Run) -> bool:
    runner = runners.find(connection, run.cluster_id)
    return runner is not None and runner.run_id == run.id and processes.is_alive(runner)


def with_runner(connection: Connection, run: Run) -> Run:
    """Add the state of the runner to a run that has not ended."""
    if run.is_final or run.parent_id is not None:
        return run
    return replace(run, runner=processes.ALIVE if is_alive(connection, run) else processes.GONE)


def require_free(connection: Connection, cluster_id: int) -> None:
    """Raise `Conflict`, naming the run, if a run on the environment has not ended."""
    if (run := runs.unfinished(connection, cluster_id)) is None:
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


def deletable_with_cluster(connection: Connection, cluster_id: int) -> list[Run]:
    """Return the runs of an environment. Raise `Conflict` if one of them has not ended.

    This includes a run whose runner was killed: its commands may still be running, and only the run can find them.
    """
    if (run := runs.unfinished(connection, cluster_id)) is not None:
        where, hint = f"on environment {cluster_id}", f"End it first: `fuel2 task stop {run.id} --kill`."
        if is_alive(connection, run):
            raise Conflict(f"Run {run.id} is running {where}.", hint=hint)
        raise Conflict(f"Run {run.id} has not ended {where}: its runner was killed.", hint=hint)
    return [run for run in runs.every(connection, cluster_id=cluster_id) if run.parent_id is None]


def require_idle(connection: Connection, cluster_id: int, node_ids: Collection[int]) -> None:
    """Raise `Conflict`, naming the run, if a live run is or will be working on one of these nodes.

    A run whose runner was killed does not count: without its nodes, it cannot be resumed.
    """
    run = runs.unfinished(connection, cluster_id)
    if run is None or not is_alive(connection, run):
        return
    taken: set[NodeKey] = set(run.request.node_ids)
    for child in runs.children(connection, run.id):
        if not child.is_final:
            taken |= history.nodes_of(connection, child.id)
    if busy := [str(node_id) for node_id in dict.fromkeys(node_ids) if node_id in taken]:
        raise Conflict(
            f"Run {run.id} is running on node{'s' if len(busy) > 1 else ''} {', '.join(busy)} of environment "
            f"{cluster_id}.",
            hint=f"Wait for it (`fuel2 task watch {run.id}`), or end it first (`fuel2 task stop {run.id} --kill`).",
        )


def history_rows(
    connection: Connection, child: Run, filters: HistoryFilter, *, samples: bool = False
) -> list[HistoryRow]:
    """Return the rows of a child, then rows with the node `NOWHERE` for its tasks without an instance. With `samples`,
    return of each task and of each node only the first row.

    Source: Nailgun `DeploymentHistoryCollection`.
    """
    definitions = runs.definitions_of(connection, child.id)
    stored = history.rows(connection, child.id, child.graph_type, filters, definitions, samples=samples)
    nowhere = []
    for task, definition in definitions.items():
        task_type = str(definition.get("type") or "")
        key = child.id, child.graph_type, task, NOWHERE, InstanceStatus.SKIPPED, task_type
        row = HistoryRow(*key, message="none of the nodes of this run has its roles", definition=definition)
        if task_type != TaskType.GROUP and filters.passes(row):
            nowhere.append(row)
    placed = history.placed(connection, child.id) if nowhere else ()  # which looks at every instance
    return [*stored, *(row for row in nowhere if row.task not in placed)]

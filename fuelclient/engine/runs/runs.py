"""Begin, follow, stop, resume and delete runs. `engine.runs.runner` executes them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from fuelclient.engine.reading import lookup
from fuelclient.engine.reading.computed_facts import settle
from fuelclient.engine.runs import delete, history, inputs, kill, preflight, processes, runner
from fuelclient.engine.runs.close import close
from fuelclient.engine.runs.execution import remember, require_digest, require_same_plan
from fuelclient.engine.runs.executors import Provider, executor_for
from fuelclient.engine.runs.guards import (
    deletable,
    existing,
    is_alive,
    parent_of,
    require_free,
    require_no_original,
    require_resumable,
    with_runner,
)
from fuelclient.engine.runs.jobs import checker, jobs_for, jobs_of
from fuelclient.engine.runs.journal import tell
from fuelclient.engine.runs.paths import last_words
from fuelclient.engine.runs.prepared import Prepared
from fuelclient.environment import plans
from fuelclient.environment.checks import (
    require_instance_statuses,
    require_recorded,
    require_run_names,
    require_run_statuses,
)
from fuelclient.errors import Conflict, FuelError, NotFound, Unavailable, nearest
from fuelclient.executors import registry
from fuelclient.model.diagnosis import Diagnosis
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import (
    CHILD,
    PARENT,
    Event,
    EventKind,
    HistoryFilter,
    HistoryRow,
    Logs,
    Run,
    RunRequest,
)
from fuelclient.model.status import RunStatus
from fuelclient.plan import select
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Check, Plan, checked, nothing_selected, require_decided
from fuelclient.store import access, events, facts, nodes, runners, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.leftovers import Leftover
from fuelclient.support import unsupported

EVERYTHING = HistoryFilter()

Start = Callable[[str, int, bool, Prepared | None], None]


class Runs:
    """Runs; see `backends.base.Runs`. `start` starts a runner, and `provider` makes its executor."""

    def __init__(self, database: Database, *, start: Start = runner.start, provider: Provider = executor_for) -> None:
        self._database, self._start, self._provider = database, start, provider

    def begin(self, request: RunRequest, *, may_idle: bool = False, check: bool = True, digest: str = "") -> Run:
        """As `base.Runs`."""
        request = checked(request, registry.runs_nothing)
        run = None
        while run is None:
            with self._database.reading():
                with self._database.read() as connection:
                    lookup.cluster(connection, request.cluster_id)
                    require_free(connection, request.cluster_id)
                    require_no_original(connection, request)
                settle(self._database, request.cluster_id)
                with self._database.reading():  # the same block, unless something had to be stored
                    if request.dry_run:
                        return self._dry_run(request)
                    prepared = self._prepared(request, may_idle=may_idle, check=check, digest=digest)
                    commits = self._database.commits()
            run = self._stored(request, prepared, commits)
        self._start(self._database.path, run.id, False, prepared)
        return run

    def _prepared(self, request: RunRequest, *, may_idle: bool, check: bool, digest: str) -> Prepared | None:
        """Return the plan of the first graph. Raise what `base.Runs.begin` raises."""
        if may_idle and any(map(select.is_open, request.subgraphs)):
            # one of the subgraphs names no task, which fails the run later; everything else is refused now, as usual
            named = tuple(subgraph for subgraph in request.subgraphs if not select.is_open(subgraph))
            self._planned(replace(request, subgraphs=named), request.graph_types[0])
            return None
        prepared = self._planned(request, request.graph_types[0])
        require_digest(prepared.plan, digest)
        require_decided(prepared.plan)
        self._require_selected(request, prepared.plan, may_idle=may_idle)
        if check and not request.noop:
            self._require_ready(request, prepared)
        return prepared

    def _stored(self, request: RunRequest, prepared: Prepared | None, commits: int) -> Run | None:
        """Store a new run, or nothing and return None if what it was planned from has changed meanwhile."""
        with self._database.write() as connection:
            if prepared and commits != self._database.commits():
                now = inputs.read(connection, request, request.graph_types[0])
                if now != prepared.inputs:
                    return None
            parent, children = _inserted(connection, request)
            if prepared:
                remember(connection, children[0], prepared.inputs, prepared.plan)
            _hand_over(connection, parent)
            return _with_parts(connection, parent.id)

    def _require_ready(self, request: RunRequest, prepared: Prepared) -> None:
        """Raise `NotReady` if a node cannot do its tasks; those of later graphs as far as these can be planned now."""
        reached = preflight.examined(request, prepared.inputs.environment.nodes)
        if not reached:
            return
        known = [prepared.plan]
        for graph_type in request.graph_types[1:]:
            with suppress(FuelError):
                known.append(self._planned(request, graph_type).plan)
        preflight.require_ready(self._provider(self._database.path, _new(request, PARENT)), reached, known)

    def check(self, node_ids: Sequence[int], graph_type: str = DEFAULT_TYPE) -> Sequence[Diagnosis]:
        """As `base.Runs`. What cannot be planned is reported, and the nodes are examined all the same."""
        with self._database.read() as connection:
            wanted = [lookup.node(connection, node_id) for node_id in dict.fromkeys(node_ids)]
        called: dict[int, Collection[str]] = {}
        unplanned: list[Diagnosis] = []
        for cluster_id in dict.fromkeys(node.cluster_id for node in wanted if node.cluster_id is not None):
            request = RunRequest(cluster_id, (graph_type,), force=True, unknown="run")
            settle(self._database, cluster_id)
            try:
                with self._database.read() as connection:
                    fetched = inputs.read(connection, request, graph_type)
                called.update(preflight.programs([plans.plan(fetched, request, graph_type)]))
            except FuelError as error:
                unplanned.append(preflight.unplanned(cluster_id, graph_type, error))
        executor = self._provider(self._database.path, _new(RunRequest(0), PARENT))
        return [*preflight.check(executor, wanted, called), *unplanned]

    def _dry_run(self, request: RunRequest) -> Run:
        """Plan all graphs of a request and store a run that has ended with that."""
        planned = [self._planned(request, graph_type).plan for graph_type in request.graph_types]
        with self._database.write() as connection:
            parent, children = _inserted(connection, request)
            for run, plan in zip((*children, parent), (*planned, planned[0]), strict=True):
                moment = processes.now()
                ended = replace(
                    run, status=RunStatus.READY, progress=100, message=history.dry_run_message(plan),
                    digest=plan.digest, findings=plan.findings, time_start=run.time_start or moment, time_end=moment,
                )  # fmt: skip
                runs.update(connection, ended)
        return self.get(parent.id)

    pause = 0.0
    act = unsupported(
        "Graphs define how environments are deployed and reset here.",
        hint="Run such a graph with `fuel2 graph execute`.",
    )
    decided = unsupported("Plans are computed from their inputs here.", hint="Plan the request.")

    def inputs(self, request: RunRequest) -> Inputs:
        """As `base.Runs`, from one read, with the durations of earlier runs."""
        if not self._database.is_reading:
            settle(self._database, request.cluster_id)
        with self._database.read() as connection:
            return inputs.with_durations(connection, inputs.read(connection, request))

    def checker(self, request: RunRequest, fetched: Inputs) -> Check:
        """As `base.Runs`; the executor of the engine's settings is asked."""
        with self._database.read() as connection:
            jobs = jobs_for(connection, self._database.path, 0, request, fetched, fetched.environment.nodes)
        return checker(jobs, self._provider(self._database.path, _new(request, PARENT)))

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        """As `base.Runs`."""
        require_run_statuses(statuses)
        require_run_names(names)
        with self._database.read() as connection:
            if cluster_id is not None:
                lookup.cluster(connection, cluster_id)
            selected = runs.every(connection, cluster_id=cluster_id, statuses=statuses, kinds=names)
            return [with_runner(connection, run) for run in selected]

    def get(self, run_id: int) -> Run:
        """As `base.Runs`."""
        with self._database.read() as connection:
            run = _with_parts(connection, run_id)
        if run.runner != processes.GONE or run.message:
            return run
        return replace(run, message=last_words(self._database.path, run.id))

    def delete(self, *run_ids: int, force: bool = False) -> tuple[str, ...]:
        """As `base.Runs`. Runs that could be resumed are closed first. On a full disk, their outputs here make room for
        the deletion."""
        with self._database.read() as connection:
            found = [deletable(connection, run_id, force=force) for run_id in dict.fromkeys(run_ids)]
        try:
            leftovers = self._forgotten(found, force=force)
        except Unavailable:
            if not access.is_full(self._database.path):
                raise
            for run in found:
                delete.empty_outputs(self._database.path, run)
            leftovers = self._forgotten(found, force=force)
        return delete.remove(self._database, leftovers, self._provider)

    def _forgotten(self, found: Sequence[Run], *, force: bool) -> Sequence[Leftover]:
        """Delete runs; return the files of them that are to be removed."""
        with self._database.write() as connection:
            for run in found:
                current = deletable(connection, run.id, force=force)
                if not current.is_final:
                    close(connection, current)
            return delete.forget(connection, found)

    def removable(self, age: timedelta, cluster_id: int | None = None) -> Sequence[int]:
        """As `base.Runs`."""
        with self._database.read() as connection:
            if cluster_id is not None:
                lookup.cluster(connection, cluster_id)
            before = processes.later(-age)
            return [run.id for run in runs.ended_by_age(connection, before, cluster_id)]

    def history(self, run_id: int, filters: HistoryFilter = EVERYTHING) -> Sequence[HistoryRow]:
        """As `base.Runs`."""
        require_instance_statuses(filters.statuses)
        run, found = self._history(run_id, filters)

        def every() -> tuple[Sequence[HistoryRow], Sequence[int]]:
            _, rows = self._history(run_id, EVERYTHING)
            with self._database.read() as connection:
                return rows, nodes.ids(connection)

        require_recorded(run, filters, found, every)
        return found

    def _history(self, run_id: int, filters: HistoryFilter) -> tuple[Run, Sequence[HistoryRow]]:
        with self._database.read() as connection:
            run = existing(connection, run_id)
            run = replace(run, children=tuple(runs.children(connection, run.id)))
            parts = run.children or (run,)
            return run, [row for part in parts for row in history.rows(connection, part, filters)]

    def events(self, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """As `base.Runs`."""
        with self._database.read() as connection:
            return events.after(connection, parent_of(connection, run_id).id, after, limit)

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        """As `base.Runs`. A run whose runner is gone ends at once, and with `kill` its remaining commands do too."""
        with self._database.write() as connection:
            run = parent_of(connection, run_id)
            if run.is_final:
                raise Conflict(f"Run {run.id} has ended already: it is {run.status}.")
            runs.ask_stop(connection, run.id, "kill" if kill else "graceful")
            runner_is_gone = not is_alive(connection, run)
            if runner_is_gone and not kill:
                close(connection, run)
        if runner_is_gone and kill:
            self._kill(run)
        return self.get(run.id)

    def _kill(self, run: Run) -> None:
        """End the commands of a run without a runner, and then the run.

        If someone has resumed it meanwhile, that runner ends it: it finds that the run is asked to stop.
        """
        killed = kill.end(self._database, run, self._provider)
        with self._database.write() as connection:
            current = existing(connection, run.id)
            if not current.is_final and not is_alive(connection, current):
                close(connection, current, killed)

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        """As `base.Runs`."""
        with self._database.read() as connection:
            lookup.cluster(connection, cluster_id)
            run = runs.unfinished(connection, cluster_id)
        if run is None:
            raise Conflict(f"Nothing to stop - deployment is not running on environment '{cluster_id}'.")
        return self.stop(run.id, kill=kill)

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        """As `base.Runs`, in a new runner."""
        with self._database.read() as connection:
            run = parent_of(connection, run_id)
            require_resumable(connection, run)
            children = [child for child in runs.children(connection, run.id) if not child.is_final]
            undecided = [name for child in children for name in history.undecided(connection, child)]
            begun = next((child for child in children if child.digest), None)
            fetched = inputs.recorded(connection, begun) if begun else None
            present = nodes.of_cluster(connection, run.cluster_id)
        if undecided and not rerun_interrupted:
            raise Conflict(
                f"It is not known how these ended when their processes or the machine were killed: "
                f"{', '.join(undecided)}.",
                hint=f"Look at their nodes; then run `fuel2 task resume {run.id} --rerun-interrupted`, or stop it.",
            )
        if begun and fetched:
            require_same_plan(begun, plans.plan(fetched, begun.request, begun.graph_type), present)
        with self._database.write() as connection:
            require_resumable(connection, existing(connection, run.id))
            _hand_over(connection, run, "resumed")
        self._start(self._database.path, run.id, rerun_interrupted, None)
        return self.get(run.id)

    def logs(self, run_id: int, task: str, node: str) -> Logs:
        """As `base.Runs`."""
        _, rows = self._history(run_id, HistoryFilter(nodes=(node,), tasks=(task,)))
        begun = [row for row in rows if row.attempts]
        if not begun:
            raise NotFound("log", f"of {task}/{node} in run {run_id}", hint=self._why_no_log(run_id, task, rows))
        row = begun[-1]
        with self._database.read() as connection:
            parent = parent_of(connection, row.run_id)
            child = existing(connection, row.run_id)
            fetched = inputs.remembered(connection, child)
            jobs = jobs_of(connection, self._database.path, child, fetched, with_removed=True)
            stated = history.stated_secrets(connection, task)
        return history.logs(row, fetched, child, jobs, self._provider(self._database.path, parent), stated)

    def _why_no_log(self, run_id: int, task: str, rows: Sequence[HistoryRow]) -> str:
        """Say why nothing is known of what an instance printed; `rows` are those of the history about it."""
        if rows:
            return "The instance never began."
        tasks = {row.task: None for row in self.history(run_id)}
        if task in tasks:
            return f"The run has no {task} on that node."
        close = nearest(task, tasks)
        return f"The run has no task {task}." + (f" Did you mean {close}?" if close else "")

    def deployment_info(self, run_id: int) -> DeploymentFacts:
        """As `base.Runs`."""
        with self._database.read() as connection:
            seen = facts.seen(connection, _last_planned(connection, run_id).id)
        if seen.is_empty:
            raise _nothing_recorded("deployment info", run_id)
        return seen

    def settings(self, run_id: int) -> Mapping[str, Any]:
        """As `base.Runs`."""
        with self._database.read() as connection:
            recorded = facts.settings_of(connection, _last_planned(connection, run_id).id)
        if recorded is None:
            raise _nothing_recorded("settings", run_id)
        return recorded

    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        """As `base.Runs`."""
        with self._database.read() as connection:
            recorded = facts.networks_of(connection, _last_planned(connection, run_id).id)
        if recorded is None:
            raise _nothing_recorded("network configuration", run_id)
        return recorded

    def _require_selected(self, request: RunRequest, first: Plan, *, may_idle: bool) -> None:
        """Raise `InvalidGraph` if the filters leave nothing of any graph.

        With `may_idle` it is enough that tasks are left that do nothing. A graph that cannot be planned now counts as
        selected: it may be plannable when its turn comes.
        """

        def leaves_some(plan: Plan) -> bool:
            return not plan.is_left_out or (may_idle and plan.is_idle)

        if leaves_some(first):
            return
        for graph_type in request.graph_types[1:]:
            try:
                if leaves_some(self._planned(request, graph_type).plan):
                    return
            except FuelError:
                return
        raise nothing_selected(request)

    def _planned(self, request: RunRequest, graph_type: str) -> Prepared:
        """Return the inputs and the plan of one graph of a request, as things are now."""
        with self._database.read() as connection:
            fetched = inputs.read(connection, request, graph_type)
        return Prepared(fetched, plans.plan(fetched, request, graph_type, self.checker(request, fetched)))


def _with_parts(connection: Connection, run_id: int) -> Run:
    """Return a run with its graphs, and whether its runner lives."""
    run = with_runner(connection, existing(connection, run_id))
    return replace(run, children=tuple(runs.children(connection, run.id)))


def _last_planned(connection: Connection, run_id: int) -> Run:
    """Return the child of a run that was planned last; the run itself if it has none, or is a child."""
    run = existing(connection, run_id)
    return next((child for child in reversed(runs.children(connection, run.id)) if child.digest), run)


def _nothing_recorded(noun: str, run_id: int) -> NotFound:
    return NotFound(noun, f"of run {run_id}", hint="It is recorded when a graph begins.")


def _new(request: RunRequest, name: str) -> Run:
    return Run(0, str(uuid.uuid4()), request.cluster_id, name, RunStatus.RUNNING, request, time_start=processes.now())


def _inserted(connection: Connection, request: RunRequest) -> tuple[Run, list[Run]]:
    """Return a new run of a request, and its children. Raise `Conflict` if the environment has a run already."""
    require_free(connection, request.cluster_id)
    parent = _new(request, PARENT)
    parent = replace(parent, id=runs.insert(connection, parent))
    children = []
    for graph_type in request.graph_types:
        child = replace(
            _new(request, CHILD),
            parent_id=parent.id, graph_type=graph_type, status=RunStatus.PENDING, time_start=None,
        )  # fmt: skip
        children.append(replace(child, id=runs.insert(connection, child)))
    return parent, children


def _hand_over(connection: Connection, parent: Run, message: str = "") -> None:
    """Mark a run as running and waiting for the runner that is about to start."""
    runners.put(connection, processes.this_process(parent, pid=processes.NOT_STARTED))
    tell(connection, parent.id, parent.id, EventKind.RUN, RunStatus.RUNNING, message)

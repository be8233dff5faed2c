"""Use cases of transactions: begin, look, stop, resume, delete. What runs them is `engine.runner`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.reading import lookup
from fuelclient.engine.runs import delete, inputs, kill, node_spools, processes, reports, runner
from fuelclient.engine.runs.close import close
from fuelclient.engine.runs.execution import checker, jobs_for, remember, require_digest, require_nodes
from fuelclient.engine.runs.executors import Provider, executor_for
from fuelclient.engine.runs.guards import deletable, existing, parent_of, require_free, require_resumable, with_runner
from fuelclient.engine.runs.paths import last_words
from fuelclient.environment.plans import plan
from fuelclient.errors import Conflict, FuelError, NotFound, Unsupported, UsageError
from fuelclient.executors import registry
from fuelclient.model.fact import DeploymentFacts
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
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.plan import select
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Check, Plan
from fuelclient.plan.request import checked, nothing_selected, require_something
from fuelclient.store import events, facts, history, nodes, runners, runs
from fuelclient.store.database import Connection, Database

EVERYTHING = HistoryFilter()

_STATUSES = "pending, ready, running, error, skipped"
"""The statuses of instances in the order in which Nailgun's message has them, for scripts that match it."""

Start = Callable[[str, int, bool], None]


def _detached(engine: str, run_id: int, rerun_interrupted: bool) -> None:
    runner.start(engine, run_id, rerun_interrupted=rerun_interrupted)


class Runs:
    """Executions; see `backends.base.Runs`. `start` starts a runner; `provider` makes its executors."""

    def __init__(self, database: Database, *, start: Start = _detached, provider: Provider = executor_for) -> None:
        self._database, self._start, self._provider = database, start, provider

    def begin(self, request: RunRequest, *, may_idle: bool = False) -> Run:
        """A transaction that runs from now on in a process of its own, or one that is planned only."""
        request = checked(request, registry.runs_nothing)
        with self._database.read() as connection:
            lookup.cluster(connection, request.cluster_id)
            require_free(connection, request.cluster_id)
        if may_idle and not request.dry_run and any(map(select.is_open, request.subgraphs)):
            return self._doomed(request)
        parent = _new(request, PARENT)
        fetched, first = self._planned(request, request.graph_types[0])
        if not request.dry_run:
            require_something(first)
            self._require_selected(request, first, may_idle=may_idle)
        later = [self._planned(request, kind)[1] for kind in request.graph_types[1:] if request.dry_run]
        with self._database.write() as connection:
            require_free(connection, request.cluster_id)
            parent = replace(parent, id=runs.insert(connection, parent))
            children = [_inserted(connection, parent, kind) for kind in request.graph_types]
            if request.dry_run:
                for child, made in zip(children, (first, *later), strict=True):
                    _planned_only(connection, child, made)
                _planned_only(connection, parent, first)
            else:
                remember(connection, children[0], fetched, first)
                _hand_over(connection, parent)
        if not request.dry_run:
            self._start(self._database.path, parent.id, False)
        return self.get(parent.id)

    def _doomed(self, request: RunRequest) -> Run:
        """A transaction with a subgraph that names no task: its first graph fails when it is planned, and says so.

        What is wrong with the rest of the request is refused as ever.
        """
        named = tuple(one for one in request.subgraphs if not select.is_open(one))
        self._planned(replace(request, subgraphs=named), request.graph_types[0])
        with self._database.write() as connection:
            require_free(connection, request.cluster_id)
            parent = _new(request, PARENT)
            parent = replace(parent, id=runs.insert(connection, parent))
            for kind in request.graph_types:
                _inserted(connection, parent, kind)
            _hand_over(connection, parent)
        self._start(self._database.path, parent.id, False)
        return self.get(parent.id)

    def inputs(self, request: RunRequest) -> Inputs:
        """Return what the graphs of a request are planned from now, with the durations of earlier runs."""
        with self._database.read() as connection:
            return inputs.with_durations(connection, inputs.read(connection, request))

    def checker(self, request: RunRequest, fetched: Inputs) -> Check:
        """Return what says why the executor could never run an instance of the request."""
        with self._database.read() as connection:
            jobs = jobs_for(connection, self._database.path, 0, request, fetched, fetched.environment.nodes)
        return checker(jobs, self._provider(self._database.path, _new(request, PARENT)))

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        """Parents and children by id."""
        for status in statuses:
            if status not in set(RunStatus):
                raise UsageError(f"{status!r} is no status.", hint=f"Use {', '.join(RunStatus)}.")
        with self._database.read() as connection:
            if cluster_id is not None:
                lookup.cluster(connection, cluster_id)
            found = runs.every(connection, cluster_id=cluster_id, statuses=statuses, kinds=names)
            return [with_runner(connection, one) for one in found]

    def get(self, run_id: int) -> Run:
        """One transaction, a parent with its children."""
        with self._database.read() as connection:
            found = with_runner(connection, existing(connection, run_id))
            found = replace(found, children=tuple(runs.children(connection, found.id)))
        if found.runner != processes.GONE or found.message:
            return found
        return replace(found, message=last_words(self._database.path, found.id))

    def delete(self, run_id: int, *, force: bool = False) -> tuple[str, ...]:
        """Remove a transaction with its children, its history and its files, here and on its nodes; what stays there.

        Nothing is removed of one that somebody could go on with: it is closed first. What lies beside the engine file
        goes before the history does, so that there is room for that where the disk is full.
        """
        path = self._database.path
        with self._database.read() as connection:
            found = deletable(connection, run_id, force=force)
            left = node_spools.of(connection, [found])
        if not found.is_final:
            delete.outputs(path, found)
            with self._database.write() as connection:
                close(connection, deletable(connection, run_id, force=force))
        stays = node_spools.remove(left, self._provider(path, found))
        delete.files(path, found)
        with self._database.write() as connection:
            runs.delete(connection, parent_of(connection, run_id).id)
        return stays

    def history(self, run_id: int, filters: HistoryFilter = EVERYTHING) -> Sequence[HistoryRow]:
        """The task instances of a child, or of all children of a parent."""
        for status in filters.statuses:
            if status not in set(InstanceStatus):
                raise UsageError(f"Statuses parameter could be only: {_STATUSES}", hint=f"{status!r} is none.")
        with self._database.read() as connection:
            found = existing(connection, run_id)
            children = [found] if found.parent_id else runs.children(connection, found.id)
            return [row for child in children for row in reports.rows(connection, child, filters)]

    def events(self, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """What happened to an execution after the event `after`."""
        with self._database.read() as connection:
            return events.after(connection, parent_of(connection, run_id).id, after, limit)

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        """Ask a run to stop; one whose runner is gone ends at once, with `kill` after its commands that live on."""
        with self._database.write() as connection:
            found = parent_of(connection, run_id)
            if found.is_final:
                raise Conflict(f"Transaction {found.id} has ended already: it is {found.status}.")
            runs.ask_stop(connection, found.id, "kill" if kill else "graceful")
            is_left = with_runner(connection, found).runner != processes.ALIVE
            if is_left and not kill:
                close(connection, found)
        if is_left and kill:
            self._end_leftovers(found)
        return self.get(found.id)

    def _end_leftovers(self, found: Run) -> None:
        """The commands of a run without a runner are ended, and it with them, unless somebody goes on with it: that
        one finds that it is to stop."""
        ended = kill.end(self._database, found, self._provider)
        with self._database.write() as connection:
            now = existing(connection, found.id)
            if not now.is_final and with_runner(connection, now).runner != processes.ALIVE:
                close(connection, now, ended)

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        """Ask whatever runs on an environment to stop, as `stop` does."""
        with self._database.read() as connection:
            lookup.cluster(connection, cluster_id)
            found = runs.unfinished(connection, cluster_id)
        if found is None:
            raise Conflict(f"Nothing to stop - deployment is not running on environment '{cluster_id}'.")
        return self.stop(found.id, kill=kill)

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        """Go on with a run whose runner was killed."""
        with self._database.read() as connection:
            found = parent_of(connection, run_id)
            require_resumable(connection, found)
            children = [one for one in runs.children(connection, found.id) if not one.is_final]
            undecided = [name for child in children for name in reports.undecided(connection, child)]
            planned = next((one for one in children if one.digest), None)
            fetched = inputs.recorded(connection, planned) if planned else None
            present = nodes.of_cluster(connection, found.cluster_id)
        if undecided and not rerun_interrupted:
            raise Conflict(
                f"It is not known how these ended, when the machine or their processes were killed: "
                f"{', '.join(undecided)}.",
                hint=f"Look at their nodes; then run `fuel2 task resume {found.id} --rerun-interrupted`, or stop it.",
            )
        if planned and fetched:
            made = plan(fetched, planned.request, planned.graph_type)
            require_digest(planned, made)
            require_nodes(planned, made, present)
        with self._database.write() as connection:
            require_resumable(connection, existing(connection, found.id))
            runners.put(connection, processes.this_process(found, pid=processes.NOT_STARTED))
            events.append(connection, _event(found, RunStatus.RUNNING, "resumed"))
        self._start(self._database.path, found.id, rerun_interrupted)
        return self.get(found.id)

    def logs(self, run_id: int, task: str, node: str) -> Logs:
        """What a task instance printed."""
        rows = self.history(run_id, HistoryFilter(nodes=(node,), tasks=(task,)))
        begun = [row for row in rows if row.attempts]
        if not begun:
            raise NotFound("log", f"of {task}/{node} in transaction {run_id}", hint="It never began to run.")
        row = begun[-1]
        with self._database.read() as connection:
            parent = parent_of(connection, row.run_id)
            child = existing(connection, row.run_id)
            fetched = inputs.remembered(connection, child)
            present = nodes.of_cluster(connection, child.cluster_id)
            taking_part = history.nodes_of(connection, child.id)
            known = {node.id: node for node in (*fetched.environment.nodes, *present)}  # a node may have gone since
            jobs = jobs_for(
                connection, self._database.path, child.id, child.request, fetched, tuple(known.values()), taking_part
            )
        return reports.logs(row, fetched, child, jobs, self._provider(self._database.path, parent))

    def deployment_info(self, run_id: int) -> DeploymentFacts:
        """The facts that a run saw."""
        with self._database.read() as connection:
            found = facts.seen(connection, _last_planned(connection, run_id).id)
        if found.is_empty:
            raise _nothing_recorded("deployment info", run_id)
        return found

    def settings(self, run_id: int) -> Mapping[str, Any]:
        """The settings of the environment when a run was planned."""
        with self._database.read() as connection:
            found = facts.settings_of(connection, _last_planned(connection, run_id).id)
        if found is None:
            raise _nothing_recorded("settings", run_id)
        return found

    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        """There is none: environments of this engine have no networks. Raises `Unsupported`."""
        with self._database.read() as connection:
            existing(connection, run_id)
        raise Unsupported(
            "The embedded engine keeps no network configuration: its environments have no networks.",
            hint=f"What a run knew of its nodes is in `fuel2 task deployment-info download {run_id}`.",
        )

    def _require_selected(self, request: RunRequest, first: Plan, *, may_idle: bool) -> None:
        """Nothing happens when filters leave something of at least one graph; `InvalidGraph` otherwise.

        A graph that cannot be planned now may be when its turn comes. With `may_idle` what does nothing is something.
        """

        def leaves_some(made: Plan) -> bool:
            return not made.is_left_out or (may_idle and made.is_idle)

        if leaves_some(first):
            return
        for kind in request.graph_types[1:]:
            try:
                if leaves_some(self._planned(request, kind)[1]):
                    return
            except FuelError:
                return
        raise nothing_selected(request)

    def _planned(self, request: RunRequest, graph_type: str) -> tuple[Inputs, Plan]:
        """Return the plan of one graph of a request, as things are now, and what it was computed from."""
        with self._database.read() as connection:
            fetched = inputs.read(connection, request, graph_type)
        return fetched, plan(fetched, request, graph_type, self.checker(request, fetched))


def _last_planned(connection: Connection, run_id: int) -> Run:
    """The part of an execution that was planned last, or the part itself; the execution where none was."""
    found = existing(connection, run_id)
    return next((one for one in reversed(runs.children(connection, found.id)) if one.digest), found)


def _nothing_recorded(noun: str, run_id: int) -> NotFound:
    return NotFound(noun, f"of transaction {run_id}", hint="It is recorded when a graph is begun.")


def _new(request: RunRequest, name: str) -> Run:
    return Run(0, str(uuid.uuid4()), request.cluster_id, name, RunStatus.RUNNING, request, time_start=processes.now())


def _inserted(connection: Connection, parent: Run, graph_type: str) -> Run:
    child = replace(
        _new(parent.request, CHILD),
        parent_id=parent.id, graph_type=graph_type, status=RunStatus.PENDING, time_start=None,
    )  # fmt: skip
    return replace(child, id=runs.insert(connection, child))


def _hand_over(connection: Connection, parent: Run) -> None:
    """The transaction runs, and waits for the runner that is about to be started."""
    runners.put(connection, processes.this_process(parent, pid=processes.NOT_STARTED))
    events.append(connection, _event(parent, RunStatus.RUNNING))


def _planned_only(connection: Connection, run: Run, made: Plan) -> None:
    """A dry run ends as soon as it is planned."""
    message = reports.dry_run_message(made)
    moment = processes.now()
    runs.update(
        connection,
        replace(run, status=RunStatus.READY, progress=100, message=message, digest=made.digest,
                findings=made.findings, time_start=run.time_start or moment, time_end=moment),
    )  # fmt: skip


def _event(parent: Run, status: RunStatus, message: str = "") -> Event:
    return Event(0, processes.now(), EventKind.RUN, parent.id, parent.id, status=status, message=message)

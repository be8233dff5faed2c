"""Use cases of transactions: begin, look, stop, resume, delete. What runs them is `engine.runner`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine import leftovers, lookup, planning, recovery, removal, reports, runner
from fuelclient.engine.closing import close
from fuelclient.engine.executors import Provider, executors_for
from fuelclient.engine.run_files import last_words
from fuelclient.engine.running import checker, jobs_for, remember, require_digest, require_nodes
from fuelclient.errors import Conflict, FuelError, NotFound, Unsupported, UsageError
from fuelclient.insight import runs
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import ExecutorKind
from fuelclient.model.status import InstanceStatus, TransactionStatus
from fuelclient.model.transaction import (
    CHILD,
    PARENT,
    Event,
    EventKind,
    ExecutionRequest,
    HistoryFilter,
    HistoryRow,
    Logs,
    PlannedGraph,
    SimulatedGraph,
    Transaction,
)
from fuelclient.plan.plan import Plan
from fuelclient.store import events, facts, history, nodes, runners, transactions
from fuelclient.store.database import Connection, Database

EVERYTHING = HistoryFilter()

_STATUSES = "pending, ready, running, error, skipped"
"""The statuses of instances in the order in which Nailgun's message has them, for scripts that match it."""

Start = Callable[[str, int, bool], None]


def _detached(engine: str, transaction_id: int, rerun_interrupted: bool) -> None:
    runner.start(engine, transaction_id, rerun_interrupted=rerun_interrupted)


class Transactions:
    """Executions; see `backends.base.Transactions`. `start` starts a runner; `provider` makes its executors."""

    def __init__(self, database: Database, *, start: Start = _detached, provider: Provider = executors_for) -> None:
        self._database, self._start, self._provider = database, start, provider

    def begin(self, request: ExecutionRequest) -> Transaction:
        """A transaction that runs from now on in a process of its own, or one that is planned only."""
        _require_request(request)
        request = _meant(request)
        with self._database.read() as connection:
            lookup.cluster(connection, request.cluster_id)
            _require_free(connection, request.cluster_id)
        parent = _new(request, PARENT)
        inputs, first = self._planned(request, request.graph_types[0], parent)
        if not request.dry_run:
            planning.require_something(first)
            self._require_selected(request, first, parent)
        later = [self._planned(request, kind, parent)[1] for kind in request.graph_types[1:] if request.dry_run]
        with self._database.write() as connection:
            _require_free(connection, request.cluster_id)
            parent = replace(parent, id=transactions.insert(connection, parent))
            children = [_inserted(connection, parent, kind) for kind in request.graph_types]
            if request.dry_run:
                for child, made in zip(children, (first, *later), strict=True):
                    _planned_only(connection, child, made)
                _planned_only(connection, parent, first)
            else:
                remember(connection, children[0], inputs, first)
                runners.put(connection, recovery.this_process(parent, pid=recovery.NOT_STARTED))
                events.append(connection, _event(parent, TransactionStatus.RUNNING))
        if not request.dry_run:
            self._start(self._database.path, parent.id, False)
        return self.get(parent.id)

    def plan(self, request: ExecutionRequest) -> Sequence[PlannedGraph]:
        """The plans of all graphs of a request as things are now."""
        _require_request(request)
        request = _meant(request)
        made = [self._planned(request, kind, _new(request, PARENT))[1] for kind in request.graph_types]
        return [runs.planned(one, after_earlier=position > 0) for position, one in enumerate(made)]

    def simulate(self, request: ExecutionRequest, fail: Sequence[str] = ()) -> Sequence[SimulatedGraph]:
        """What would become of a request by the durations of earlier runs."""
        _require_request(request)
        with self._database.read() as connection:
            known = history.durations(connection, request.cluster_id)
        made = [self._planned(request, kind, _new(request, PARENT))[1] for kind in request.graph_types]
        return runs.simulated(made, known, fail)

    def picture(self, request: ExecutionRequest, fail: Sequence[str] = ()) -> str:
        """The simulated run of a request as a drawing."""
        _require_request(request)
        with self._database.read() as connection:
            known = history.durations(connection, request.cluster_id)
        made = [self._planned(request, kind, _new(request, PARENT))[1] for kind in request.graph_types]
        return runs.pictured(made, known, fail)

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Transaction]:
        """Parents and children by id."""
        for status in statuses:
            if status not in set(TransactionStatus):
                raise UsageError(f"{status!r} is no status.", hint=f"Use {', '.join(TransactionStatus)}.")
        with self._database.read() as connection:
            if cluster_id is not None:
                lookup.cluster(connection, cluster_id)
            found = transactions.every(connection, cluster_id=cluster_id, statuses=statuses, kinds=names)
            return [_with_runner(connection, one) for one in found]

    def get(self, transaction_id: int) -> Transaction:
        """One transaction, a parent with its children."""
        with self._database.read() as connection:
            found = _with_runner(connection, existing(connection, transaction_id))
            found = replace(found, children=tuple(transactions.children(connection, found.id)))
        if found.runner != recovery.GONE or found.message:
            return found
        return replace(found, message=last_words(self._database.path, found.id))

    def delete(self, transaction_id: int, *, force: bool = False) -> None:
        """Remove a transaction with its children, its history and its files."""
        with self._database.write() as connection:
            found = parent_of(connection, transaction_id)
            if transaction_id != found.id:
                raise Conflict(
                    f"Transaction {transaction_id} is a part of {found.id}.", hint=f"Delete {found.id} as a whole."
                )
            if not found.is_final:
                if _with_runner(connection, found).runner == recovery.ALIVE:
                    raise Conflict(f"Transaction {found.id} runs.", hint=f"Run `fuel2 task stop {found.id}` first.")
                if not force:
                    raise Conflict(
                        f"Transaction {found.id} has not ended: its runner is gone.",
                        hint=f"Run `fuel2 task resume {found.id}`, or delete it with --force.",
                    )
                close(connection, found)
            transactions.delete(connection, found.id)
        removal.files(self._database.path, found)

    def history(self, transaction_id: int, filters: HistoryFilter = EVERYTHING) -> Sequence[HistoryRow]:
        """The task instances of a child, or of all children of a parent."""
        for status in filters.statuses:
            if status not in set(InstanceStatus):
                raise UsageError(f"Statuses parameter could be only: {_STATUSES}", hint=f"{status!r} is none.")
        with self._database.read() as connection:
            found = existing(connection, transaction_id)
            children = [found] if found.parent_id else transactions.children(connection, found.id)
            return [row for child in children for row in reports.rows(connection, child, filters)]

    def events(self, transaction_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """What happened to an execution after the event `after`."""
        with self._database.read() as connection:
            return events.after(connection, parent_of(connection, transaction_id).id, after, limit)

    def stop(self, transaction_id: int, *, kill: bool = False) -> Transaction:
        """Ask a run to stop; one whose runner is gone ends at once, with `kill` after its commands that live on."""
        with self._database.write() as connection:
            found = parent_of(connection, transaction_id)
            if found.is_final:
                raise Conflict(f"Transaction {found.id} has ended already: it is {found.status}.")
            transactions.ask_stop(connection, found.id, "kill" if kill else "graceful")
            is_left = _with_runner(connection, found).runner != recovery.ALIVE
            if is_left and not kill:
                close(connection, found)
        if is_left and kill:
            self._end_leftovers(found)
        return self.get(found.id)

    def _end_leftovers(self, found: Transaction) -> None:
        """The commands of a run without a runner are ended, and it with them, unless somebody goes on with it: that
        one finds that it is to stop."""
        ended = leftovers.end(self._database, found, self._provider)
        with self._database.write() as connection:
            now = existing(connection, found.id)
            if not now.is_final and _with_runner(connection, now).runner != recovery.ALIVE:
                close(connection, now, ended)

    def stop_cluster(self, cluster_id: int) -> Transaction:
        """Ask whatever runs on an environment to stop."""
        with self._database.read() as connection:
            lookup.cluster(connection, cluster_id)
            found = transactions.unfinished(connection, cluster_id)
        if found is None:
            raise Conflict(f"Nothing to stop - deployment is not running on environment '{cluster_id}'.")
        return self.stop(found.id)

    def resume(self, transaction_id: int, *, rerun_interrupted: bool = False) -> Transaction:
        """Go on with a run whose runner was killed."""
        with self._database.read() as connection:
            found = parent_of(connection, transaction_id)
            _require_resumable(connection, found)
            children = [one for one in transactions.children(connection, found.id) if not one.is_final]
            undecided = [name for child in children for name in reports.undecided(connection, child)]
            planned = next((one for one in children if one.digest), None)
            inputs = planning.recorded(connection, planned) if planned else None
            present = nodes.of_cluster(connection, found.cluster_id)
        if undecided and not rerun_interrupted:
            raise Conflict(
                f"It is not known how these ended, when the machine or their processes were killed: "
                f"{', '.join(undecided)}.",
                hint=f"Look at their nodes; then run `fuel2 task resume {found.id} --rerun-interrupted`, or stop it.",
            )
        if planned and inputs:
            made = planning.plan_of(inputs, planned.request)
            require_digest(planned, made)
            require_nodes(planned, made, present)
        with self._database.write() as connection:
            _require_resumable(connection, existing(connection, found.id))
            runners.put(connection, recovery.this_process(found, pid=recovery.NOT_STARTED))
            events.append(connection, _event(found, TransactionStatus.RUNNING, "resumed"))
        self._start(self._database.path, found.id, rerun_interrupted)
        return self.get(found.id)

    def logs(self, transaction_id: int, task: str, node: str) -> Logs:
        """What a task instance printed."""
        rows = self.history(transaction_id, HistoryFilter(nodes=(node,), tasks=(task,)))
        begun = [row for row in rows if row.attempts]
        if not begun:
            raise NotFound("log", f"of {task}/{node} in transaction {transaction_id}", hint="It never began to run.")
        row = begun[-1]
        with self._database.read() as connection:
            parent = parent_of(connection, row.transaction_id)
            child = existing(connection, row.transaction_id)
            inputs = planning.remembered(connection, child)
            present = nodes.of_cluster(connection, child.cluster_id)
            taking_part = history.nodes_of(connection, child.id)
        executors = self._provider(self._database.path, parent)
        known = {one.id: one for one in (*inputs.snapshot.nodes, *present)}  # a node may have gone since
        jobs = jobs_for(self._database, child.id, child.request, inputs, tuple(known.values()), taking_part)
        return reports.logs(row, inputs, child, jobs, executors)

    def deployment_info(self, transaction_id: int) -> DeploymentFacts:
        """The facts that a run saw."""
        with self._database.read() as connection:
            found = facts.seen(connection, _last_planned(connection, transaction_id).id)
        if found.is_empty:
            raise _nothing_recorded("deployment info", transaction_id)
        return found

    def settings(self, transaction_id: int) -> Mapping[str, Any]:
        """The settings of the environment when a run was planned."""
        with self._database.read() as connection:
            found = facts.settings_of(connection, _last_planned(connection, transaction_id).id)
        if found is None:
            raise _nothing_recorded("settings", transaction_id)
        return found

    def network_configuration(self, transaction_id: int) -> Mapping[str, Any]:
        """There is none: environments of this engine have no networks. Raises `Unsupported`."""
        with self._database.read() as connection:
            existing(connection, transaction_id)
        raise Unsupported(
            "The embedded engine keeps no network configuration: its environments have no networks.",
            hint=f"What a run knew of its nodes is in `fuel2 task deployment-info download {transaction_id}`.",
        )

    def _require_selected(self, request: ExecutionRequest, first: Plan, parent: Transaction) -> None:
        """Nothing happens when filters leave something of at least one graph; `InvalidGraph` otherwise.

        A graph that cannot be planned now may be when its turn comes.
        """
        if not first.is_left_out:
            return
        for kind in request.graph_types[1:]:
            try:
                if not self._planned(request, kind, parent)[1].is_left_out:
                    return
            except FuelError:
                return
        raise planning.nothing_selected(request)

    def _planned(self, request: ExecutionRequest, kind: str, parent: Transaction) -> tuple[planning.Inputs, Plan]:
        """The plan of one graph of a request, as things are now; executors say whether they could run it."""
        with self._database.read() as connection:
            inputs = planning.read(connection, request, kind)
        executors = self._provider(self._database.path, parent)
        jobs = jobs_for(self._database, 0, request, inputs, inputs.snapshot.nodes)
        return inputs, planning.plan_of(inputs, request, checker(jobs, executors))


def existing(connection: Connection, transaction_id: int) -> Transaction:
    """The transaction; `NotFound` with the ids there are."""
    found = transactions.find(connection, transaction_id) if 0 < transaction_id <= lookup.LARGEST_ID else None
    if found is None:
        known = [str(one) for one in transactions.ids(connection)]
        hint = "" if known else "Nothing was executed yet. Run `fuel2 graph execute`."
        raise NotFound("transaction", transaction_id, known=known[-12:], hint=hint)
    return found


def parent_of(connection: Connection, transaction_id: int) -> Transaction:
    """The execution that a transaction is, or belongs to."""
    found = existing(connection, transaction_id)
    return existing(connection, found.parent_id) if found.parent_id else found


def _last_planned(connection: Connection, transaction_id: int) -> Transaction:
    """The part of an execution that was planned last, or the part itself; the execution where none was."""
    found = existing(connection, transaction_id)
    return next((one for one in reversed(transactions.children(connection, found.id)) if one.digest), found)


def _nothing_recorded(noun: str, transaction_id: int) -> NotFound:
    return NotFound(noun, f"of transaction {transaction_id}", hint="It is recorded when a graph is begun.")


def _with_runner(connection: Connection, found: Transaction) -> Transaction:
    if found.is_final or found.parent_id is not None:
        return found
    working = runners.find(connection, found.cluster_id)
    is_ours = working is not None and working.transaction_id == found.id
    alive = is_ours and working is not None and recovery.is_alive(working)
    return replace(found, runner=recovery.ALIVE if alive else recovery.GONE)


def _new(request: ExecutionRequest, name: str) -> Transaction:
    return Transaction(
        0, str(uuid.uuid4()), request.cluster_id, name, TransactionStatus.RUNNING, request, time_start=recovery.now()
    )


def _inserted(connection: Connection, parent: Transaction, graph_type: str) -> Transaction:
    child = replace(
        _new(parent.request, CHILD),
        parent_id=parent.id, graph_type=graph_type, status=TransactionStatus.PENDING, time_start=None,
    )  # fmt: skip
    return replace(child, id=transactions.insert(connection, child))


def _planned_only(connection: Connection, transaction: Transaction, made: Plan) -> None:
    """A dry run ends as soon as it is planned."""
    message = reports.dry_run_message(made)
    moment = recovery.now()
    transactions.update(
        connection,
        replace(transaction, status=TransactionStatus.READY, progress=100, message=message, digest=made.digest,
                findings=made.findings, time_start=transaction.time_start or moment, time_end=moment),
    )  # fmt: skip


def _event(parent: Transaction, status: TransactionStatus, message: str = "") -> Event:
    return Event(0, recovery.now(), EventKind.TRANSACTION, parent.id, parent.id, status=status, message=message)


def _require_request(request: ExecutionRequest) -> None:
    if not request.graph_types:
        raise UsageError("There is no graph to execute.", hint="Name at least one graph type.")
    if request.dry_run and request.noop:
        raise UsageError("A run is a dry run or a noop run, not both.", hint="Choose --dry-run or --noop.")
    for kind in request.graph_types:
        lookup.require_type(kind)


def _meant(request: ExecutionRequest) -> ExecutionRequest:
    """The request; one that names the executor that runs nothing is a noop run, so that nothing counts as done.

    Nodes whose own executor that is are another matter: what became of them is all that there is to know of them.
    """
    if request.executor != ExecutorKind.NOOP or request.dry_run:
        return request
    return replace(request, noop=True)


def _require_free(connection: Connection, cluster_id: int) -> None:
    """Nothing happens when nothing runs on an environment; `Conflict` that names what does otherwise."""
    found = transactions.unfinished(connection, cluster_id)
    if found is None:
        return
    if _with_runner(connection, found).runner == recovery.ALIVE:
        raise Conflict(
            f"Transaction {found.id} runs on environment {cluster_id} already.",
            hint=f"Wait for it (`fuel2 task watch {found.id}`), or stop it (`fuel2 env stop-deployment {cluster_id}`).",
        )
    raise Conflict(
        f"Transaction {found.id} has not ended on environment {cluster_id}: its runner was killed.",
        hint=f"Go on with it (`fuel2 task resume {found.id}`), or end it (`fuel2 task stop {found.id}`).",
    )


def _require_resumable(connection: Connection, found: Transaction) -> None:
    if found.is_final:
        raise Conflict(
            f"Transaction {found.id} has ended: it is {found.status}.",
            hint="Execute the graph again: what is done and has not changed is skipped.",
        )
    if _with_runner(connection, found).runner == recovery.ALIVE:
        raise Conflict(f"Transaction {found.id} runs already.", hint=f"Follow it: `fuel2 task watch {found.id}`.")

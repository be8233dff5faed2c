"""Begin, read, stop and delete runs on a master, which calls them transactions, and collect the facts of earlier runs.

A master calls everything that it does in the background a transaction. A transaction does not name the run that it is
part of. The same objects, with the same ids, are also served as tasks, which do name it; but a master deletes the tasks
of an environment when its next run begins. Ids do not show it: other commands create transactions between them.

A dry run leaves a history like any other run. If its rows stay pending, because the master's orchestrator only draws
the graph, the decisions are read from the serialized tasks; this is impossible for forced runs and subgraphs. A master
keeps no events of a run: they are found by comparing its states.

As in Nailgun's `TransactionsManager`, the earlier facts for a task on a node are those of the last run in which it
succeeded there, even if that run failed as a whole; dry runs and noop runs do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from fuelclient.backends.earlier_runs import SUCCEEDED, ended_runs
from fuelclient.backends.http.answers import About, may_have_begun
from fuelclient.backends.nailgun.environment import environment_of, layers_of
from fuelclient.backends.nailgun.facet import Facet, Master, by_id, resource
from fuelclient.backends.nailgun.requests import act, require_known, require_nodes
from fuelclient.environment.checks import require_instance_statuses, require_run_statuses
from fuelclient.errors import Conflict, InvalidGraph, NotFound, Unsupported
from fuelclient.executors import registry
from fuelclient.expressions.functions import ON_FACTS, SEVERAL
from fuelclient.model.environment import Environment
from fuelclient.model.fact import NO_FACTS, DeploymentFacts
from fuelclient.model.graph import Layer
from fuelclient.model.run import (
    NO_CLUSTER,
    NOWHERE,
    PARENT,
    Action,
    DecisionByInstance,
    Event,
    EventKind,
    HistoryFilter,
    HistoryRow,
    Run,
    RunRequest,
    uid_of,
)
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.model.task import TaskType
from fuelclient.plan.inputs import Inputs, Memory, is_deployed_anew
from fuelclient.plan.plan import Check, checked
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.fact import facts_from
from fuelclient.serializers.run import execution_to, history_row_from, node_key_from, run_from
from fuelclient.support import refuses, unsupported


@dataclass(slots=True)
class Observer:
    """The events of one run, found so far.

    Event ids are only valid in this process. `seen` has the last status of each instance, and the last status and
    progress of the run and of its parts.
    """

    events: list[Event] = field(default_factory=list)
    seen: dict[tuple[object, ...], tuple[str, int]] = field(default_factory=dict)

    def update(self, parent: Run, rows: Sequence[HistoryRow], now: str) -> None:
        """Add an event for each change since the last call: instances first, so that the run ends last."""
        changes = sorted(self._instances(parent, rows, now), key=lambda event: event.time)
        self.events += [replace(event, id=len(self.events) + 1 + index) for index, event in enumerate(changes)]
        for run in (*parent.children, parent):
            state, key = (str(run.status), run.progress), ("run", run.id)
            if self.seen.get(key) != state and (key in self.seen or run.status is not RunStatus.PENDING):
                self.seen[key] = state
                event = Event(
                    len(self.events) + 1, (run.time_end if run.is_final else None) or now, EventKind.RUN, parent.id,
                    run.id, run.graph_type, status=state[0], message=run.message, progress=run.progress,
                )  # fmt: skip
                self.events.append(event)

    def is_new(self, row: HistoryRow) -> bool:
        return row.status != self._before(row)

    def _before(self, row: HistoryRow) -> str:
        return self.seen.get(_key(row), (str(InstanceStatus.PENDING), 0))[0]

    def _instances(self, parent: Run, rows: Sequence[HistoryRow], now: str) -> Iterator[Event]:
        for row in rows:
            key, before = _key(row), self._before(row)
            if row.status == before or row.node == NOWHERE:
                continue
            self.seen[key] = (str(row.status), 0)
            event = Event(
                0, row.time_start or now, EventKind.INSTANCE, parent.id, row.run_id, row.graph_type, row.task, row.node,
                str(InstanceStatus.RUNNING),
            )  # fmt: skip
            has_run = row.status.is_final and row.status is not InstanceStatus.SKIPPED
            if before == InstanceStatus.PENDING and row.time_start and has_run:
                yield event  # its beginning was not seen
            time = (row.time_start if row.status is InstanceStatus.RUNNING else row.time_end) or now
            yield replace(event, time=time, status=str(row.status), reason=row.reason, message=row.message)


def _key(row: HistoryRow) -> tuple[object, ...]:
    return "instance", row.run_id, row.task, row.node


_READS_EARLIER_FACTS = re.compile(rf"\b(?:{'|'.join({**ON_FACTS, **SEVERAL})})\s*\(")
"""An expression that reads the facts of earlier runs."""

_FAILED = HistoryFilter(statuses=(InstanceStatus.ERROR,))


@dataclass(frozen=True, slots=True)
class History:
    """The ended runs of single graphs on an environment, without dry and noop runs, by id.

    `succeeded` requests the instances of a run that succeeded. `facts` requests its facts, or raises `NotFound`.
    """

    ended: Sequence[Run]
    succeeded: Callable[[Run], Sequence[HistoryRow]]
    facts: Callable[[int], DeploymentFacts]


def memory_of(
    history: History, environment: Environment, layers: Mapping[str, Sequence[Layer]], *, force: bool = False
) -> Memory | None:
    """The memory of earlier runs about the tasks in `layers`; without facts with `force`.

    Return None if the facts of one of these runs are not available. Without a task that looks back, nothing is read.
    """
    forgotten = tuple(str(node.id) for node in environment.nodes if is_deployed_anew(node))
    tasks = (task for type_layers in layers.values() for layer in type_layers for task in layer.tasks)
    reading_earlier = {task.id for task in tasks if _READS_EARLIER_FACTS.search(str(task.attributes))}
    last: dict[tuple[str, str], int] = {}
    facts: dict[int, DeploymentFacts] = {}
    if force or not reading_earlier:
        return Memory(forgotten=forgotten)
    for run in reversed(history.ended):
        keys = {(row.task, uid_of(row.node)) for row in history.succeeded(run) if row.task in reading_earlier}
        if not (new := {key for key in keys if key not in last and key[1] not in forgotten}):
            continue
        try:
            facts[run.id] = history.facts(run.id)
        except NotFound:
            return None
        last.update(dict.fromkeys(new, run.id))
    return Memory(facts, last, forgotten)


_HISTORY = "deployment_history/"
_MAX_SUMMARY_CHARACTERS = 200


def is_user_run(run: Run) -> bool:
    """Whether a transaction is a run that a user started, which may have parts."""
    return run.name == PARENT and not run.graph_type


def with_relatives(run: Run, tasks: Sequence[Run]) -> Run:
    """Add its parts and its parent to a run, if the tasks of its environment include them.

    Its children are the parts that ran a graph; its request gets their graph types.
    """
    own = next((task for task in tasks if task.id == run.id), run)
    parts = (task for task in tasks if task.parent_id == run.id and task.graph_type)
    children = tuple(sorted(parts, key=lambda part: part.id))
    request = replace(run.request, graph_types=tuple(child.graph_type for child in children) or run.request.graph_types)
    return replace(run, parent_id=own.parent_id, children=children or run.children, request=request)


def summary_line(summary: Mapping[str, Any]) -> str:
    """The summary that a task reported, on one line, without empty and zero values.

    >>> summary_line({"resources": {"failed": 1, "total": 3, "skipped": 0}, "raw": ""})
    'resources failed: 1, resources total: 3'
    """
    line = ", ".join(f"{name}: {value}" for name, value in _leaves(summary) if value not in (None, "", 0))
    return line if len(line) <= _MAX_SUMMARY_CHARACTERS else f"{line[:_MAX_SUMMARY_CHARACTERS]} ..."


def _leaves(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, inner in value.items():
        yield from _leaves(inner, f"{name} {key}".strip())


_IDLE = frozenset({TaskType.SKIPPED, TaskType.STAGE})


def _history_rows(data: Any, run_id: int, graph_type: str) -> Iterator[HistoryRow]:
    return (history_row_from(record, run_id, graph_type) for record in objects(data, "row of a history"))


EVERYTHING = HistoryFilter()
_RUNS_FOR_DURATIONS = 3
"""Durations come from this many ended runs: each takes a request, with a row for every task instance."""


class Runs(Facet):
    noun = "run"
    pause = 1.0

    def __init__(self, master: Master) -> None:
        super().__init__(master)
        self._observers: dict[int, Observer] = {}
        self._latest: Run | None = None

    def begin(
        self,
        request: RunRequest,
        *,
        may_idle: bool = False,  # noqa: ARG002 (a master also begins runs without tasks)
        check: bool = True,  # noqa: ARG002
        digest: str = "",  # noqa: ARG002
    ) -> Run:
        """Check names here, because a master reports success for unknown ones and runs nothing.

        The master checks the graph, but not whether nodes are ready.
        """
        request = checked(request, registry.runs_nothing)
        require_known(self._master, request)
        unsure = may_have_begun(request.cluster_id)
        about = About("environment", request.cluster_id, invalid=InvalidGraph, unsure=unsure)
        return self.get(run_from(self._session.post("graphs/execute/", about, execution_to(_for_master(request)))).id)

    check = unsupported(
        "The nodes of a Fuel master are reached from its machine, not from this one.",
        hint="Run `fuel2 node check` there, without --server.",
    )

    def act(self, action: Action, request: RunRequest) -> Run:
        """Begin the action; the master adds the parts of the run later."""
        require_nodes(self._master, request)
        return act(self._master, action, request)

    def decided(self, part: Run, request: RunRequest) -> DecisionByInstance:
        """Read the decisions from the history, or from the serialized tasks where its rows stay pending."""
        history = self._at(part.id, _HISTORY).get()
        rows = [row for row in _history_rows(history, part.id, part.graph_type) if row.node != NOWHERE]
        if any(row.status is not InstanceStatus.PENDING for row in rows):
            return {
                (row.task, row.node): row.status is not InstanceStatus.SKIPPED and row.type not in _IDLE for row in rows
            }
        if request.force or request.subgraphs:
            return {}
        serialized = resource(self._session, "environment", request.cluster_id, "serialized_tasks/").get(
            graph_type=part.graph_type, nodes=request.node_ids or None, tasks=request.task_names or None
        )
        noun = "serialized task"
        return {
            (task.text("id"), node_key_from(uid)): task.text("type") not in _IDLE
            for uid, tasks in Answer(serialized, "serialized graph").mapping("tasks_graph").items()
            for task in (Answer(task, noun) for task in objects(tasks, noun))
        }

    def inputs(self, request: RunRequest) -> Inputs:
        """Collect the facts of earlier runs, and the durations of the last ones, from their histories."""
        environment = environment_of(self._master, request.cluster_id)
        layers = {
            graph_type: layers_of(self._master, environment, graph_type)
            for graph_type in dict.fromkeys(request.graph_types)
        }
        facts = self._master.facts.effective(request.cluster_id)
        past = self._past(request.cluster_id)
        memory = memory_of(past, environment, layers, force=request.force)
        taken = durations(row for run in past.ended[-_RUNS_FOR_DURATIONS:] for row in past.succeeded(run))
        return Inputs(environment, layers, facts, memory, taken)

    def checker(self, request: RunRequest, inputs: Inputs) -> Check:  # noqa: ARG002 (a master checks by itself)
        """Accept every instance: a master can run every type of task."""
        return lambda _task, _node, _rendered: ""

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        require_run_statuses(statuses)
        about = None if cluster_id is None else About("environment", cluster_id)
        data = self._session.get(
            "transactions/", about, cluster_id=cluster_id, statuses=tuple(statuses) or None,
            transaction_types=tuple(names) or None,
        )  # fmt: skip
        return [
            run
            for run in by_id(run_from, data, "transaction")
            if cluster_id in (None, run.cluster_id)
            and (not statuses or run.status in statuses)
            and (not names or run.name in names)
        ]

    def get(self, run_id: int) -> Run:
        """Find the parts of a run among the tasks, because a transaction does not name them."""
        run = self._with_relatives(self._transaction(run_id))
        self._latest = run
        return run

    def delete(self, *run_ids: int, force: bool = False) -> tuple[str, ...]:
        """Delete one run after another; a master does not report which files stay on its nodes."""
        for run_id in run_ids:
            self._at(run_id).delete(force=force or None)
            self._observers.pop(run_id, None)
        return ()

    removable = unsupported(
        "A Fuel master does not say which parts a run has, so runs that it still needs could be deleted.",
        hint="Delete runs by their ids.",
    )

    outline = page = column = unsupported("A Fuel master sends the history of a run as a whole.")

    def history(self, run_id: int, filters: HistoryFilter = EVERYTHING) -> Sequence[HistoryRow]:
        """Collect the histories of the parts: a run as a whole has none on a master."""
        require_instance_statuses(filters.statuses)
        return self._history(self._transaction(run_id), filters)

    def events(self, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """Make events of the changes since the last call, because a master keeps none. A run that was just read is not
        read again: followers read a run and then its events."""
        latest, self._latest = self._latest, None
        parent = latest if latest is not None and latest.id == run_id and is_user_run(latest) else self._parent(run_id)
        observer = self._observers.setdefault(parent.id, Observer())
        rows = self._with_failure_messages(observer, self._history(parent, EVERYTHING, summary=False))
        observer.update(parent, rows, now=datetime.now(UTC).isoformat())
        return [event for event in observer.events if event.id > after][:limit]

    @refuses("kill", "A Fuel master cannot kill running tasks.", hint="Stop it without --kill.")
    def stop(self, run_id: int, *, kill: bool = False) -> Run:  # noqa: ARG002
        """Stop everything on the environment of the run: a master cannot stop a single run."""
        parent = self._parent(run_id)
        if parent.is_final:
            raise Conflict(f"Run {parent.id} has ended already: it is {parent.status}.")
        self._stop(parent.cluster_id)
        return self.get(parent.id)

    @refuses("kill", "A Fuel master cannot kill running tasks.", hint="Stop it without --kill.")
    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:  # noqa: ARG002
        return self.get(self._stop(cluster_id).id)

    resume = unsupported("A Fuel master cannot resume run {0}.", hint="Execute the graph again.")
    logs = unsupported(
        "A Fuel master does not give out what {1} printed on node {2}.",
        hint="Look at /var/log/astute/ and /var/log/remote/ on the master.",
    )

    def deployment_info(self, run_id: int) -> DeploymentFacts:
        return facts_from(self._recorded(run_id, "deployment_info"))

    def settings(self, run_id: int) -> Mapping[str, Any]:
        data = Answer(self._recorded(run_id, "settings"), "settings")
        return data.mapping("editable") if set(data.data) <= {"editable", "generated"} else data.rest()

    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        return Answer(self._recorded(run_id, "network_configuration"), "network configuration").rest()

    def _recorded(self, run_id: int, what: str) -> Any:
        """The record of the last part of a run. Raise `NotFound` if there is none."""
        run = self._transaction(run_id)
        run = run if run.graph_type else self._with_relatives(run)
        part = run.children[-1].id if run.children else run_id
        if not (data := self._session.get(f"transactions/{part}/{what}", About("run", run_id))):
            raise NotFound(what.replace("_", " "), f"of run {run_id}", hint="It was not recorded.")
        return data

    def _stop(self, cluster_id: int) -> Run:
        return run_from(resource(self._session, "environment", cluster_id, "stop_deployment/").put({}))

    def _past(self, cluster_id: int) -> History:
        """The earlier runs on an environment; the history of each is read once."""
        ended = {run.id: run for run in ended_runs(self._master, cluster_id)}
        rows = cache(lambda run_id: self._rows(ended[run_id], SUCCEEDED))
        return History(list(ended.values()), lambda run: rows(run.id), self.deployment_info)

    def _transaction(self, run_id: int) -> Run:
        """Read a run as a master returns it: without its parts and its parent."""
        return run_from(self._at(run_id).get())

    def _with_relatives(self, run: Run) -> Run:
        if run.cluster_id == NO_CLUSTER or run.parent_id is not None or not (is_user_run(run) or run.graph_type):
            return run
        tasks: list[Run] = []
        with suppress(Unsupported):  # some servers do not have this path
            tasks += map(run_from, objects(self._session.get("tasks/", cluster_id=run.cluster_id), "task"))
        return with_relatives(run, tasks)

    def _history(self, run: Run, filters: HistoryFilter, *, summary: bool = True) -> Sequence[HistoryRow]:
        with_parts = run if run.children or run.graph_type else self._with_relatives(run)
        return [row for part in (with_parts.children or (with_parts,)) for row in self._rows(part, filters, summary)]

    def _with_failure_messages(self, observer: Observer, rows: Sequence[HistoryRow]) -> Sequence[HistoryRow]:
        """Add the tasks' summaries as messages to the rows that have failed since the last call."""
        failed = {row.run_id: row for row in rows if row.status is InstanceStatus.ERROR and observer.is_new(row)}
        reports = {
            _key(reported_row): reported_row
            for row in failed.values()
            for reported_row in self._rows_of(row.run_id, row.graph_type, _FAILED, True)
        }
        return [reports.get(_key(row), row) for row in rows]

    def _parent(self, run_id: int) -> Run:
        run = self.get(run_id)
        return run if run.parent_id is None else self.get(run.parent_id)

    def _rows(self, part: Run, filters: HistoryFilter, summary: bool = True) -> Sequence[HistoryRow]:
        return [] if part.status is RunStatus.PENDING else self._rows_of(part.id, part.graph_type, filters, summary)

    def _rows_of(self, run_id: int, graph_type: str, filters: HistoryFilter, summary: bool) -> Sequence[HistoryRow]:
        data = self._at(run_id, _HISTORY).get(
            include_summary=summary or None, nodes=filters.nodes or None, statuses=filters.statuses or None,
            tasks_names=filters.tasks or None,
        )  # fmt: skip
        return [
            # the summary that a task reports is the only reason for a failure that a Fuel master records
            replace(row, message=summary_line(row.summary) if row.status is InstanceStatus.ERROR else "")
            for row in _history_rows(data, run_id, graph_type)
            if filters.passes(row)  # Fuel 9.0 reads none of the filters, 9.0.1 adds rows that were skipped
        ]


def _for_master(request: RunRequest) -> RunRequest:
    """Remove the fields of a request that a master does not support, such as `on_originals`: it has no copies.

    A master computes all facts itself, so `unknown` and `assumed` are dropped for a dry run; otherwise raise
    `Unsupported`.
    """
    request = replace(request, on_originals=False)
    if not request.unknown and request.assumed.is_empty:
        return request
    if not request.dry_run:
        raise Unsupported(
            "A Fuel master computes the facts of a run itself.",
            hint="Leave --unknown and --assume-facts out, or upload the facts: fuel2 env deployment-facts upload.",
        )
    return replace(request, unknown="", assumed=NO_FACTS)


def durations(rows: Iterable[HistoryRow]) -> dict[tuple[str, str, str], float]:
    """The seconds that task instances took, by graph type, task and node, in the last run of each."""
    taken: dict[tuple[str, str, str], float] = {}
    for row in rows:
        seconds = _seconds(row.time_start, row.time_end)
        if row.status is InstanceStatus.READY and seconds is not None:
            taken[row.graph_type, row.task, uid_of(row.node)] = seconds
    return taken


def _seconds(start: str | None, end: str | None) -> float | None:
    """The seconds between two times in ISO 8601; None if one is not a valid time.

    >>> _seconds("2016-03-25T17:22:10.5", "2016-03-25T17:22:30"), _seconds(None, "x")
    (19.5, None)
    """
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds()
    except (TypeError, ValueError):  # invalid, or only one has a time zone
        return None

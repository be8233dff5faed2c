"""Executions on a master: begun, looked at, stopped and deleted there; events are what changes between two looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fuelclient.backends.nailgun.environment import environment_of, layers_of
from fuelclient.backends.nailgun.errors import About
from fuelclient.backends.nailgun.events import Observed
from fuelclient.backends.nailgun.facts import Facts
from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import Conflict, InvalidGraph, NotFound, Unsupported, UsageError
from fuelclient.executors import registry
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.graph import MergedTask
from fuelclient.model.run import (
    Event,
    HistoryFilter,
    HistoryRow,
    Logs,
    NodeKey,
    Run,
    RunRequest,
)
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Check
from fuelclient.plan.request import checked
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.environment import inputs_from
from fuelclient.serializers.fact import facts_from
from fuelclient.serializers.history import event_from, history_row_from, logs_from
from fuelclient.serializers.run import execution_to, run_from

EVERYTHING = HistoryFilter()
_REMEMBERED = 3
"""How many finished runs are looked at for durations: each is one request, with a row for every task instance."""

_STATUSES = "pending, ready, running, error, skipped"
_NO_KILL = "A Fuel master ends no task that runs."


def _now() -> str:
    return datetime.now(UTC).isoformat()


class Runs:
    """Executions; see `base.Runs`. `now` tells the time of what a master does not date."""

    def __init__(self, session: Session, facts: Facts, *, now: Callable[[], str] = _now) -> None:
        self._session, self._facts = session, facts
        self._now = now
        self._observed: dict[int, Observed] = {}

    def begin(self, request: RunRequest, *, may_idle: bool = False) -> Run:
        """As `base.Runs`; whether the graph can run, the master says. Only a server of ours reads `strict`."""
        request = checked(request, registry.runs_nothing)
        about = About("environment", request.cluster_id, invalid=InvalidGraph)
        body, strict = execution_to(request), None if may_idle else True
        begun = run_from(self._session.post("graphs/execute/", body, about, strict=strict))
        return self.get(begun.id)

    def inputs(self, request: RunRequest) -> Inputs:
        """As `base.Runs`. What ran before, and on which facts, only a Fuel master itself knows; durations are those of
        the last finished runs."""
        about = About("environment", request.cluster_id)
        if self._session.capabilities.inputs:
            path = f"clusters/{request.cluster_id}/inputs/"
            types = tuple(dict.fromkeys(request.graph_types))
            return inputs_from(self._session.get(path, about, graph_types=types, force=request.force or None))
        environment = environment_of(self._session, request.cluster_id)
        layers = {
            graph_type: layers_of(self._session, environment, graph_type)
            for graph_type in dict.fromkeys(request.graph_types)
        }
        facts = self._facts.effective(request.cluster_id)
        return Inputs(environment, layers, facts, durations=self._durations(request.cluster_id))

    def checker(self, request: RunRequest, inputs: Inputs) -> Check:  # noqa: ARG002 (the master's own business)
        """As `base.Runs`: the orchestrator of a master has a handler for every type."""
        return _runs_there

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        for status in statuses:
            if status not in set(RunStatus):
                raise UsageError(f"{status!r} is no status.", hint=f"Use {', '.join(RunStatus)}.")
        about = None if cluster_id is None else About("environment", cluster_id)
        data = self._session.get(
            "transactions/", about, cluster_id=cluster_id, statuses=tuple(statuses) or None,
            transaction_types=tuple(names) or None, include_details=True,
        )  # fmt: skip
        found = [run_from(one) for one in objects(data, "transaction")]
        return sorted(found, key=lambda one: one.id)

    def get(self, run_id: int) -> Run:
        """As `base.Runs`. A Fuel master does not say which parts an execution has: they are looked for among
        the transactions of its environment."""
        data = self._session.get(f"transactions/{run_id}/", _about(run_id), include_details=True)
        found = run_from(data)
        if "children" in data or found.parent_id is not None:
            return found
        children = [one for one in self.list(cluster_id=found.cluster_id) if one.parent_id == found.id]
        return replace(found, children=tuple(children))

    def delete(self, run_id: int, *, force: bool = False) -> tuple[str, ...]:
        """As `base.Runs`; a Fuel master says nothing of its nodes."""
        data = self._session.delete(f"transactions/{run_id}/", _about(run_id), force=force)
        self._observed.pop(run_id, None)
        return Answer(data, "deletion").texts("left") if data and self._session.capabilities.leftovers else ()

    def history(self, run_id: int, filters: HistoryFilter = EVERYTHING) -> Sequence[HistoryRow]:
        """As `base.Runs`. A Fuel master has the history of a part only: those of all parts are asked for."""
        for status in filters.statuses:
            if status not in set(InstanceStatus):
                raise UsageError(f"Statuses parameter could be only: {_STATUSES}", hint=f"{status!r} is none.")
        found = self.get(run_id)
        parts = found.children or (found,)
        return [row for part in parts for row in self._rows(part, filters)]

    def events(self, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """As `base.Runs`. A Fuel master keeps none: they are what can be seen by looking, and their ids hold in
        this process only."""
        if self._session.capabilities.events:
            path = f"transactions/{run_id}/events/"
            data = self._session.get(path, _about(run_id), after=after, limit=limit)
            return [event_from(one) for one in objects(data, "event")]
        parent = self._parent(run_id)
        observed = self._observed.setdefault(parent.id, Observed())
        observed.look(parent, self.history(parent.id), self._now())
        return [event for event in observed.events if event.id > after][:limit]

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        """As `base.Runs`; a Fuel master stops gracefully only, and everything on the environment."""
        if self._session.capabilities.kill:
            path = f"transactions/{run_id}/stop/"
            data = self._session.post(path, {"kill": kill}, _about(run_id))
            return self.get(run_from(data).id)
        if kill:
            raise Unsupported(_NO_KILL, hint="Stop it without --kill.")
        parent = self._parent(run_id)
        if parent.is_final:
            raise Conflict(f"Transaction {parent.id} has ended already: it is {parent.status}.")
        self._stop(parent.cluster_id)
        return self.get(parent.id)

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        """As `base.Runs`; a Fuel master stops gracefully only. Nailgun's path of an environment has no other
        way: a server of ours is asked what runs there, and to kill that."""
        if not kill:
            return self.get(self._stop(cluster_id).id)
        if not self._session.capabilities.kill:
            raise Unsupported(_NO_KILL, hint="Stop it without --kill.")
        running = [one for one in self.list(cluster_id=cluster_id) if one.parent_id is None and not one.is_final]
        if not running:
            raise Conflict(f"Nothing to stop - deployment is not running on environment '{cluster_id}'.")
        return self.stop(running[-1].id, kill=True)

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        """As `base.Runs` on a server of ours; `Unsupported` on a Fuel master, whose own processes go on with
        what they began, or fail it."""
        if self._session.capabilities.resume:
            body = {"rerun_interrupted": rerun_interrupted}
            data = self._session.post(f"transactions/{run_id}/resume/", body, _about(run_id))
            return self.get(run_from(data).id)
        raise Unsupported(f"A Fuel master cannot go on with transaction {run_id}.", hint="Execute the graph again.")

    def logs(self, run_id: int, task: str, node: str) -> Logs:
        """As `base.Runs` on a server of ours; `Unsupported` on a Fuel master, in whose log files stays what
        tasks print."""
        if self._session.capabilities.logs:
            path = f"transactions/{run_id}/logs/"
            return logs_from(self._session.get(path, _about(run_id), task=task, node=node))
        raise Unsupported(
            f"A Fuel master does not give out what {task} printed on node {node}.",
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
        """What was recorded when the last part of an execution was planned; a Fuel master has it with the part."""
        found = self.get(run_id)
        part = found.children[-1].id if found.children else run_id
        data = self._session.get(f"transactions/{part}/{what}", _about(run_id), strict=True)
        if data is None:
            raise NotFound(what.replace("_", " "), f"of transaction {run_id}", hint="None was recorded.")
        return data

    def _stop(self, cluster_id: int) -> Run:
        path = f"clusters/{cluster_id}/stop_deployment/"
        return run_from(self._session.put(path, {}, About("environment", cluster_id)))

    def _durations(self, cluster_id: int) -> dict[tuple[str, str, str], float]:
        """How long task instances took in the last finished runs of an environment."""
        ended = [one for one in self.list(cluster_id=cluster_id) if one.parent_id is not None and one.is_final]
        return durations(row for part in ended[-_REMEMBERED:] for row in self._rows(part, EVERYTHING))

    def _parent(self, run_id: int) -> Run:
        found = self.get(run_id)
        return found if found.parent_id is None else self.get(found.parent_id)

    def _rows(self, part: Run, filters: HistoryFilter) -> Sequence[HistoryRow]:
        if part.status is RunStatus.PENDING:
            return []
        data = self._session.get(
            f"transactions/{part.id}/deployment_history/", _about(part.id), include_summary=True, include_instance=True,
            nodes=filters.nodes or None, statuses=filters.statuses or None, tasks_names=filters.tasks or None,
        )  # fmt: skip
        found = (history_row_from(one, run_id=part.id) for one in objects(data, "row of a history"))
        return [replace(row, graph_type=row.graph_type or part.graph_type) for row in found]


def durations(rows: Iterable[HistoryRow]) -> dict[tuple[str, str, str], float]:
    """Return the seconds that task instances took, by graph type, task and node; of several runs the last counts."""
    found: dict[tuple[str, str, str], float] = {}
    for row in rows:
        seconds = _seconds(row.time_start, row.time_end)
        if row.status is InstanceStatus.READY and seconds is not None:
            found[row.graph_type, row.task, "null" if row.node is None else str(row.node)] = seconds
    return found


def _seconds(start: str | None, end: str | None) -> float | None:
    """Return the time between two moments in ISO 8601; None where they are no moments.

    >>> _seconds("2016-03-25T17:22:10.5", "2016-03-25T17:22:30"), _seconds(None, "x")
    (19.5, None)
    """
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds()
    except (TypeError, ValueError):  # no moments, or one with and one without a time zone
        return None


def _runs_there(_task: MergedTask, _node: NodeKey, _rendered: Mapping[str, Any]) -> str:
    return ""


def _about(run_id: int) -> About:
    return About("transaction", run_id)

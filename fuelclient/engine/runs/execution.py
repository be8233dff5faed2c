"""Running: the graphs of an execution, one strictly after the other, by the process that owns it.

A graph is planned when the one before it has ended, on what that one left behind. The first one that does not end
well ends the execution. Everything here can be done once more after a crash: each step looks at what the store has.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuelclient import redact
from fuelclient.engine.reading.unpacked import Trees
from fuelclient.engine.runs import inputs as kept
from fuelclient.engine.runs import node_statuses
from fuelclient.engine.runs.abandon import abandon
from fuelclient.engine.runs.event_loop import GraphRun
from fuelclient.engine.runs.jobs import Jobs, plugin_scripts
from fuelclient.engine.runs.journal import Journal, set_progress, tell
from fuelclient.engine.runs.processes import now
from fuelclient.environment.plans import plan
from fuelclient.errors import FuelError, InvalidDocument, StalePlan
from fuelclient.executors.base import Executor, Job, Log
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergedTask
from fuelclient.model.node import Node
from fuelclient.model.run import EventKind, NodeKey, Run, RunRequest
from fuelclient.model.status import RunStatus, Verdict, changed
from fuelclient.plan.inputs import Inputs
from fuelclient.plan.plan import Check, Plan
from fuelclient.plan.request import require_something
from fuelclient.plan.result import Result
from fuelclient.plan.schedule import STOPPED_BY_USER, Schedule
from fuelclient.plan.select import with_primaries
from fuelclient.plan.work import by_filters
from fuelclient.store import clusters, history, nodes, plugins, runs
from fuelclient.store.database import Connection, Database

ABORTED = "Aborted"
"""What a graph says that was never begun because one before it failed. The word is Nailgun's."""


@dataclass(frozen=True, slots=True)
class Running:
    """The execution of one parent transaction by this process."""

    database: Database
    parent: Run
    pid: int
    executor: Executor
    log: Log
    rerun_interrupted: bool = False

    async def go(self) -> bool:
        """All graphs have ended, and the execution with them; False when somebody has to decide about instances
        that were interrupted."""
        with self.database.read() as connection:
            children = runs.children(connection, self.parent.id)
        for child in children:
            if not child.is_final and not await self._graph(child):
                return False
            with self.database.read() as connection:
                ended = runs.find(connection, child.id)
            if ended is None or ended.status is RunStatus.ERROR:
                break
        self._end()
        return True

    async def _graph(self, child: Run) -> bool:
        """One graph has ended; False when somebody has to decide."""
        try:
            fetched, made = self._planned(child)
        except FuelError as error:
            self._fail(child, error)
            return True
        with self.database.write() as connection:
            begin(connection, child.id, fetched, made)
        run = self._run(child, fetched, made)
        if not await run.go():
            return False
        with self.database.write() as connection:
            end(connection, self.parent.id, child.id, made, run.schedule)
        return True

    def _planned(self, child: Run) -> tuple[Inputs, Plan]:
        """The plan of a child: the one that was made when it began, or one that is made now and remembered."""
        with self.database.read() as connection:
            if child.digest:
                fetched = kept.recorded(connection, child)
            else:
                fetched = kept.read(connection, child.request, child.graph_type, before=child.id)
            present = nodes.of_cluster(connection, child.cluster_id)
            taking_part = history.nodes_of(connection, child.id)
            known = {node.id: node for node in (*fetched.environment.nodes, *present)}
            jobs = jobs_for(
                connection, self.database.path, child.id, child.request, fetched, tuple(known.values()), taking_part
            )
        made = plan(fetched, child.request, child.graph_type, checker(jobs, self.executor))
        if child.digest:
            require_digest(child, made)
            require_nodes(child, made, present)
        else:
            require_something(made)
            with self.database.write() as connection:
                remember(connection, child, fetched, made)
        return fetched, made

    def _run(self, child: Run, inputs: Inputs, made: Plan) -> GraphRun:
        with self.database.read() as connection:
            present = nodes.of_cluster(connection, child.cluster_id)
            before = history.changes(connection, child.id)
            attempts = history.attempts(connection, child.id)
            asked = runs.stop_of(connection, self.parent.id)
            taking_part = history.nodes_of(connection, child.id)
            jobs = jobs_for(connection, self.database.path, child.id, child.request, inputs, present, taking_part)

        def make(vertex: int, attempt: int) -> Job:
            return jobs.job(*made.at(vertex), made.rendered[vertex], attempt)

        return GraphRun(
            work=made.work,
            schedule=Schedule(made.work, before, stopped=STOPPED_BY_USER if asked else ""),
            journal=Journal(self.database, self.parent.id, child, self.pid),
            make=make,
            executor=self.executor,
            log=self.log,
            attempts=attempts,
            rerun_interrupted=self.rerun_interrupted,
        )

    def _fail(self, child: Run, error: FuelError) -> None:
        """A graph that cannot be planned has ended, and says why; so has all that an earlier runner began of it."""
        found = error.findings if isinstance(error, InvalidDocument) else ()
        findings = tuple(one for one in found if isinstance(one, Finding))
        with self.database.write() as connection:
            abandon(connection, self.parent.id, child, Verdict.ERROR)
            settle(connection, self.parent.id, child, RunStatus.ERROR, str(error), findings)

    def _end(self) -> None:
        """The execution has ended as its graphs have; those that were never begun are aborted."""
        with self.database.write() as connection:
            finish_parent(connection, self.parent.id)


def jobs_for(
    connection: Connection,
    engine: str,
    child_id: int,
    request: RunRequest,
    inputs: Inputs,
    present: Sequence[Node],
    taking_part: Collection[NodeKey] = (),
) -> Jobs:
    """What makes the jobs of a run on these nodes; `taking_part` are those with task instances, once that is known."""
    source = plugins.defining(connection, inputs.environment.release.id)
    scripts = plugin_scripts(inputs.environment, source, Trees(engine))
    return Jobs(child_id, request, present, inputs.facts, scripts, taking_part)


def checker(jobs: Jobs, executor: Executor) -> Check:
    """What asks the executor whether it could run an instance; once for all that are alike."""
    known: dict[Hashable, tuple[str, Mapping[str, Any]]] = {}

    def check(task: MergedTask, node: NodeKey, rendered: Mapping[str, Any]) -> str:
        key = (task.id, id(rendered), jobs.machine(node))
        if key not in known:
            job = jobs.job(task, node, rendered)
            why = executor.check(job)
            if why:
                why = redact.scrubbed(why, job.known_secrets())
            known[key] = why, rendered  # which holds what its id names
        return known[key][0]

    return check


def require_digest(child: Run, made: Plan) -> None:
    """Nothing happens when the plan is the one that a child began with; `StalePlan` otherwise."""
    if made.digest != child.digest:
        raise StalePlan(
            f"The {child.graph_type} graph of environment {child.cluster_id} has changed since transaction {child.id} "
            "began.",
            hint="Stop the transaction and execute the graph again: what is done and has not changed is skipped.",
        )


def require_nodes(child: Run, made: Plan, present: Sequence[Node]) -> None:
    """Nothing happens when the environment still has all nodes of a plan; `StalePlan` otherwise."""
    known = {node.id for node in present}
    gone = [str(node_id) for node_id in made.node_ids if node_id not in known]
    if gone:
        raise StalePlan(
            f"Transaction {child.id} cannot go on: environment {child.cluster_id} has no node {', '.join(gone)} any "
            "more.",
            hint=f"Stop it (`fuel2 task stop {child.parent_id or child.id} --kill`) and execute the graph again.",
        )


def remember(connection: Connection, child: Run, inputs: Inputs, made: Plan) -> None:
    """The child has its plan: digest, findings, what it was computed from, and a row for each instance."""
    kept.record(connection, child.id, inputs, made)
    known = runs.find(connection, child.id) or child
    runs.update(connection, replace(known, digest=made.digest, findings=made.findings))


def begin(connection: Connection, child_id: int, inputs: Inputs, made: Plan) -> None:
    """The child runs, all nodes of its fleet know of which tags they are primary, and those of which filters leave
    something are being deployed. Once only. Source: Nailgun `Cluster.set_primary_tags`, which asks no graph."""
    child = runs.find(connection, child_id)
    if child is None or child.status is not RunStatus.PENDING:
        return
    runs.update(connection, replace(child, status=changed(child.status, RunStatus.RUNNING), time_start=now()))
    tell(connection, child.parent_id or child.id, child.id, EventKind.RUN, RunStatus.RUNNING)
    if child.dry_run:
        return
    reached = {made.fleet.nodes[node].uid for node in made.work.node_of}
    left_out = {made.fleet.nodes[node].uid for node in by_filters(made.work)[1]}
    # all of the fleet: a primary without a task in this run would lose its tags to a node that becomes ready
    for node in with_primaries(nodes.of_cluster(connection, child.cluster_id), made.fleet):
        nodes.update(connection, node_statuses.begun(node) if node.id in reached - left_out else node)
    cluster = inputs.environment.cluster
    if cluster.status != ClusterStatus.DEPLOYMENT:
        current = clusters.find(connection, cluster.id) or cluster
        clusters.update(connection, replace(current, status=ClusterStatus.DEPLOYMENT))


def end(connection: Connection, parent_id: int, child_id: int, made: Plan, schedule: Schedule) -> None:
    """The child has ended as its schedule has, and its nodes with it. Once only."""
    child = runs.find(connection, child_id)
    if child is None or child.is_final:
        return
    result = schedule.result
    if not child.dry_run:
        _nodes_after(connection, parent_id, child, made, schedule)
        verdict = result.verdict
        present = nodes.of_cluster(connection, child.cluster_id)
        current = clusters.find(connection, child.cluster_id)
        if current is not None:
            status = node_statuses.cluster_status(present, verdict)
            clusters.update(connection, replace(current, status=status))
    ended = replace(child, result=_counts(result, schedule, made))
    runs.update(connection, ended)
    settle(connection, parent_id, ended, result.verdict.status, result.message, child.findings)


def _counts(result: Result, schedule: Schedule, made: Plan) -> dict[str, object]:
    counts: dict[str, int] = {}
    for vertex in range(made.work.size):
        status = str(schedule.status(vertex))
        counts[status] = counts.get(status, 0) + 1
    return {"verdict": str(result.verdict), **dict(sorted(counts.items()))}


def _nodes_after(connection: Connection, parent_id: int, child: Run, made: Plan, schedule: Schedule) -> None:
    reasons = {change.vertex: change.reason for change in history.changes(connection, child.id)}
    present: dict[object, Node] = {node.id: node for node in nodes.of_cluster(connection, child.cluster_id)}
    before: dict[object, Node] = {node.id: node for node in runs.nodes_of(connection, child.id)}
    for index, fate in sorted(node_statuses.fates(made.work, schedule, reasons).items()):
        uid = made.fleet.nodes[index].uid
        node = present.get(uid)
        if node is None:
            continue
        as_before = node_statuses.untouched(node, before[uid]) if uid in before else node
        wanted = node_statuses.after(as_before, fate, made.metadata)
        nodes.update(connection, wanted)
        tell(connection, parent_id, child.id, EventKind.NODE, wanted.status, node=node.id)


def settle(
    connection: Connection,
    parent_id: int,
    child: Run,
    status: RunStatus,
    message: str,
    findings: tuple[Finding, ...] = (),
) -> None:
    """A child has ended: its status, its message, its time, and an event."""
    ended = replace(
        child, status=changed(child.status, status), message=message, findings=findings, progress=100,
        time_start=child.time_start or now(), time_end=now(),
    )  # fmt: skip
    runs.update(connection, ended)
    set_progress(connection, parent_id, child.id, 100)
    tell(connection, parent_id, child.id, EventKind.RUN, status, message, progress=100)


def finish_parent(connection: Connection, parent_id: int) -> None:
    """The parent has ended as the last of its children that began; those after it are aborted. Once only."""
    parent = runs.find(connection, parent_id)
    if parent is None or parent.is_final:
        return
    children = runs.children(connection, parent_id)
    failed = next((one for one in children if one.status is RunStatus.ERROR), None)
    for child in children:
        if not child.is_final:
            settle(connection, parent_id, child, RunStatus.ERROR, ABORTED)
    status = RunStatus.READY if failed is None else RunStatus.ERROR
    if failed is not None:
        message = failed.message if len(children) == 1 else f"Graph {failed.graph_type}: {failed.message}"
    else:
        message = children[-1].message if len(children) == 1 else f"All {len(children)} graphs ended."
    ended = replace(
        parent, status=changed(parent.status, status), message=message, progress=100, time_end=now(),
        result=children[0].result if len(children) == 1 else {},
    )  # fmt: skip
    runs.update(connection, ended)
    tell(connection, parent_id, parent_id, EventKind.RUN, status, message, progress=100)

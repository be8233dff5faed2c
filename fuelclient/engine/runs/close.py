"""End runs: settle instances, nodes, the environment and the run itself; kill the commands of a dead runner.

Source of the statuses: Nailgun `TransactionsManager` and the `on_success`, `on_error` and `on_stop` of graphs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from fuelclient.engine.runs import inputs as run_inputs
from fuelclient.engine.runs.jobs import Provider, jobs_of, remembered_task
from fuelclient.engine.runs.processes import now
from fuelclient.environment.plans import evaluation_of
from fuelclient.errors import FuelError
from fuelclient.executors.job import Executor, Job
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.finding import Finding
from fuelclient.model.node import DELETED, DEPLOY_ERROR, Node, NodeStatus
from fuelclient.model.run import Event, EventKind, HistoryFilter, NodeKey, Run
from fuelclient.model.status import NEVER_RAN, InstanceStatus, Reason, RunStatus, Verdict, changed
from fuelclient.plan.deploy_changes import DELETION_TYPES
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.plan import Plan
from fuelclient.plan.result import NOTHING_TO_DO
from fuelclient.plan.schedule import Change, Schedule
from fuelclient.plan.work import Work, by_filters
from fuelclient.store import history, runners, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.history import Written
from fuelclient.store.inventory import clusters, nodes


class Fate(StrEnum):
    """What happened to a node in a run, as the key of the graph's metadata that says what follows."""

    SUCCESS = "on_success"
    ERROR = "on_error"
    STOP = "on_stop"


_DEFAULTS: Mapping[Fate, Mapping[str, Any]] = {
    Fate.SUCCESS: {"status": NodeStatus.READY},
    Fate.ERROR: {"status": NodeStatus.ERROR},
    Fate.STOP: {"status": NodeStatus.STOPPED},
}


def fates(work: Work, schedule: Schedule, reasons: Mapping[int, str]) -> dict[int, Fate]:
    """Return the fate of each node, by index of the fleet, after a run.

    A node where an instance failed has failed. A node where one never ran, or was interrupted by a stop, is stopped.
    Nodes that filters left out have no fate. `reasons` are those of the instances.
    """
    fates: dict[int, Fate] = {}
    _, left_out = by_filters(work)
    cut = set(schedule.result.interrupted)
    for vertex in range(work.size):
        node = work.node_of[vertex]
        if node == SYNC or node in left_out:
            continue
        fates.setdefault(node, Fate.SUCCESS)
        if schedule.status(vertex) is InstanceStatus.ERROR and vertex not in cut:
            fates[node] = Fate.ERROR
        elif (vertex in cut or reasons.get(vertex) in NEVER_RAN) and fates[node] is Fate.SUCCESS:
            fates[node] = Fate.STOP
    return fates


def after(node: Node, fate: Fate, metadata: Mapping[str, Any], *, deletes: bool = False) -> Node:
    """Return a node after a run, by its fate and the graph's metadata.

    Without metadata, nodes become ready, failed or stopped, and those that are pending deletion are freed by a graph
    that `deletes`; `node_attributes: {}` changes nothing. A node that becomes ready takes on its pending roles, and is
    no longer a pending addition.
    """
    stated = metadata.get(fate)
    attributes = stated.get("node_attributes") if isinstance(stated, Mapping) else None
    frees = deletes and node.pending_deletion and fate is Fate.SUCCESS
    default = {"status": DELETED} if frees else _DEFAULTS[fate]
    wanted: Mapping[str, Any] = attributes if isinstance(attributes, Mapping) else default
    status = str(wanted.get("status") or "")
    if status == DELETED:
        return node.freed(NodeStatus.DISCOVER)
    changed = replace(
        node,
        status=status or node.status,
        pending_addition=bool(wanted.get("pending_addition", node.pending_addition and status != NodeStatus.READY)),
        pending_deletion=bool(wanted.get("pending_deletion", node.pending_deletion)),
        error_type=str(wanted.get("error_type") or ""),
    )
    if status == NodeStatus.READY:
        return replace(changed, roles=node.all_roles, pending_roles=())
    if status == NodeStatus.ERROR:
        return replace(changed, error_type=changed.error_type or DEPLOY_ERROR)
    return changed


def untouched(node: Node, before: Node) -> Node:
    """Return a node with the status that it had before a run."""
    return replace(node, status=before.status, error_type=before.error_type)


def cluster_status(nodes: Iterable[Node], verdict: Verdict) -> ClusterStatus:
    """Return the status of an environment after a run: operational if all of its nodes are ready."""
    if verdict is Verdict.STOPPED:
        return ClusterStatus.STOPPED
    are_ready = [node.status == NodeStatus.READY and not node.error_type for node in nodes]
    return ClusterStatus.OPERATIONAL if are_ready and all(are_ready) else ClusterStatus.PARTIALLY_DEPLOYED


def tell(
    connection: Connection,
    parent_id: int,
    run_id: int,
    kind: EventKind,
    status: str,
    message: str = "",
    *,
    node: int | None = None,
    progress: int = 0,
) -> None:
    """Store an event that is not about a task instance."""
    history.append_event(
        connection,
        Event(0, now(), kind, parent_id, run_id, node=node, status=status, message=message, progress=progress),
    )


ABORTED = "Aborted"
"""The message of a graph that never began because one before it failed. The word is Nailgun's."""

_NAMED = 5
"""How many commands that may still be running a message names."""


def finish_graph(connection: Connection, parent_id: int, child_id: int, plan: Plan, schedule: Schedule) -> None:
    """End a child with the result of its schedule, once: a child that has ended stays as it is."""
    child = runs.find(connection, child_id)
    if child is None or child.is_final:
        return
    result = schedule.result
    if not child.dry_run:
        reasons = {change.vertex: change.reason for change in history.changes(connection, child.id)}
        by_node: dict[NodeKey, Fate] = {
            plan.fleet.nodes[index].uid: fate for index, fate in sorted(fates(plan.work, schedule, reasons).items())
        }
        before: dict[NodeKey, Node] = {node.id: node for node in runs.nodes_of(connection, child.id)}
        present = _present(connection, child)
        deletes = child.graph_type in DELETION_TYPES
        if deletes and result.verdict is Verdict.READY and not (child.request.task_names or child.request.subgraphs):
            marked = [node.id for node in present.values() if node.pending_deletion and node.id in plan.node_ids]
            by_node = {**dict.fromkeys(marked, Fate.SUCCESS), **by_node}  # the graph may have no task for some of them
        ended = [
            (untouched(present[uid], before.get(uid, present[uid])), fate)
            for uid, fate in by_node.items()
            if uid in present
        ]
        _end_nodes(connection, parent_id, child, ended, result.verdict, plan.metadata, deletes=deletes)
    counts = Counter(str(schedule.status(vertex)) for vertex in range(plan.work.size))
    child = replace(child, result={"verdict": str(result.verdict), **dict(sorted(counts.items()))})
    settle(connection, parent_id, child, result.verdict.status, result.message, child.findings)


def abandon(
    connection: Connection,
    parent_id: int,
    child: Run,
    verdict: Verdict,
    message: str,
    findings: tuple[Finding, ...] = (),
    killed: Mapping[str, str] | None = None,
) -> None:
    """End a child that will not go on: what was running has failed, and what never ran is skipped.

    `killed` is what `end_commands` returned for the commands that were running; None if they were left alone.
    """
    names = history.running_names(connection, child.id)
    changes = []
    for vertex, status in history.statuses(connection, child.id):
        if status is InstanceStatus.RUNNING:
            change = Change(vertex, InstanceStatus.ERROR, Reason.INTERRUPTED)
            changes.append(Written(change, _interrupted((killed or {}).get(names[vertex]))))
        elif status is InstanceStatus.PENDING:
            changes.append(Written(Change(vertex, InstanceStatus.SKIPPED, Reason.STOPPED)))
    moment = now()
    history.write(connection, child.id, changes, moment)
    history.append_events(connection, parent_id, child.id, [written.change for written in changes], moment, 100)
    if child.status is RunStatus.RUNNING and not child.dry_run:
        all_killed = verdict is Verdict.STOPPED and killed is not None and not any(killed.values())
        fates = _fates_from_history(connection, child, Fate.STOP if all_killed else Fate.ERROR)
        present = _present(connection, child)
        # only what the child was deploying: it never touched the nodes that filters left out
        ended = [
            (present[uid], fate)
            for uid, fate in fates.items()
            if uid in present and present[uid].status == NodeStatus.DEPLOYING
        ]
        _end_nodes(connection, parent_id, child, ended, verdict, {})
    settle(connection, parent_id, child, RunStatus.ERROR, message, findings)


def close(connection: Connection, parent: Run, killed: Mapping[str, str] | None = None, failure: str = "") -> None:
    """End a run whose runner is gone and that will not be resumed. `killed` is as in `abandon`; a `failure` says that
    no user stopped it."""
    children = runs.children(connection, parent.id)
    left = [name for child in children for name in history.running_names(connection, child.id).values()]
    if killed is not None:
        left = [name for name in left if killed.get(name)]
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    why = failure or "Stopped by user after its runner was killed"
    verdict = Verdict.ERROR if failure else Verdict.STOPPED
    message = f"{why}; these may go on: {', '.join(left[:_NAMED])}{more}." if left else f"{why}."
    unfinished = next((child for child in children if not child.is_final), None)
    if unfinished is not None:
        abandon(connection, parent.id, unfinished, verdict, message, unfinished.findings, killed)
    finish_run(connection, parent.id)
    runner = runners.find(connection, parent.cluster_id)
    if runner is not None and runner.run_id == parent.id:
        runners.remove(connection, parent.cluster_id, runner.pid)


def settle(
    connection: Connection,
    parent_id: int,
    child: Run,
    status: RunStatus,
    message: str,
    findings: tuple[Finding, ...] = (),
) -> None:
    """Store the end of a child, and an event about it."""
    ended = replace(
        child, status=changed(child.status, status), message=message, findings=findings, progress=100,
        time_start=child.time_start or now(), time_end=now(),
    )  # fmt: skip
    runs.update(connection, ended)
    runs.set_progress(connection, parent_id, child.id, 100)
    tell(connection, parent_id, child.id, EventKind.RUN, status, message, progress=100)


def finish_run(connection: Connection, parent_id: int) -> None:
    """End a run as its first failed child did, or its last one, once. Children that never began are aborted."""
    parent = runs.find(connection, parent_id)
    if parent is None or parent.is_final:
        return
    children = runs.children(connection, parent_id)
    failed = next((child for child in children if child.status is RunStatus.ERROR), None)
    for child in children:
        if not child.is_final:
            settle(connection, parent_id, child, RunStatus.ERROR, ABORTED)
    status = RunStatus.READY if failed is None else RunStatus.ERROR
    if len(children) == 1:
        message = (failed or children[0]).message
    elif failed:
        message = f"Graph {failed.graph_type}: {failed.message}"
    else:
        idle = ", ".join(child.graph_type for child in children if child.message == NOTHING_TO_DO)
        message = f"All {len(children)} graphs ended." + (f" There was nothing to do for {idle}." if idle else "")
    ended = replace(
        parent, status=changed(parent.status, status), message=message, progress=100, time_end=now(),
        result=children[0].result if len(children) == 1 else {},
    )  # fmt: skip
    runs.update(connection, ended)
    tell(connection, parent_id, parent_id, EventKind.RUN, status, message, progress=100)


def _interrupted(why: str | None) -> str:
    """Return the message of an instance that was running, from the reason why its command could not be ended."""
    if why is None:
        return "How it ended is not known: the runner was killed, and the run was not resumed."
    if why:
        return f"It may still be running, because its processes could not be ended: {why}"
    return "Its processes were ended after the runner was killed."


def _fates_from_history(connection: Connection, child: Run, interrupted: Fate) -> dict[NodeKey, Fate]:
    """Return the fate of each node of a child; that of a node with an interrupted command is at least `interrupted`."""
    fates: dict[NodeKey, Fate] = {}
    for node, status, reason in history.by_node(connection, child.id):
        fate = Fate.SUCCESS
        if status is InstanceStatus.ERROR:
            fate = interrupted if reason == Reason.INTERRUPTED else Fate.ERROR
        elif reason in NEVER_RAN:
            fate = Fate.STOP
        if fates.setdefault(node, fate) is not Fate.ERROR and fate is not Fate.SUCCESS:
            fates[node] = fate
    return fates


def _present(connection: Connection, child: Run) -> dict[NodeKey, Node]:
    return {node.id: node for node in nodes.of_cluster(connection, child.cluster_id)}


def _end_nodes(
    connection: Connection,
    parent_id: int,
    child: Run,
    ended: Iterable[tuple[Node, Fate]],
    verdict: Verdict,
    metadata: Mapping[str, Any],
    *,
    deletes: bool = False,
) -> None:
    """Store what a child's end means for its nodes, by the graph's metadata, and for its environment."""
    for node, fate in ended:
        ended_node = after(node, fate, metadata, deletes=deletes)
        nodes.update(connection, ended_node)
        tell(connection, parent_id, child.id, EventKind.NODE, ended_node.status, node=ended_node.id)
    cluster = clusters.find(connection, child.cluster_id)
    if cluster is not None:
        status = cluster_status(nodes.of_cluster(connection, child.cluster_id), verdict)
        clusters.update(connection, replace(cluster, status=status))


_RUNNING = HistoryFilter(statuses=(InstanceStatus.RUNNING,))


def end_commands(database: Database, parent: Run, provider: Provider) -> dict[str, str]:
    """End the commands of a run whose runner is gone, each with its whole session.

    Return, by instance (`task@node`), why its command could not be ended, or an empty string. Nothing is raised for
    them, since the run has to end all the same.
    """
    jobs, ended = _jobs(database, parent)
    executor = provider(database.path, parent)

    async def end_all() -> list[str]:
        try:
            return await asyncio.gather(*(_end(executor, job) for job in jobs.values()))
        finally:
            await executor.close()

    ended.update(zip(jobs, asyncio.run(end_all()), strict=True))
    return ended


async def _end(executor: Executor, job: Job) -> str:
    try:
        await executor.kill(job)
    except (FuelError, ValueError) as error:
        return str(error)
    return ""


def _jobs(database: Database, parent: Run) -> tuple[dict[str, Job], dict[str, str]]:
    """Return the jobs of the instances that were running, and why the others have no job any more."""
    jobs: dict[str, Job] = {}
    failures: dict[str, str] = {}
    with database.read() as connection:
        for child in runs.children(connection, parent.id):
            definitions = runs.definitions_of(connection, child.id)
            rows = history.rows(connection, child.id, child.graph_type, _RUNNING, definitions) if definitions else []
            if not rows:
                continue
            inputs = run_inputs.remembered(connection, child)
            child_jobs = jobs_of(connection, database.path, child, inputs)
            evaluation = evaluation_of(inputs)
            for row in rows:
                task, instance = remembered_task(row, child), f"{row.task}@{row.node}"
                try:
                    rendered = evaluation.rendered(task.task, row.node)
                    jobs[instance] = child_jobs.job(task, row.node, rendered, row.attempts)
                except (FuelError, KeyError) as error:
                    failures[instance] = str(error) if isinstance(error, FuelError) else "its node is gone"
    return jobs, failures

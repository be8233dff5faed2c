"""End runs with their instances, nodes and environment; kill the commands of a dead runner.

Source of the statuses: Nailgun `TransactionsManager` and the `on_success`, `on_error` and `on_stop` of graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from fuelclient.engine.runs import inputs as run_inputs
from fuelclient.engine.runs.jobs import Provider, jobs_for, remembered_job, run_and_close
from fuelclient.engine.runs.processes import now
from fuelclient.environment.plans import evaluation_of
from fuelclient.errors import FuelError
from fuelclient.executors.job import Executor, Job
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.finding import listed
from fuelclient.model.node import DELETED, DEPLOY_ERROR, Node, NodeStatus
from fuelclient.model.run import EventKind, HistoryFilter, NodeKey, Run
from fuelclient.model.status import FILTERS, NEVER_RAN, InstanceStatus, Reason, RunStatus, Verdict, changed
from fuelclient.plan.deploy_changes import DELETION_TYPES
from fuelclient.plan.plan import Plan
from fuelclient.plan.result import NOTHING_TO_DO
from fuelclient.plan.schedule import Change, Schedule
from fuelclient.store import history, runners, runs
from fuelclient.store.database import Connection, Database
from fuelclient.store.history import Written
from fuelclient.store.inventory import clusters, nodes


class Fate(StrEnum):
    """How a run ended for a node. The value is the key of the graph metadata that defines the consequences."""

    SUCCESS = "on_success"
    ERROR = "on_error"
    STOP = "on_stop"


_STATUSES = {Fate.SUCCESS: NodeStatus.READY, Fate.ERROR: NodeStatus.ERROR, Fate.STOP: NodeStatus.STOPPED}
"""The new status of a node if the graph has no metadata for its fate."""


def node_after_run(node: Node, fate: Fate, metadata: Mapping[str, Any], *, deletes: bool = False) -> Node:
    """Compute the state of a node after a run from its fate and the graph's metadata.

    Without metadata, a node becomes ready, failed or stopped; if the graph `deletes`, it frees nodes that are pending
    deletion. `node_attributes: {}` changes nothing. A node that becomes ready gets its pending roles, and is no longer
    a pending addition.
    """
    consequence = metadata.get(fate)
    attributes = consequence.get("node_attributes") if isinstance(consequence, Mapping) else None
    frees = deletes and node.pending_deletion and fate is Fate.SUCCESS
    default = {"status": DELETED if frees else _STATUSES[fate]}
    wanted: Mapping[str, Any] = attributes if isinstance(attributes, Mapping) else default
    if (status := str(wanted.get("status") or "")) == DELETED:
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


def cluster_status(nodes: Iterable[Node], verdict: Verdict) -> ClusterStatus:
    """Compute the status of an environment after a run: operational if all of its nodes are ready."""
    if verdict is Verdict.STOPPED:
        return ClusterStatus.STOPPED
    are_ready = [node.status == NodeStatus.READY and not node.error_type for node in nodes]
    return ClusterStatus.OPERATIONAL if are_ready and all(are_ready) else ClusterStatus.PARTIALLY_DEPLOYED


ABORTED = "Aborted"
"""The message of a graph that never began because one before it failed. The word is Nailgun's."""

_MAX_NAMED = 5
"""How many commands a message names that may still be running."""


def finish_graph(connection: Connection, child_id: int, plan: Plan, schedule: Schedule) -> None:
    """End a child with the result of its schedule. Do nothing if it has ended already."""
    child = runs.find(connection, child_id)
    if child is None or child.is_final:
        return
    result = schedule.result
    if not child.dry_run:
        fates = _fates(connection, child, Fate.STOP if result.interrupted else Fate.ERROR)
        deletes = child.graph_type in DELETION_TYPES
        if deletes and result.verdict is Verdict.READY and not (child.request.task_names or child.request.subgraphs):
            present = nodes.every(connection, cluster_id=child.cluster_id)
            marked = [node.id for node in present if node.pending_deletion and node.id in plan.node_ids]
            fates = {**dict.fromkeys(marked, Fate.SUCCESS), **fates}  # the graph may have no task for a marked node
        _end_nodes(connection, child, fates, result.verdict, plan.metadata, deletes=deletes)
    counts = Counter(str(schedule.status(vertex)) for vertex in range(plan.work.size))
    child = replace(child, result={"verdict": str(result.verdict), **dict(sorted(counts.items()))})
    store_end(connection, child, result.verdict.status, result.message)


def abandon(
    connection: Connection, child: Run, verdict: Verdict, message: str, killed: Mapping[str, str] | None = None
) -> None:
    """End a child that will not go on. Instances that were running have failed, and pending ones are skipped.

    `killed` is the result of `end_commands`, or None if the running commands were not killed.
    """
    names = history.running_names(connection, child.id)
    changes = []
    for vertex, status in history.statuses(connection, child.id):
        if status is InstanceStatus.RUNNING:
            change = Change(vertex, InstanceStatus.ERROR, Reason.INTERRUPTED)
            changes.append(Written(change, _interruption_message((killed or {}).get(names[vertex]))))
        elif status is InstanceStatus.PENDING:
            changes.append(Written(Change(vertex, InstanceStatus.SKIPPED, Reason.STOPPED)))
    moment = now()
    history.write(connection, child.id, changes, moment)
    history.append_events(connection, child, [written.change for written in changes], moment, 100)
    if child.status is RunStatus.RUNNING and not child.dry_run:
        all_killed = verdict is Verdict.STOPPED and killed is not None and not any(killed.values())
        fates = _fates(connection, child, Fate.STOP if all_killed else Fate.ERROR)
        _end_nodes(connection, child, fates, verdict, {})
    store_end(connection, child, RunStatus.ERROR, message)


def close(connection: Connection, parent: Run, killed: Mapping[str, str] | None = None, failure: str = "") -> None:
    """End a run whose runner is gone and that will not be resumed. `killed` is as in `abandon`; `failure` is the
    reason for the end, unless a user stopped the run."""
    children = runs.children(connection, parent.id)
    unkilled = [name for child in children for name in history.running_names(connection, child.id).values()]
    if killed is not None:
        unkilled = [name for name in unkilled if killed.get(name)]
    why = failure or "Stopped by user after its runner was killed"
    verdict = Verdict.ERROR if failure else Verdict.STOPPED
    message = f"{why}; these may go on: {listed(unkilled, _MAX_NAMED)}." if unkilled else f"{why}."
    if (unfinished := next((child for child in children if not child.is_final), None)) is not None:
        abandon(connection, unfinished, verdict, message, killed)
    finish_run(connection, parent.id)
    if (runner := runners.find(connection, parent.cluster_id)) is not None and runner.run_id == parent.id:
        runners.remove(connection, parent.cluster_id, runner.pid)


def store_end(connection: Connection, run: Run, status: RunStatus, message: str) -> None:
    """Store that a run or a child has ended, and an event about it."""
    ended = replace(
        run, status=changed(run.status, status), message=message, progress=100,
        time_start=run.time_start or now(), time_end=now(),
    )  # fmt: skip
    runs.update(connection, ended)
    runs.set_progress(connection, run, 100)
    history.append_event(connection, run, EventKind.RUN, status, now(), message, progress=100)


def finish_run(connection: Connection, parent_id: int) -> None:
    """End a run unless it has ended: with the error of its first failed child, if any. Abort the remaining children."""
    parent = runs.find(connection, parent_id)
    if parent is None or parent.is_final:
        return
    children = runs.children(connection, parent_id)
    failed = next((child for child in children if child.status is RunStatus.ERROR), None)
    for child in children:
        if not child.is_final:
            store_end(connection, child, RunStatus.ERROR, ABORTED)
    status = RunStatus.READY if failed is None else RunStatus.ERROR
    if len(children) == 1:
        message = (failed or children[0]).message
    elif failed:
        message = f"Graph {failed.graph_type}: {failed.message}"
    else:
        idle = ", ".join(child.graph_type for child in children if child.message == NOTHING_TO_DO)
        message = f"All {len(children)} graphs ended." + (f" There was nothing to do for {idle}." if idle else "")
    result = children[0].result if len(children) == 1 else {}
    store_end(connection, replace(parent, result=result), status, message)


def _interruption_message(why: str | None) -> str:
    """Choose the message for an interrupted instance. `why` is the reason why its command could not be killed: empty
    if it was killed, None if nothing tried to."""
    if why is None:
        return "How it ended is not known: the runner was killed, and the run was not resumed."
    if why:
        return f"It may still be running, because its processes could not be ended: {why}"
    return "Its processes were ended after the runner was killed."


def _fates(connection: Connection, child: Run, interrupted: Fate) -> dict[NodeKey, Fate]:
    """Find the fate of each node that a child was deploying, without nodes that filters left out.

    A failed instance makes its node fail, and one that never ran makes it stopped. The fate of a node with an instance
    that was interrupted by the end of the run is `interrupted`.
    """
    fates: dict[NodeKey, Fate] = {}
    for node, status, reason in history.by_node(connection, child.id):
        if reason in FILTERS:
            continue
        fate = Fate.STOP if reason in NEVER_RAN else Fate.SUCCESS
        if status is InstanceStatus.ERROR:
            fate = interrupted if reason == Reason.INTERRUPTED else Fate.ERROR
        if fates.setdefault(node, fate) is not Fate.ERROR and fate is not Fate.SUCCESS:
            fates[node] = fate
    present = nodes.every(connection, cluster_id=child.cluster_id, status=NodeStatus.DEPLOYING)
    return {node.id: fates[node.id] for node in present if node.id in fates}


def _end_nodes(
    connection: Connection,
    child: Run,
    fates: Mapping[NodeKey, Fate],
    verdict: Verdict,
    metadata: Mapping[str, Any],
    *,
    deletes: bool = False,
) -> None:
    """Update the nodes of a child that ended, by the graph's metadata, and the status of its environment."""
    before = {node.id: node for node in runs.nodes_of(connection, child.id)}
    for node in nodes.every(connection, cluster_id=child.cluster_id):
        if node.id in fates:
            was = before.get(node.id, node)
            restored = replace(node, status=was.status, error_type=was.error_type)
            ended = node_after_run(restored, fates[node.id], metadata, deletes=deletes)
            nodes.update(connection, ended)
            history.append_event(connection, child, EventKind.NODE, ended.status, now(), node=ended.id)
    if (cluster := clusters.find(connection, child.cluster_id)) is not None:
        status = cluster_status(nodes.every(connection, cluster_id=child.cluster_id), verdict)
        clusters.update(connection, replace(cluster, status=status))


_RUNNING = HistoryFilter(statuses=(InstanceStatus.RUNNING,))


def end_commands(database: Database, parent: Run, provider: Provider) -> dict[str, str]:
    """Kill the commands of a run whose runner is gone, each with its whole session.

    Return for each instance (`task@node`) why its command could not be killed, or an empty string. Do not raise these
    errors, since the run has to end anyway.
    """
    jobs, failures = _jobs(database, parent)
    executor = provider(database.path, parent)
    ended = run_and_close(executor, *(_kill(executor, job) for job in jobs.values()))
    return failures | dict(zip(jobs, ended, strict=True))


async def _kill(executor: Executor, job: Job) -> str:
    try:
        await executor.kill(job)
    except (FuelError, ValueError) as error:
        return str(error)
    return ""


def _jobs(database: Database, parent: Run) -> tuple[dict[str, Job], dict[str, str]]:
    """Return the jobs of the instances that were running, and the reasons why instances no longer have a job."""
    jobs: dict[str, Job] = {}
    failures: dict[str, str] = {}
    with database.read() as connection:
        for child in runs.children(connection, parent.id):
            definitions = runs.definitions_of(connection, child.id)
            rows = history.rows(connection, child.id, child.graph_type, _RUNNING, definitions) if definitions else []
            if not rows:
                continue
            inputs = run_inputs.stored_without_graphs(connection, child)
            present = nodes.every(connection, cluster_id=child.cluster_id)
            child_jobs = jobs_for(connection, database.path, child.id, child.request, inputs, present)
            evaluation = evaluation_of(inputs)
            for row in rows:
                instance = f"{row.task}@{row.node}"
                try:
                    jobs[instance] = remembered_job(row, child, child_jobs, evaluation)
                except (FuelError, KeyError) as error:
                    failures[instance] = str(error) if isinstance(error, FuelError) else "its node is gone"
    return jobs, failures

"""Planning: what a run is computed from, read in one go, and the plan that comes of it.

A child of a transaction remembers what it was planned from (nodes, facts, whose past counts), so that after a crash
the same plan comes out again, unless somebody changed the graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from fuelclient import redact
from fuelclient.engine.reading import environment, lookup, settings
from fuelclient.engine.reading.environment import Environment
from fuelclient.engine.reading.facts import effective_facts
from fuelclient.errors import InvalidGraph
from fuelclient.expressions.evaluation import Expressions as Expressions  # it is the evaluation of every plan here
from fuelclient.expressions.facts import NO_PAST, Facts, Past
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.run import Run, RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.plan import Check, Plan, has_handler, merged_for, plan
from fuelclient.store import facts as stored
from fuelclient.store import history, nodes, runs
from fuelclient.store.database import Connection

_ANEW = frozenset({NodeStatus.DISCOVER, NodeStatus.ERROR, NodeStatus.PROVISIONED, NodeStatus.STOPPED})
_LATEST = lookup.LARGEST_ID


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a plan of one graph is computed from. `elsewhere` are the ids of tasks that the other graphs of the
    request have, `members` what the environment is made of."""

    snapshot: Snapshot
    members: Environment
    facts: DeploymentFacts
    past: Past
    forgotten: tuple[str, ...]
    elsewhere: frozenset[str] = frozenset()


def read(connection: Connection, request: RunRequest, graph_type: str, *, before: int = _LATEST) -> Inputs:
    """What one graph of a request is planned from now; runs with an id from `before` on are no past.

    `NotFound` for an unknown environment, or for any graph type of the request that it does not have.
    """
    members = environment.read(connection, request.cluster_id)
    present = tuple(nodes.of_cluster(connection, request.cluster_id))
    facts = effective_facts(connection, members, present)
    forgotten = tuple(str(node.id) for node in present if is_deployed_anew(node))
    return _inputs(connection, members, request, graph_type, present, facts, forgotten, before)


def recorded(connection: Connection, child: Run) -> Inputs:
    """What a child was planned from when it began, and its graph as it is now."""
    members = environment.read(connection, child.cluster_id)
    present = runs.nodes_of(connection, child.id)
    facts = stored.seen(connection, child.id)
    forgotten = runs.forgotten_of(connection, child.id)
    return _inputs(connection, members, child.request, child.graph_type, present, facts, forgotten, child.id)


def remembered(connection: Connection, child: Run) -> Inputs:
    """What a child was planned from but for its graph, which may have been changed or deleted since."""
    members = environment.read(connection, child.cluster_id)
    present = runs.nodes_of(connection, child.id)
    forgotten = runs.forgotten_of(connection, child.id)
    snapshot = Snapshot(members.cluster, (), present, members.roles, members.primary_tags, child.graph_type)
    past = NO_PAST if child.request.force else _past(connection, child.cluster_id, forgotten, child.id)
    return Inputs(snapshot, members, stored.seen(connection, child.id), past, forgotten)


def record(connection: Connection, child_id: int, inputs: Inputs, made: Plan) -> None:
    """The child remembers what its plan was computed from, and has a pending row for each instance of it.

    What was rendered is not kept: that comes of the facts, which are stored once, again. Tasks are kept for whoever
    reads the history, with masks in the place of passwords.
    """
    tasks = {task.id: redact.masked_document(task.task.attributes) for task in made.expansion.tasks}
    runs.put_inputs(connection, child_id, inputs.snapshot.nodes, inputs.forgotten, tasks)
    stored.put_seen(connection, child_id, inputs.facts)
    stored.put_settings(connection, child_id, settings.effective(inputs.members))
    instances = []
    for vertex in range(made.work.size):
        task, uid = made.at(vertex)
        instances.append((task.id, uid, task.task.type))
    history.insert(connection, child_id, instances)


def plan_of(inputs: Inputs, request: RunRequest, check: Check = has_handler) -> Plan:
    """The plan; raises what `plan.plan.plan` raises."""
    return plan(
        inputs.snapshot, request, Expressions(inputs.facts, inputs.past), check=check, elsewhere=inputs.elsewhere
    )


def require_something(made: Plan) -> None:
    """Nothing happens for a plan with task instances; `InvalidGraph` for one that has none but sync points."""
    if made.places_nothing:
        on = ", ".join(map(str, made.node_ids)) or "no node: none can be deployed now, or the node filter gives none"
        raise InvalidGraph(
            f"The {made.graph_type} graph places nothing: it would run on {on}.",
            findings=made.findings,
            hint="Name nodes that have its roles (--node), or see `fuel2 graph preview`.",
        )


def nothing_selected(request: RunRequest) -> InvalidGraph:
    """What is wrong with a request whose filters leave nothing of any of its graphs."""
    options = (("--task-names", request.task_names), ("--subgraphs", request.subgraphs))
    named = " and ".join(f"{option} {', '.join(names)}" for option, names in options if names)
    kinds = list(dict.fromkeys(request.graph_types))
    graphs = f"{kinds[0]} graph" if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]} graphs"
    return InvalidGraph(
        f"The selection leaves nothing of the {graphs}: no task instance that would run is in {named}.",
        hint="The start of a subgraph comes before its end; `fuel2 graph execute --dry-run` shows what is left out.",
    )


def is_deployed_anew(node: Node) -> bool:
    """Whether nothing counts that ran on the node before. Source: Nailgun `TransactionsManager`."""
    return node.pending_addition or bool(node.error_type) or node.status in _ANEW


def _inputs(
    connection: Connection,
    members: Environment,
    request: RunRequest,
    graph_type: str,
    present: tuple[Node, ...],
    facts: DeploymentFacts,
    forgotten: tuple[str, ...],
    before: int,
) -> Inputs:
    snapshots = {
        kind: Snapshot(
            cluster=members.cluster,
            layers=environment.layers(connection, members, kind),
            nodes=present,
            roles=members.roles,
            primary_tags=members.primary_tags,
            graph_type=kind,
        )
        for kind in dict.fromkeys((*request.graph_types, graph_type))
    }
    others = [one for kind, one in snapshots.items() if kind != graph_type]
    filtered = request.task_names or request.subgraphs
    elsewhere = {task.id for one in others for task in merged_for(one).tasks} if filtered else set()
    past = NO_PAST if request.force else _past(connection, members.cluster.id, forgotten, before)
    return Inputs(snapshots[graph_type], members, facts, past, forgotten, frozenset(elsewhere))


def _past(connection: Connection, cluster_id: int, forgotten: Sequence[str], before: int) -> Past:
    last = history.last_successes(connection, cluster_id, before)
    moments: dict[Hashable, Facts] = {}
    for run_id in sorted({one for (_, uid), one in last.items() if uid not in forgotten}):
        seen = stored.seen(connection, run_id)
        moments[run_id] = Facts(seen.common, seen.nodes)
    kept: dict[tuple[str, str], Hashable] = {key: one for key, one in last.items() if one in moments}
    return Past(moments, kept, frozenset(forgotten))

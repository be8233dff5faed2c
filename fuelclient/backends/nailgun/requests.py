"""Requests to a Fuel master for runs and for its own actions.

A master does not check the names in a request: it runs nothing for an unknown graph type or task and reports success,
and answers 500 for nodes of another environment. Deploying, provisioning and resetting environments have paths of their
own: there the master decides by the states of the nodes, without a graph, what to delete, provision and deploy.
"""

from __future__ import annotations

from dataclasses import dataclass

from fuelclient.backends.http.answers import About, may_have_begun
from fuelclient.backends.nailgun.environment import environment_with_plugins, types_of
from fuelclient.backends.nailgun.facet import Master, resource
from fuelclient.environment.layers import graph_types, require_graph_type
from fuelclient.environment.roles import owners
from fuelclient.errors import InvalidGraph, Unsupported
from fuelclient.model.run import Action, Run, RunRequest
from fuelclient.plan.fleet import require_nodes_in
from fuelclient.plan.select import is_open, require_tasks, subgraph_from
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.run import run_from


def require_known(master: Master, request: RunRequest) -> None:
    """Raise `NotFound` for an unknown environment, graph type, task or node, with the nearest existing name.

    Raise `UsageError` for a subgraph that cannot be read, `InvalidGraph` if the master cannot merge a graph, and
    `Unsupported` for an executor. This sends one HTTP request for each graph type, and one for the nodes.
    """
    if request.executor:
        raise Unsupported(
            f"A Fuel master reaches its nodes by itself, not through the executor {request.executor}.",
            hint="Leave --executor out.",
        )
    known: set[str] = set()
    for graph_type in request.graph_types:
        merged = resource(master.session, "environment", request.cluster_id, "deployment_tasks/", invalid=InvalidGraph)
        tasks = {Answer(record, "task").text("id") for record in objects(merged.get(graph_type=graph_type), "task")}
        if not tasks:
            _require_type(master, request.cluster_id, graph_type)
        known |= tasks
    require_tasks(request.task_names, known)
    for subgraph in request.subgraphs:
        if not is_open(subgraph):
            subgraph_from(subgraph, known)
    require_nodes(master, request)


def require_nodes(master: Master, request: RunRequest) -> None:
    """Raise `NotFound` for a node of a request that is not in its environment."""
    if request.node_ids:
        known = [node.id for node in master.nodes.list(request.cluster_id)]
        require_nodes_in(request.cluster_id, request.node_ids, known)


def _require_type(master: Master, cluster_id: int, graph_type: str) -> None:
    """Raise `NotFound`, with the known types, if no owner in the environment has a graph of this type."""
    release, *others = owners(environment_with_plugins(master, cluster_id))
    of_release = types_of(master, release)
    types = {*of_release, *(name for owner in others for name in types_of(master, owner))}
    require_graph_type(graph_type, graph_types(types, release_has_graphs=bool(of_release)), cluster_id)


@dataclass(frozen=True, slots=True)
class _Action:
    """The path of an action, and the fields of a request that are parameters of its query.

    A master ignores unknown parameters. Those in `always` are sent even if they are off, as by the original client;
    those in `optional` only if they are on. Options that are `implied` need no parameter.
    """

    path: str
    always: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()


_ACTIONS = {
    Action.DEPLOY: _Action("changes", ("dry_run", "noop")),
    Action.REDEPLOY: _Action("changes/redeploy", ("dry_run", "noop"), implied=("force",)),
    Action.RESET: _Action("reset/", optional=("force",)),
    Action.DEPLOY_NODES: _Action("deploy/", ("node_ids", "force", "noop"), ("dry_run",)),
    Action.PROVISION_NODES: _Action("provision/", ("node_ids",), implied=("force",)),
}

_PARAMETERS = {"node_ids": "nodes", "noop": "noop_run"}
"""Parameters whose names differ from those of the fields."""

_OPTIONS = ("force", "dry_run", "noop", "trace", "executor")


def act(master: Master, action: Action, request: RunRequest) -> Run:
    """Begin an action. The returned run has no parts yet."""
    spec = _ACTIONS[action]
    for option in _OPTIONS:
        if getattr(request, option) and option not in (*spec.always, *spec.optional, *spec.implied):
            raise Unsupported(
                f"A Fuel master cannot {action} an environment with --{option.replace('_', '-')}.",
                hint="Leave it out."
                if option == "executor"
                else "Only `fuel2 graph execute` has it, for single graphs.",
            )
    query = {
        _PARAMETERS.get(name, name): getattr(request, name)
        for name in (*spec.always, *spec.optional)
        if getattr(request, name) or name in spec.always
    }
    about = About("environment", request.cluster_id, unsure=may_have_begun(request.cluster_id))
    return run_from(master.session.put(f"clusters/{request.cluster_id}/{spec.path}", about, {}, **query))

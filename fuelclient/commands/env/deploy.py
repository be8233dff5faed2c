"""Deploy, reset and stop environments, or deploy and provision some of their nodes.

On the engine each of these is a run of graphs like any other: the graphs of a release define what a reset or
provisioning does. A Fuel master has its own code for each, which is called through the URLs that the original client
uses.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from fuelclient.backends.deploy_changes import changes_of, graph_for, naming_sequence
from fuelclient.commands.arguments import OF_ENV, YES, defaults, flag, id_of, nodes_option
from fuelclient.commands.base import on_backend
from fuelclient.commands.graph.execute import run_flags
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.start import Starter, run_options
from fuelclient.commands.task.task import Stopping
from fuelclient.errors import Conflict
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.model.run import Action, RunRequest
from fuelclient.plan.deploy_changes import DELETION_TYPES, PROVISION_TYPES, RESET_TYPES, is_leaving, is_unprovisioned
from fuelclient.printing import ids_text
from fuelclient.support import supports

_NODES_STARTED = (
    "{what} task with id {{0.id}} for the nodes {nodes} within the environment {{0.cluster_id}} has been started."
)
_RESET_STARTED = "Reset task with id {0.id} for the environment {0.cluster_id} has been started."


def _request(parsed_args: argparse.Namespace, env: int, graph_types: Sequence[str]) -> RunRequest:
    return RunRequest(env, tuple(graph_types), **run_flags(parsed_args))


class EnvDeploy(Starter):
    """Deploy an environment

    Runs the default graph on its nodes. Before that, nodes marked for deletion go through the graph of type deletion,
    and nodes that are not provisioned go through the graph of type provision or provisioning, if the release has such
    graphs. If the release has a sequence named deploy-changes, its graphs run instead. Waiting and exit codes are those
    of 'graph execute'.

    A Fuel master decides itself which nodes to delete, to provision and to deploy.

    On a terminal the command says how many nodes and tasks that are, and asks first, unless you use --yes, --noop or
    -q. If you decline, the exit code is 11.

      fuel2 env deploy 1 --dry-run
      fuel2 env deploy 1 --wait --yes
    """

    arguments = (id_of("environment"), *run_options(dry_run=["-d"]), YES)

    def question_for(self, request: RunRequest) -> str:
        """Count the nodes and the task instances of all graphs; on a master, which plans by itself, only the nodes."""
        verb, env = "Redeploy" if request.force else "Deploy", request.cluster_id
        if not (own := self.backend.nodes.list(env)):
            LOG.warning("Environment %d has no nodes: 'fuel2 env add nodes --env %d' adds some.", env, env)
        if supports(self.backend.runs.act):
            return f"{verb} environment {env}, which has {count(len(own), 'node')}?"
        from fuelclient.backends.plans import planned

        graphs = planned(self.backend, request)
        nodes = {node for graph in graphs for node in graph.nodes}
        tasks = sum(instance.runs for graph in graphs for instance in graph.instances)
        return f"{verb} {count(len(nodes), 'node')} of environment {env} with {count(tasks, 'task instance')}?"

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        if supports(self.backend.runs.act):
            action = Action.REDEPLOY if parsed_args.force else Action.DEPLOY
            self.execute(_request(parsed_args, parsed_args.id, ()), parsed_args, action=action)
            return
        changes = changes_of(self.backend, parsed_args.id)
        for ids, state, graph_type in (
            (changes.unprovisioned, "not provisioned", "provisioning"),
            (changes.leaving, "marked for deletion", "deletion"),
        ):
            if ids:
                nodes = f"node{'s' if len(ids) > 1 else ''} {ids_text(ids)}"
                LOG.warning("Skipping %s: %s, and there is no %s graph.", nodes, state, graph_type)
        request = _request(parsed_args, parsed_args.id, changes.graph_types)
        with naming_sequence(changes):
            self._require_safe(request)
            self.execute(request, parsed_args)

    def _require_safe(self, request: RunRequest) -> None:
        """Raise `Conflict` if a graph would provision nodes that are provisioned already, delete nodes that are not
        marked for deletion, or leave out marked ones that are online.

        A graph that provisions selects nodes that are pending addition, which includes imported nodes. A graph that
        deletes needs a node filter, because a graph without one runs on the nodes that stay.
        """
        from fuelclient.backends.plans import planned

        for graph_type in (name for name in request.graph_types if name in (*DELETION_TYPES, *PROVISION_TYPES)):
            deletes = graph_type in DELETION_TYPES
            is_meant = is_leaving if deletes else is_unprovisioned
            nodes = self.backend.nodes.list(request.cluster_id)
            meant_ids = {node.id for node in nodes if is_meant(node)}
            (plan,) = planned(self.backend, replace(request, graph_types=(graph_type,)))
            others = ids_text(node_id for node_id in plan.nodes if node_id not in meant_ids)
            if deletes:
                marked = (node for node in nodes if node.id in meant_ids and node.online and node.id not in plan.nodes)
                missed = ids_text(node.id for node in marked)
                what = "also delete nodes that are not" if others else "not delete nodes that are"
                if others or missed:
                    message = f"The {graph_type} graph would {what} marked for deletion: {others or missed}."
                    raise Conflict(message, hint="Give the graph the node filter `$.pending_deletion`.")
            elif others:
                fresh = " ".join(str(node_id) for node_id in plan.nodes if node_id in meant_ids)
                raise Conflict(
                    f"The {graph_type} graph would also provision nodes that are already provisioned: {others}.",
                    hint=f"First run `fuel2 env nodes provision --env {request.cluster_id} --nodes {fresh}`.",
                )


class EnvRedeploy(EnvDeploy):
    """Deploy an environment from scratch

    Does the same as 'env deploy --force': everything runs as if nothing had ever run. It asks first as that does.

      fuel2 env redeploy 1 --yes
    """

    arguments = (
        id_of("environment"),
        *run_options(dry_run=["-d"], force_help="accepted for scripts; always on in this command"),
        YES,
        defaults(force=True),
    )


class EnvReset(Starter):
    """Reset an environment

    Runs its graph of type reset, which decides what a reset means. Without such a graph the exit code is 2. A Fuel
    master needs no such graph: it moves all nodes back to bootstrap, and their data is lost. On a terminal the command
    asks first, unless you use --yes.

      fuel2 env reset 1 --dry-run
      fuel2 env reset 1 --wait --yes
    """

    arguments = (id_of("environment"), *run_options(force=["-f"]), YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        env = parsed_args.id
        action = Action.RESET if supports(self.backend.runs.act) else None
        types = () if action else (graph_for(self.backend, env, RESET_TYPES, "resets"),)
        if not (parsed_args.dry_run or parsed_args.noop):
            self.ask(parsed_args, lambda: f"Reset environment {env} ({self.backend.clusters.get(env).name})?")
        self.execute(_request(parsed_args, env, types), parsed_args, _RESET_STARTED, action)


class _SomeNodes(Starter):
    """Begin a run on the named nodes: `action` on a Fuel master, the graph of `graph_type` on the engine."""

    what = ""
    action: Action

    arguments = (OF_ENV, nodes_option(required=True), *run_options(force=["-f"]))

    def graph_type(self, env: int, nodes: Sequence[int]) -> str:
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        action = self.action if supports(self.backend.runs.act) else None
        types = () if action else (self.graph_type(parsed_args.env, parsed_args.nodes),)
        request = replace(_request(parsed_args, parsed_args.env, types), node_ids=tuple(parsed_args.nodes))
        nodes = ", ".join(map(str, parsed_args.nodes))
        self.execute(request, parsed_args, _NODES_STARTED.format(what=self.what, nodes=nodes), action)


class EnvNodesDeploy(_SomeNodes):
    """Deploy some nodes of an environment

    Runs the default graph on these nodes only. They must be provisioned and not marked for deletion.

      fuel2 env nodes deploy --env 1 --nodes 1 2
    """

    what = "Deployment"
    action = Action.DEPLOY_NODES

    def graph_type(self, env: int, nodes: Sequence[int]) -> str:
        selected = [node for node in self.backend.nodes.list(env) if node.id in nodes]
        reasons = (
            ([node.id for node in selected if is_unprovisioned(node)], "are not provisioned yet"),
            ([node.id for node in selected if is_leaving(node)], "marked for deletion"),
        )
        if obstacles := " ".join(f"Nodes with uids [{ids_text(ids)}] {why}." for ids, why in reasons if ids):
            raise Conflict(
                f"Deployment operation cannot be started. {obstacles}",
                hint="Please remove them and restart deployment.",
            )
        return DEFAULT_TYPE


class EnvNodesProvision(_SomeNodes):
    """Provision some nodes of an environment

    Runs its graph of type provision or provisioning on these nodes, even if they are provisioned already. Without such
    a graph the exit code is 2. A Fuel master needs no such graph.

      fuel2 env nodes provision --env 1 --nodes 1 2
    """

    what = "Provisioning"
    action = Action.PROVISION_NODES

    def graph_type(self, env: int, nodes: Sequence[int]) -> str:  # noqa: ARG002 (any node can be provisioned)
        return graph_for(self.backend, env, PROVISION_TYPES, "provisions")


class EnvStopDeployment(Stopping):
    """Stop the run on an environment

    No further tasks start. Running tasks may finish, unless --kill ends them. The command does not wait for the run to
    end; use 'task watch' for that.

      fuel2 env stop-deployment 1
      fuel2 env stop-deployment 1 --kill
    """

    arguments = (id_of("environment"), flag("--kill", help="end running tasks"))
    stop = on_backend(lambda backend, args: backend.runs.stop_cluster(args.id, kill=args.kill))

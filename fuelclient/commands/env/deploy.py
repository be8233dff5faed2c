"""Deploying environments: `env deploy`, `env redeploy`, `env reset`, and some nodes of one.

Each is a run of graphs like any other: what Nailgun does by itself, the graphs of a release say here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import add_env, add_nodes, identifier
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.starting import Starter, add_run
from fuelclient.errors import Conflict

if TYPE_CHECKING:
    from fuelclient.model.run import RunRequest

_NODES_STARTED = (
    "{what} task with id {{0.id}} for the nodes {nodes} within the environment {{0.cluster_id}} has been started."
)
_RESET_STARTED = "Reset task with id {0.id} for the environment {0.cluster_id} has been started."


def _request(parsed_args: argparse.Namespace, env: int, graph_types: Sequence[str]) -> RunRequest:
    from fuelclient.model.run import RunRequest

    return RunRequest(
        env, tuple(graph_types), force=parsed_args.force, dry_run=parsed_args.dry_run, noop=parsed_args.noop,
        trace=parsed_args.trace, executor=parsed_args.executor,
    )  # fmt: skip


class EnvDeploy(Starter):
    """Deploy an environment

    Runs the default graph on its nodes. Before that, nodes that are to be deleted go through the graph of the type
    deletion, and nodes that are not provisioned through that of the type provision or provisioning, where there are
    such nodes and such graphs. A sequence of the release called deploy-changes says something else. The run waits and
    ends as that of 'graph execute' does.

      fuel2 env deploy 1 --dry-run
      fuel2 env deploy 1 --wait
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        add_run(parser, "-d")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        request = _request(parsed_args, parsed_args.id, self._graph_types(parsed_args.id))
        self._require_unharmed(request)
        self.execute(request, parsed_args)

    def _graph_types(self, env: int) -> Sequence[str]:
        """The graphs that deploy the environment; what they leave out is told."""
        from fuelclient.backends.changes import changes_of

        made = changes_of(self.backend, env)
        for ids, what, kind in (
            (made.unprovisioned, "not provisioned", "provisioning"),
            (made.leaving, "to be deleted", "deletion"),
        ):
            if ids:
                told = ", ".join(map(str, ids))
                LOG.warning("Node %s is %s, but there is no graph of the type %s: it takes no part.", told, what, kind)
        return made.graph_types

    def _require_unharmed(self, request: RunRequest) -> None:
        """Nothing happens when only nodes that are not provisioned would be provisioned; `Conflict` otherwise.

        The filter of such a graph goes by what waits to be added, which nodes that were imported do, too.
        """
        from fuelclient.backends.plans import planned
        from fuelclient.plan.changes import PROVISION_TYPES, is_unprovisioned

        for kind in (one for one in request.graph_types if one in PROVISION_TYPES):
            fresh = {node.id for node in self.backend.nodes.list(request.cluster_id) if is_unprovisioned(node)}
            (plan,) = planned(self.backend, replace(request, graph_types=(kind,)))
            again = [one for one in plan.nodes if one not in fresh]
            if again:
                meant = " ".join(str(one) for one in plan.nodes if one in fresh)
                raise Conflict(
                    f"The {kind} graph would also provision node {', '.join(map(str, again))}, which is provisioned.",
                    hint=f"First run `fuel2 env nodes provision --env {request.cluster_id} --nodes {meant}`.",
                )


class EnvRedeploy(EnvDeploy):
    """Deploy an environment anew

    As 'env deploy --force': everything runs as if nothing had ever run.

      fuel2 env redeploy 1
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        for action in parser._actions:  # argparse has no public way to an option of a base class
            if "--force" in action.option_strings:
                action.help = "accepted for scripts: it is always so here"
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        parsed_args.force = True
        super().take_action(parsed_args)


class EnvReset(Starter):
    """Reset an environment

    Runs its graph of the type reset, which has to say what that means: without one, the exit code is 2.

      fuel2 env reset 1 --wait
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        add_run(parser, "-f")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.backends.changes import graph_for
        from fuelclient.plan.changes import RESET_TYPES

        kind = graph_for(self.backend, parsed_args.id, RESET_TYPES, "resets")
        self.execute(_request(parsed_args, parsed_args.id, (kind,)), parsed_args, _RESET_STARTED)


class _SomeNodes(Starter):
    """A run on nodes that are named."""

    what = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_env(parser, required=True)
        add_nodes(parser, required=True, help="ids of the nodes: 1 2 or 1,2")
        add_run(parser, "-f")
        return parser

    def graph_type(self, env: int, nodes: Sequence[int]) -> str:
        """The graph to run."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        kind = self.graph_type(parsed_args.env, parsed_args.nodes)
        request = replace(_request(parsed_args, parsed_args.env, (kind,)), node_ids=tuple(parsed_args.nodes))
        nodes = ", ".join(map(str, parsed_args.nodes))
        self.execute(request, parsed_args, _NODES_STARTED.format(what=self.what, nodes=nodes))


class EnvNodesDeploy(_SomeNodes):
    """Deploy some nodes of an environment

    Runs the default graph on these nodes only. They have to be provisioned, and to stay.

      fuel2 env nodes deploy --env 1 --nodes 1 2
    """

    what = "Deployment"

    def graph_type(self, env: int, nodes: Sequence[int]) -> str:
        from fuelclient.model.graph import DEFAULT_TYPE
        from fuelclient.plan.changes import is_leaving, is_unprovisioned

        meant = [one for one in self.backend.nodes.list(env) if one.id in nodes]
        reasons = (
            ([one.id for one in meant if is_unprovisioned(one)], "are not provisioned yet"),
            ([one.id for one in meant if is_leaving(one)], "marked for deletion"),
        )
        told = " ".join(f"Nodes with uids {ids} {why}." for ids, why in reasons if ids)
        if told:
            raise Conflict(
                f"Deployment operation cannot be started. {told}",
                hint="Please remove them and restart deployment.",
            )
        return DEFAULT_TYPE


class EnvNodesProvision(_SomeNodes):
    """Provision some nodes of an environment

    Runs its graph of the type provision or provisioning on these nodes, whether they are provisioned or not. Without
    such a graph the exit code is 2.

      fuel2 env nodes provision --env 1 --nodes 1 2
    """

    what = "Provisioning"

    def graph_type(self, env: int, nodes: Sequence[int]) -> str:  # noqa: ARG002 (any node can be provisioned)
        from fuelclient.backends.changes import graph_for
        from fuelclient.plan.changes import PROVISION_TYPES

        return graph_for(self.backend, env, PROVISION_TYPES, "provisions")

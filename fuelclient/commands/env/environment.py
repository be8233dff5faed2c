"""Environments: list, show, create, rename and delete them; add and remove their nodes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import (
    OF_ENV,
    YES,
    defaults,
    flag,
    id_of,
    nodes_option,
    nodes_or_all,
    option,
    release_option,
    roles_option,
)
from fuelclient.commands.base import Changing, Lister, ShowOne, on_backend, report
from fuelclient.commands.formatters import Fields, cells, some
from fuelclient.commands.node import report_shared_tasks
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import FIRST_STEPS, Conflict, UsageError
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.model.cluster import Cluster


class EnvList(Lister):
    """List all environments

    fuel2 env list
    fuel2 env list -f value -c id -c name
    """

    columns = ("id", "status", "name", "release_id")
    empty = FIRST_STEPS["environment"]
    rows = on_backend(lambda backend, _: backend.clusters.list())


class _ShowEnv(ShowOne):
    columns = ("id", "status", "fuel_version", "name", "release_id", "is_customized", "changes")

    def fields_of(self, cluster: Cluster) -> Sequence[Any]:
        if not cluster.fuel_version:  # only a server has it
            release = self.backend.releases.get(cluster.release_id)
            cluster = replace(cluster, fuel_version=release.version.rpartition("-")[2])
        return [*cells(cluster, self.columns[:-1]), Fields([dict(change) for change in cluster.changes])]


class EnvShow(_ShowEnv):
    """Show one environment

    fuel2 env show prod
    fuel2 env show 1 -f value -c status
    """

    arguments = (id_of("environment"),)
    values = on_backend(lambda backend, args: backend.clusters.get(args.id))


class EnvCreate(_ShowEnv):
    """Create an environment from a release

    The environment starts with an empty graph of the type default. Its tasks are those of its release, until a plugin
    or a graph that you upload to it overrides them.

      fuel2 env create prod --release 1
      fuel2 env create prod --release 1 -f value -c id
    """

    arguments = (
        option("name", type=str, help="name of the new environment"),
        release_option(),
        option(
            "-nst", "--net-segmentation-type", choices=("vlan", "gre", "tun"), default="vlan",
            help="network segmentation type (default: vlan); gre is deprecated since Fuel 7.0",
        ),
    )  # fmt: skip

    def values(self, parsed_args: argparse.Namespace) -> Cluster:
        if not supports(self.backend.runs.act):  # a Fuel master itself reports an unusable release
            release = self.backend.releases.get(parsed_args.release)
            if release.state == "unavailable":
                message = "Release %s (%s) is marked as unavailable; it is used all the same."
                LOG.warning(message, release.id, release.name)
        if parsed_args.net_segmentation_type == "gre":
            LOG.warning("WARNING: GRE network segmentation type is deprecated since 7.0 release.")
        return self.writable().clusters.create(
            parsed_args.name, parsed_args.release, net_segment_type=parsed_args.net_segmentation_type
        )


class EnvUpdate(_ShowEnv):
    """Rename an environment, or move it to another version of its release

    With --release, the command first prints what changes on stderr: roles, settings, tasks and their order. On a
    terminal it then asks, unless you use --yes; with --dry-run it only prints this. The new release must have the same
    name and operating system. To go back, name the old release. Nodes, plugins, settings and graphs of the environment
    stay. If the environment has values for settings or networks that the new release lacks, they are dropped, with a
    warning for each. A warning also names sequences that the new release lacks. The exit code is 6 if a run has not
    ended, if the new release lacks a role that a node has, or if an enabled plugin does not support it.

      fuel2 env update 1 --name staging
      fuel2 env update prod --release mitaka-9.1 --dry-run
      fuel2 env update prod --release mitaka-9.1 --yes
    """

    arguments = (
        id_of("environment"),
        option("-n", "--name", type=str, help="its new name"),
        release_option(required=False, help="id, name or version of its new release"),
        flag("--dry-run", help="only show what the new release would change"),
        YES,
    )

    def values(self, parsed_args: argparse.Namespace) -> Cluster:
        env, name, dry_run = parsed_args.id, parsed_args.name, parsed_args.dry_run
        if name is None and parsed_args.release is None:
            raise UsageError("There is nothing to update.", hint="Add --name, --release, or both.")
        if parsed_args.release is not None:
            self._move(parsed_args)
        if name is not None and not dry_run:
            self.writable().clusters.rename(env, name)
        return self.backend.clusters.get(env)

    def _move(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.commands.env.change import lines

        clusters, wanted = self.backend.clusters, (parsed_args.id, parsed_args.release)
        change = clusters.change_release(*wanted, dry_run=True)
        for line in lines(change, self.backend):
            LOG.info("%s", line)
        report(change.findings)
        after = change.after.environment
        release = f"release {after.release.id} ({after.release.name} {after.release.version})"
        if parsed_args.dry_run:
            LOG.info(
                "Nothing was changed. Without --dry-run, environment %s would move to %s.", after.cluster.id, release
            )
            return
        self.ask(parsed_args, lambda: f"Move environment {after.cluster.id} ({after.cluster.name}) to {release}?")
        self.writable().clusters.change_release(*wanted)


class EnvDelete(Changing):
    """Delete an environment with its graphs

    Its nodes are kept, without environment and roles. Its runs are deleted with their history and files, including the
    files on nodes. If files remain on a node, a warning names the node and says how to remove them. An operational
    environment is deleted only with --force, and no environment is deleted while a run on it has not ended; otherwise
    the exit code is 6. On a terminal the command says what is deleted with the environment and asks, unless you use
    --yes.

      fuel2 env delete 1
      fuel2 env delete 1 --force --yes
    """

    arguments = (id_of("environment"), flag("-f", "--force", help="delete it even if it is operational"), YES)

    done = "Environment with id {id} was deleted"

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        from fuelclient.environment.checks import require_deletable
        from fuelclient.model.graph import Level

        backend, env = self.backend, parsed_args.id
        require_deletable(cluster := backend.clusters.get(env), force=parsed_args.force)
        graphs = len(backend.graphs.list(env, [Level.CLUSTER]))
        runs = sum(run.parent_id is None for run in backend.runs.list(cluster_id=env))
        nodes = [node.name for node in backend.nodes.list(env)]
        freed = f" {count(len(nodes), 'node')} would be free, without roles: {some(nodes)}." if nodes else ""
        return (
            f"This deletes environment {env} ({cluster.name}) with {count(graphs, 'graph')} and the history of "
            f"{count(runs, 'run')}.{freed} Delete it?"
        )

    def change(self, parsed_args: argparse.Namespace) -> None:
        for warning in self.backend.clusters.delete(parsed_args.id, force=parsed_args.force):
            LOG.warning("%s", warning)


class EnvAddNodes(Changing):
    """Add nodes with roles to an environment

    The roles are pending until a run on the nodes succeeds; they replace roles that are pending already. Either all
    nodes are added or none. If two plugins define one task and the roles bring both to one node, a warning says so,
    because a run would be refused.

      fuel2 env add nodes --env 1 --nodes 1 2 3 --roles controller cinder
    """

    arguments = (
        OF_ENV,
        nodes_option(required=True),
        defaults(elsewhere=True),  # the nodes are not in the environment yet
        roles_option("-r", required=True),
    )

    done = "Nodes {nodes} were added to the environment {env} with roles {roles}"

    def change(self, parsed_args: argparse.Namespace) -> None:
        is_engine = not supports(self.backend.runs.act)  # a Fuel master gets only the original client's requests
        before = self.backend.nodes.list(parsed_args.env) if is_engine else ()
        self.backend.clusters.add_nodes(parsed_args.env, parsed_args.nodes, parsed_args.roles)
        for node in before:
            if node.id in parsed_args.nodes and (lost := {*node.pending_roles}.difference(parsed_args.roles)):
                LOG.warning("Pending roles of node %d were replaced: %s.", node.id, some(sorted(lost)))
        report_shared_tasks(self.backend, parsed_args.env)


class EnvRemoveNodes(Changing):
    """Remove nodes from an environment

    The nodes still exist afterwards, without environment and roles. Either all of them are removed or none. On a
    terminal the command asks first, unless you use --yes.

    If the environment has a graph of type deletion, nodes that were deployed are not freed, but marked for deletion;
    the next run of that graph deletes and frees them, by 'env deploy' for example. That graph needs the node filter
    '$.pending_deletion', because marked nodes are left out of graphs without a filter. 'env add nodes' takes the mark
    off, and --force frees them at once. On a Fuel master there is no --force.

      fuel2 env remove nodes --env 1 --nodes 3
      fuel2 env remove nodes --env 1 --nodes-all --yes
    """

    arguments = (
        OF_ENV,
        nodes_or_all("all nodes of the environment"),
        flag("-f", "--force", help="free deployed nodes without deleting them"),
        YES,
    )

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        env, wanted = parsed_args.env, parsed_args.nodes
        nodes = [node for node in self.backend.nodes.list(env) if wanted is None or node.id in wanted]
        roles = [f"{node.name} ({', '.join(node.all_roles) or 'no role'})" for node in nodes]
        return f"Take {count(len(nodes), 'node')} out of environment {env}: {some(roles)}?" if nodes else ""

    def change(self, parsed_args: argparse.Namespace) -> None:
        backend, env, force = self.backend, parsed_args.env, parsed_args.force
        is_engine = not supports(backend.runs.act)  # a Fuel master gets only the original client's requests
        deployed = [node.id for node in backend.nodes.list(env) if node.was_deployed] if is_engine and not force else []
        if not (removed := backend.clusters.remove_nodes(env, parsed_args.nodes, force=force)):
            raise Conflict(f"Environment with id={env} doesn't have nodes to remove.")
        self.tell(f"Nodes were removed from the environment with id={env}")
        left = [node_id for node_id in removed if node_id in deployed]
        marked = [node.id for node in backend.nodes.list(env) if node.id in left] if left else []
        if marked:
            message = "Marked for deletion: %s. `fuel2 env deploy %d` deletes and frees what is marked."
            LOG.warning(message, some(marked), env)
        if freed := [node_id for node_id in left if node_id not in marked]:
            LOG.warning("Freed, but still deployed: %s. The environment has no graph of type deletion.", some(freed))

"""Nodes: list, show, create, import, update, label, check and delete them; and an inventory for Ansible."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import (
    ID_NAME,
    OF_ENV,
    YES,
    Argument,
    env_option,
    executor_option,
    flag,
    former,
    id_of,
    names_option,
    node_references,
    nodes_option,
    nodes_or_all,
    one_of,
    option,
    roles_option,
    type_option,
)
from fuelclient.commands.base import Changing, Command, DiagnosisCheck, Lister, ShowOne, on_backend, report_after
from fuelclient.commands.formatters import Fields, Names, some
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import FIRST_STEPS, Conflict, InvalidDocument, NotFound, UsageError
from fuelclient.grouping import grouped
from fuelclient.printing import ids_text
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.finding import Finding
    from fuelclient.model.label import Label
    from fuelclient.model.node import Node


def labels_option(help: str, *, required: bool = False) -> Argument:
    """`--labels a b=c`: `labels` is a list of texts, or None; `labels_of` reads it."""
    return option("-l", "--labels", nargs="+", action="extend", required=required, metavar="LABEL", help=help)


def labels_of(parsed_args: argparse.Namespace) -> tuple[Label, ...]:
    """The labels that `labels_option` names. Raise `UsageError` for one without a name."""
    from fuelclient.model.label import label_from

    labels = {text: label_from(text) for text in parsed_args.labels or ()}
    for text, label in labels.items():
        if not label.name:
            raise UsageError(f"The label {text!r} has no name.", hint="Write it as name or name=value.")
    return tuple(labels.values())


def with_labels(nodes: Iterable[Node], wanted: Sequence[Label]) -> list[Node]:
    """The nodes that have one of the `wanted` labels; all nodes if `wanted` is empty."""
    from fuelclient.model.label import has_any

    return [node for node in nodes if not wanted or has_any(node.labels, wanted)]


class _LabelChange(Changing):
    """A command that changes the labels of the nodes in `--nodes`, or of all nodes."""

    verb = ""
    done = "Labels have been {command.verb} on nodes: {result} "  # scripts match the blank at the end

    def read(self, parsed_args: argparse.Namespace) -> None:
        parsed_args.wanted = labels_of(parsed_args)

    def change_labels(self, parsed_args: argparse.Namespace, /) -> Iterable[int]:
        """Change the labels and return the ids of the nodes."""
        raise NotImplementedError

    def change(self, parsed_args: argparse.Namespace) -> str:
        ids = ",".join(map(str, self.change_labels(parsed_args)))
        if not ids:
            LOG.warning("There are no nodes.")
        return ids


class NodeLabelList(Lister):
    """List the labels of nodes

    fuel2 node label list
    fuel2 node label list --nodes 1 2
    """

    columns = ("node_id", "label_name", "label_value")
    sort_by = "node_id"

    arguments = (nodes_option(required=False, help="only labels of these nodes: 1 2 or 1,2"),)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        facet = self.backend.nodes
        nodes = facet.list() if parsed_args.nodes is None else [facet.get(node_id) for node_id in parsed_args.nodes]
        return [(node.id, name, value) for node in nodes for name, value in sorted(node.labels.items())]


class NodeLabelSet(_LabelChange):
    """Set labels of nodes

    A label is a name with or without a value. Other labels of a node stay. After an error no node gets the labels; on a
    Fuel master, the nodes before it keep them.

      fuel2 node label set --labels rack=b ssd --nodes 1 2
      fuel2 node label set --labels site=west --nodes-all
    """

    arguments = (labels_option("labels: name or name=value", required=True), nodes_or_all("all nodes"))
    verb = "updated"

    def change_labels(self, parsed_args: argparse.Namespace) -> Iterable[int]:
        labels = {label.name: label.value for label in parsed_args.wanted}
        return self.backend.nodes.set_labels(parsed_args.nodes, labels)


class NodeLabelDelete(_LabelChange):
    """Delete labels of nodes

    A name deletes the label with any value, name=value only with that value. On a terminal the command asks first,
    unless you use --yes.

      fuel2 node label delete --labels rack --nodes 1 2
      fuel2 node label delete --labels-all --nodes-all
    """

    arguments = (
        one_of(labels_option("labels: name or name=value"), flag("--labels-all", help="all labels"), required=True),
        nodes_or_all("all nodes"),
        YES,
    )
    verb = "deleted"

    def read(self, parsed_args: argparse.Namespace) -> None:
        super().read(parsed_args)
        chosen = [
            node for node in self.backend.nodes.list() if parsed_args.nodes is None or node.id in parsed_args.nodes
        ]
        for text, label in zip(dict.fromkeys(parsed_args.labels or ()), parsed_args.wanted, strict=True):
            if chosen and not with_labels(chosen, [label]):
                LOG.warning("None of these nodes has the label %s.", text)

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        what = "all labels" if parsed_args.labels_all else f"the labels {', '.join(parsed_args.labels)}"
        where = "all nodes" if parsed_args.nodes is None else f"nodes {ids_text(parsed_args.nodes)}"
        return f"Delete {what} of {where}?"

    change_labels = on_backend(
        lambda backend, args: backend.nodes.delete_labels(args.nodes, None if args.labels_all else args.wanted)
    )


_COLUMNS = ("id", "name", "status", "os_platform", "roles", "ip", "mac", "cluster", "platform_name", "online")


def _attribute(node: Node, attribute: str) -> Any:
    """An attribute from a master or from the nodes file, or an empty text.

    A master keeps what a node reports about its processors in `meta`.
    """
    value = node.attributes.get(attribute)
    if value is None and isinstance(meta := node.attributes.get("meta"), Mapping):
        topology = meta.get("numa_topology")
        value = topology.get(attribute) if isinstance(topology, Mapping) else None
    if isinstance(value, Mapping | list):
        return Fields(value)
    return "" if value is None else value


def _cells(node: Node, columns: Sequence[str], **cells: Any) -> list[Any]:
    """The cells of a node: those in `cells`, its fields, or its attributes, in this order of preference."""
    own = {**{field.name: getattr(node, field.name) for field in fields(node)}, "cluster": node.cluster_id, **cells}
    shown = [own[column] if column in own else _attribute(node, column) for column in columns]
    return [Names(cell) if isinstance(cell, tuple) else cell for cell in shown]


def _row(node: Node) -> list[Any]:
    return _cells(node, _COLUMNS, roles=Names(sorted(node.all_roles)))


class NodeList(Lister):
    """List nodes

    The roles are the deployed ones and those that wait for a successful run; 'node show' lists them separately.

      fuel2 node list --env 1 --labels rack=b ssd
    """

    columns = _COLUMNS
    by_weight = ("id", "name", "status", "roles", "online", "ip", "cluster")
    empty = "No node has one of these labels. 'fuel2 node label list' has those of all nodes."

    arguments = (
        env_option(required=False, help="only nodes of this environment"),
        labels_option("only nodes with one of these labels: name or name=value"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        labels = labels_of(parsed_args)
        nodes = self.backend.nodes.list(parsed_args.env)
        if not nodes and parsed_args.env is None:
            self.empty = FIRST_STEPS["node"]
        elif not nodes:
            self.empty = f"Environment {parsed_args.env} has no nodes. Add some with 'fuel2 env add nodes'."
        return [_row(node) for node in with_labels(nodes, labels)]


class _ShowNode(ShowOne):
    columns = (
        "id", "name", "status", "os_platform", "roles", "kernel_params", "pending_roles", "ip", "mac", "error_type",
        "pending_addition", "hostname", "fqdn", "platform_name", "cluster", "online", "progress", "pending_deletion",
        "group_id", "manufacturer", "numa_nodes", "supported_hugepages", "distances", "executor", "primary_tags",
    )  # fmt: skip

    def fields_of(self, node: Node) -> Sequence[Any]:
        from fuelclient.facts.given import Master
        from fuelclient.facts.names import host_names

        hostname, fqdn = host_names(node, Master().domain)
        roles = {"roles": Names(sorted(node.roles)), "pending_roles": Names(sorted(node.pending_roles))}
        return _cells(node, self.columns, **roles, hostname=hostname, fqdn=fqdn)


class NodeShow(_ShowNode):
    """Show one node

    The node is the primary of the tags in 'primary_tags': tasks of 'primary-TAG' run on it, in later runs too.

      fuel2 node show 1
      fuel2 node show node-1 -f json
    """

    arguments = (id_of("node"),)

    values = on_backend(lambda backend, args: backend.nodes.get(args.id))


class NodeCreate(_ShowNode):
    """Create one node

    With --env the node belongs to an environment from the start. Otherwise 'env add nodes' adds it to one later, and
    checks its roles then. Without --executor, tasks reach the node over SSH at its address.

      fuel2 node create node-1 --ip 10.20.0.3 --env 1 --roles controller cinder
    """

    arguments = (
        option("name", type=str, help="name of the new node"),
        env_option(required=False, help="id or name of its environment"),
        roles_option(required=False),
        option("--ip", type=str, default="", help="its address"),
        executor_option("how tasks reach the node"),
    )

    def values(self, parsed_args: argparse.Namespace) -> Node:
        from fuelclient.model.node import Node

        node = Node(
            0, parsed_args.name, parsed_args.env, pending_roles=tuple(parsed_args.roles), ip=parsed_args.ip,
            executor=parsed_args.executor, pending_addition=parsed_args.env is not None,
        )  # fmt: skip
        (created,) = self.writable().nodes.create([node])
        report_shared_tasks(self.backend, parsed_args.env)
        return created


class NodeImport(Lister):
    """Create all nodes of a file, or none

    The file is a YAML or JSON list of mappings with name, and optionally id, roles, ip, status, online, executor (see
    'node create'), ssh (user, port, key, jump) and attributes (worker is the name of a node's Dask worker). A node has
    no mac here, and one in its attributes is not shown: MAC addresses belong to interfaces ('node interfaces upload').
    Imported nodes are online and provisioned unless the file says otherwise; their roles are pending until a run
    succeeds.

      fuel2 node import nodes.yaml --env 1
    """

    columns = _COLUMNS

    arguments = (
        option("file", type=str, metavar="FILE", help="the file; - is stdin"),
        env_option(required=False, help="id or name of the environment of the nodes"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.backends import executor_kinds
        from fuelclient.serializers.node import nodes_from

        document = self.load(parsed_args.file)
        if document.data is None:
            raise InvalidDocument(f"{document.file} contains no nodes.", hint="Write [] for an empty list.")
        nodes = [replace(node, cluster_id=parsed_args.env) for node in nodes_from(document, executor_kinds())]
        created = self.writable().nodes.create(nodes) if nodes else ()
        LOG.info("Created %s.", count(len(created), "node"))
        report_shared_tasks(self.backend, parsed_args.env)
        return [_row(node) for node in created]


class NodeUpdate(_ShowNode):
    """Change the name or the hostname of a node

    The name distinguishes the node from others of its environment. The hostname is what the node calls itself, by
    default node-ID; tasks see it among the facts of the node.

      fuel2 node update 1 --name controller-1
    """

    arguments = (
        id_of("node"),
        option("-H", "--hostname", type=str, help="its new hostname"),
        option("--name", type=str, help="its new name"),
    )

    def values(self, parsed_args: argparse.Namespace) -> Node:
        return self.writable().nodes.update(parsed_args.id, name=parsed_args.name, hostname=parsed_args.hostname)


class _Deletion(Changing):
    """A deletion of nodes, whose question names them."""

    done = "Nodes {id} were deleted from the database"

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        nodes = [self.backend.nodes.get(node_id) for node_id in parsed_args.id]
        return f"Delete {count(len(nodes), 'node')}: {some(f'{node.id} ({node.name})' for node in nodes)}?"


class NodeUndiscover(_Deletion):
    """Forget a node, or all nodes of an environment

    Either all of the nodes are deleted or none. Nodes that are online are deleted only with --force. A Fuel master
    discovers them again when they start. On a terminal the command asks first, unless you use --yes.

      fuel2 node undiscover --node 3
      fuel2 node undiscover --env 1 --force
    """

    arguments = (
        one_of(
            env_option(required=False, help="all nodes of this environment"),
            nodes_option(required=False, help="these nodes: 1 2 or 1,2"),
            required=True,
        ),
        flag("-f", "--force", help="delete them even if they are online"),
        YES,
    )

    def read(self, parsed_args: argparse.Namespace) -> None:
        facet, named = self.backend.nodes, parsed_args.nodes
        nodes = facet.list(parsed_args.env) if named is None else [*map(facet.get, named)]
        if not nodes:
            raise NotFound("node", f"of environment {parsed_args.env}", hint="It has no nodes.")
        if (online := [node.id for node in nodes if node.online]) and not parsed_args.force:
            raise Conflict(
                f"Nodes with ids {online} cannot be deleted from database because they are online.",
                hint="You might want to use the --force option.",
            )
        parsed_args.id = [node.id for node in nodes]

    change = on_backend(lambda backend, args: backend.nodes.delete(args.id, force=True))


class NodeDelete(_Deletion):
    """Delete nodes

    Either all of the nodes are deleted or none. A node that belongs to an environment is deleted only with --force. On
    a terminal the command asks first, unless you use --yes.

      fuel2 node delete 3
      fuel2 node delete 3 4 --force --yes
    """

    arguments = (
        names_option("id", type=node_references, metavar=ID_NAME, help="ids or names of the nodes: 1 2 or 1,2"),
        flag("--force", help="delete them even if they belong to an environment"),
        former("-f", "force"),
        YES,
    )

    change = on_backend(lambda backend, args: backend.nodes.delete(args.id, force=args.force))


class NodeAnsibleInventory(Command):
    """Print the nodes of an environment as an inventory for Ansible

    Each role is a group of hosts with their addresses. Only deployed roles are listed, unless --pending adds those that
    wait for a successful run. Nodes without an address are left out.

      fuel2 node ansible-inventory --env 1 > hosts.ini
      fuel2 node ansible-inventory --env 1 --labels rack=b
    """

    arguments = (
        OF_ENV,
        labels_option("only nodes with one of these labels: name or name=value"),
        flag("--pending", help="also list roles that wait for a successful run"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        labels, pending = labels_of(parsed_args), parsed_args.pending
        nodes = with_labels(self.backend.nodes.list(parsed_args.env), labels)
        for node in nodes:
            if not node.ip:
                LOG.warning("Node %d (%s) has no address and is left out.", node.id, node.name)
        hosts = [node for node in nodes if node.ip]
        groups = grouped((role, node) for node in hosts for role in (node.all_roles if pending else node.roles))
        if not groups and (hosts or not nodes):
            LOG.warning("No node has a role.%s", "" if pending else " --pending adds pending roles.")
        for role, members in sorted(groups.items()):
            names = [(node.attributes.get("hostname") or node.name, node.ip) for node in members]
            for line in (f"[{role}]", *sorted(f"{name} ansible_host={ip}" for name, ip in names), ""):
                self.say(line)


class NodeCheck(DiagnosisCheck):
    """Examine whether nodes are ready for tasks

    The command checks the connection, the host key, SFTP, bash and the other tools that fuel2 needs to start commands
    and to find them again, the programs that tasks of a graph call (puppet, python), the free space, the user's rights
    and the clock. Nodes with the same result share a row. Every problem is shown with its fix. Nothing is changed. The
    exit code is 7 if a node cannot run tasks.

    If you name no nodes, all nodes of the environment are checked; without --env, those of all environments. Every run
    checks the nodes that it reaches over SSH, and does not start if one is not ready, unless you use --no-check.

      fuel2 node check
      fuel2 node check 1 2
      fuel2 node check --env 1 --type fix-1
    """

    arguments = (
        names_option("id", nargs="*", type=node_references, metavar=ID_NAME, help="ids or names of nodes: 1 2 or 1,2"),
        env_option(required=False, help="all nodes of this environment"),
        type_option(default="default"),
    )

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        ids = parsed_args.id
        if not ids:
            ids = [node.id for node in self.backend.nodes.list(parsed_args.env) if node.cluster_id is not None]
        if not ids:
            where = "any environment" if parsed_args.env is None else f"environment {parsed_args.env}"
            LOG.info("There is no node in %s. Add some with 'fuel2 env add nodes'.", where)
        return self.diagnosis_rows(self.backend.runs.check(ids, parsed_args.graph_type))


def report_shared_tasks(backend: Backend, env: int | None) -> None:
    """Warn if two enabled plugins define the same task for a node of an environment, because a run would be refused.

    A Fuel master refuses to merge such a graph, so there is nothing to check.
    """
    if env is not None and not supports(backend.runs.act):
        report_after(lambda: _shared_task_warnings(backend, env), "Tasks that two plugins define were not looked for")


def _shared_task_warnings(backend: Backend, env: int) -> list[Finding]:
    from fuelclient.model.finding import Severity
    from fuelclient.model.graph import Level
    from fuelclient.plan.study import Study

    graphs = [graph for graph in backend.graphs.list(env) if graph.owner.level is Level.PLUGIN]
    owners = grouped((graph.type, graph.owner.id) for graph in graphs)
    warnings = []
    for graph_type in sorted(name for name, plugins in owners.items() if len({*plugins}) > 1):
        study = Study(backend.graphs.snapshot(env, graph_type))
        shared = (finding for finding in study.expansion.placement.findings if finding.code == "G044")
        warnings += [replace(finding, severity=Severity.WARNING) for finding in shared]
    return warnings

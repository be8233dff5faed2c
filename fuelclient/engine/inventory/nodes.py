"""Create, change and delete nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment, lookup
from fuelclient.environment import checks
from fuelclient.environment.network_changes import part_from
from fuelclient.environment.networks import default_interfaces
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict, Unsupported
from fuelclient.model.environment import Environment
from fuelclient.model.label import Label, without
from fuelclient.model.network import NodePart
from fuelclient.model.node import Node, NodeStatus
from fuelclient.serializers.values import plain
from fuelclient.store.database import Connection
from fuelclient.store.inventory import node_part, nodes, put_node_part


class Nodes(Facet):
    """Nodes; see `backends.base.Nodes`."""

    @reads
    def list(self, connection: Connection, cluster_id: int | None = None) -> Sequence[Node]:
        if cluster_id is not None:
            lookup.cluster(connection, cluster_id)
        return nodes.every(connection, cluster_id=cluster_id)

    @reads
    def get(self, connection: Connection, node_id: int) -> Node:
        return lookup.node(connection, node_id)

    def create(self, wanted: Sequence[Node]) -> Sequence[Node]:
        cluster_ids = [node.cluster_id for node in wanted if node.cluster_id is not None]
        with self._database.write() as connection, environment.checking_rules(connection, cluster_ids) as targets:
            for node in wanted:
                checks.require_node(node)
                checks.require_name("node", node.name)
            _require_new_ids(connection, wanted)
            _require_free_names(connection, wanted)
            return nodes.insert_all(connection, _join_all(wanted, targets))

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """Delete all nodes or none. Raise `Conflict` also if a run is working on one of them."""
        from fuelclient.engine.runs.records import require_idle  # nothing else here needs it

        with self._database.write() as connection:
            for node in [lookup.node(connection, node_id) for node_id in dict.fromkeys(node_ids)]:
                if node.cluster_id is not None and not force:
                    raise Conflict(
                        f"Node {node.id} belongs to environment {node.cluster_id}.",
                        hint=f"Remove it first (`fuel2 env remove nodes --env {node.cluster_id} --nodes {node.id}`)"
                        ", or use --force.",
                    )
                if node.cluster_id is not None:
                    require_idle(connection, node.cluster_id, [node.id])
                nodes.delete(connection, node.id)

    def update(self, node_id: int, *, name: str | None = None, hostname: str | None = None) -> Node:
        """Names have to be unique within an environment, or among the free nodes."""
        checks.require_node_change(name, hostname)
        with self._database.write() as connection:
            node = lookup.node(connection, node_id)
            wanted = node if name is None else replace(node, name=name)
            if wanted.name != node.name:
                checks.require_name("node", wanted.name)
            home = node.cluster_id
            others = [each for each in nodes.every(connection) if each.cluster_id == home and each.id != node_id]
            checks.require_free_names(others, [wanted], home)
            if hostname is not None:
                checks.require_free_hostname(others, hostname, home)
                wanted = replace(wanted, attributes={**wanted.attributes, "hostname": hostname})
            with environment.checking_rules(connection, _cluster_ids(node)):
                nodes.update(connection, wanted)
            return wanted

    def attributes(self, node_id: int) -> Mapping[str, Any]:
        return self.get(node_id).attributes

    @writes
    def set_attributes(self, connection: Connection, node_id: int, attributes: Mapping[str, Any]) -> Node:
        changed = replace(lookup.node(connection, node_id), attributes=plain(attributes))
        with environment.checking_rules(connection, _cluster_ids(changed)):
            nodes.update(connection, changed)
        return changed

    @reads
    def disks(self, connection: Connection, node_id: int) -> Sequence[Any]:
        lookup.node(connection, node_id)
        return node_part(connection, node_id, NodePart.DISKS) or []

    def default_disks(self, node_id: int) -> Sequence[Any]:
        """Raise `Unsupported`, since only a Fuel master divides disks, or `NotFound` if the node does not exist."""
        self.get(node_id)
        raise Unsupported(
            "Only a Fuel master divides disks into volumes.",
            hint="Write the file yourself, and store it with `fuel2 node disks upload`.",
        )

    def set_disks(self, node_id: int, disks: Sequence[Any]) -> Sequence[Any]:
        return self._set_part(node_id, NodePart.DISKS, disks)

    @reads
    def interfaces(self, connection: Connection, node_id: int) -> Sequence[Any]:
        node = lookup.node(connection, node_id)
        stored = node_part(connection, node_id, NodePart.INTERFACES)
        return _default_interfaces(connection, node) if stored is None else stored

    @reads
    def default_interfaces(self, connection: Connection, node_id: int) -> Sequence[Any]:
        return _default_interfaces(connection, lookup.node(connection, node_id))

    def set_interfaces(self, node_id: int, interfaces: Sequence[Any]) -> Sequence[Any]:
        return self._set_part(node_id, NodePart.INTERFACES, interfaces)

    @writes
    def _set_part(self, connection: Connection, node_id: int, part: NodePart, document: Sequence[Any]) -> Sequence[Any]:
        checked = part_from(part, document, lookup.node(connection, node_id))
        put_node_part(connection, node_id, part, checked)
        return checked

    def set_labels(self, node_ids: Sequence[int] | None, labels: Mapping[str, str | None]) -> Sequence[int]:
        checks.require_labels(labels)
        for name in labels:
            checks.require_printable("label", name)
        return self._change_labels(node_ids, lambda node: {**node.labels, **labels})

    def delete_labels(self, node_ids: Sequence[int] | None, labels: Sequence[Label] | None) -> Sequence[int]:
        return self._change_labels(node_ids, lambda node: without(node.labels, labels))

    @writes
    def _change_labels(
        self,
        connection: Connection,
        node_ids: Sequence[int] | None,
        labels_of: Callable[[Node], Mapping[str, str | None]],
    ) -> Sequence[int]:
        if node_ids is None:
            chosen = nodes.every(connection)
        else:
            chosen = [lookup.node(connection, node_id) for node_id in dict.fromkeys(node_ids)]
        for node in chosen:
            nodes.update(connection, replace(node, labels=labels_of(node)))
        return [node.id for node in chosen]


def join_environment(node: Node, cluster_id: int, roles: Sequence[str] = ()) -> Node:
    """Put a node into an environment. The `roles` that it does not have become its pending roles.

    As in Nailgun, they replace the earlier pending roles; without `roles`, these are kept. A node that is ready does
    not become a pending addition.

    >>> join_environment(Node(1, "a", roles=("x",), pending_roles=("y",)), 7, ["x", "z"]).pending_roles
    ('z',)
    """
    pending = dict.fromkeys(role for role in (roles or node.pending_roles) if role not in node.roles)
    return replace(
        node, cluster_id=cluster_id, pending_roles=tuple(pending), pending_addition=node.status != NodeStatus.READY
    )


def _default_interfaces(connection: Connection, node: Node) -> Sequence[Any]:
    home = None if node.cluster_id is None else environment.read(connection, node.cluster_id)
    return default_interfaces(home, node)


def _cluster_ids(node: Node) -> list[int]:
    return [] if node.cluster_id is None else [node.cluster_id]


def _require_free_names(connection: Connection, wanted: Sequence[Node]) -> None:
    present = nodes.every(connection)
    for cluster_id in dict.fromkeys(node.cluster_id for node in wanted):
        here = [node for node in present if node.cluster_id == cluster_id]
        added = [node for node in wanted if node.cluster_id == cluster_id]
        checks.require_free_names(here, added, cluster_id)


def _require_new_ids(connection: Connection, wanted: Sequence[Node]) -> None:
    taken = set(nodes.ids(connection))
    given: set[int] = set()
    for node_id in (node.id for node in wanted if node.id):
        if node_id in given:
            raise Conflict(f"Node {node_id} is given twice.", hint="Change one id, or leave it out to get a free one.")
        if node_id in taken:
            raise Conflict(
                f"Node {node_id} already exists.", hint="Leave its id out to get a free one, or delete it first."
            )
        given.add(node_id)


def _join_all(wanted: Sequence[Node], targets: Iterable[Environment]) -> list[Node]:
    joined = [node if node.cluster_id is None else join_environment(node, node.cluster_id) for node in wanted]
    for target in targets:
        added = [node for node in joined if node.cluster_id == target.cluster.id]
        lookup.require_roles([(node.name, node.all_roles) for node in added], roles_of(target))
    return joined

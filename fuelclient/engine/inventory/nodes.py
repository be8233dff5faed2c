"""Use cases of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.inventory.clusters import joined
from fuelclient.engine.reading import environment, lookup, node_names, role_checks
from fuelclient.environment.roles import roles as roles_of
from fuelclient.errors import Conflict, UsageError
from fuelclient.model.label import Label, without
from fuelclient.model.node import Node
from fuelclient.serializers.values import plain
from fuelclient.store import nodes
from fuelclient.store.database import Connection, Database


class Nodes:
    """Nodes; see `backends.base.Nodes`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, cluster_id: int | None = None) -> Sequence[Node]:
        """All nodes by id, or those of one environment; `NotFound` when that does not exist."""
        with self._database.read() as connection:
            if cluster_id is None:
                return nodes.every(connection)
            lookup.cluster(connection, cluster_id)
            return nodes.of_cluster(connection, cluster_id)

    def get(self, node_id: int) -> Node:
        """One node; `NotFound` when there is none."""
        with self._database.read() as connection:
            return lookup.node(connection, node_id)

    def create(self, wanted: Sequence[Node]) -> Sequence[Node]:
        """Store all of `wanted` or none. An id of 0 gets the next free one, after the given ids are placed.

        `Conflict` for an id that exists or is given twice; `NotFound` for an unknown environment, or a role that
        its release and plugins do not know. A node that names an environment joins it as `env add nodes` would,
        with the same `Conflict` for roles that may not be assigned, and for a name that is taken there; a node of
        no environment must not have the name of another one. `UsageError` for what no node can be called.
        """
        with self._database.write() as connection:
            node_names.require_sound(wanted)
            _require_new_ids(connection, wanted)
            _require_free_names(connection, wanted)
            placed = _joined(connection, wanted)
            ids = {index: nodes.insert(connection, node) for index, node in enumerate(placed) if node.id}
            for index, node in enumerate(placed):
                if not node.id:
                    ids[index] = nodes.insert(connection, node)
            return [replace(node, id=ids[index]) for index, node in enumerate(placed)]

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """Remove nodes, all or none; `Conflict` for one that belongs to an environment and not `force`, and for one
        that an execution runs on."""
        from fuelclient.engine.runs import guards  # nothing else here needs runs

        with self._database.write() as connection:
            for node in [lookup.node(connection, node_id) for node_id in dict.fromkeys(node_ids)]:
                node_id = node.id
                if node.cluster_id is not None and not force:
                    raise Conflict(
                        f"Node {node_id} belongs to environment {node.cluster_id}.",
                        hint=f"Take it out first (`fuel2 env remove nodes --env {node.cluster_id} --nodes {node_id}`)"
                        ", or use --force.",
                    )
                if node.cluster_id is not None:
                    guards.require_idle(connection, node.cluster_id, [node_id])
                nodes.delete(connection, node_id)

    def update(self, node_id: int, *, name: str | None = None, hostname: str | None = None) -> Node:
        """The node under another name, with another host name, or both; what is None stays.

        `UsageError` for nothing of both, or for what no node can be called; `Conflict` for a name or a host name that
        another node has in the same environment, or among the free ones.
        """
        if name is None and hostname is None:
            raise UsageError("Nothing to update.", hint="Give a node another name or another hostname.")
        with self._database.write() as connection:
            node = lookup.node(connection, node_id)
            wanted = node if name is None else replace(node, name=name)
            node_names.require_sound([wanted])
            others = [one for one in nodes.every(connection) if one.cluster_id == node.cluster_id and one.id != node_id]
            node_names.require_free_names(others, [wanted], _where(node.cluster_id))
            if hostname is not None:
                node_names.require_free_hostname(others, hostname, _where(node.cluster_id))
                wanted = replace(wanted, attributes={**wanted.attributes, node_names.HOSTNAME: hostname})
            nodes.update(connection, wanted)
            return wanted

    def attributes(self, node_id: int) -> Mapping[str, Any]:
        """What was stated of a node beyond what the engine knows itself: tasks see it among its facts."""
        return self.get(node_id).attributes

    def set_attributes(self, node_id: int, attributes: Mapping[str, Any]) -> Node:
        """The attributes of a node are these, and nothing that was stated before."""
        with self._database.write() as connection:
            changed = replace(lookup.node(connection, node_id), attributes=plain(attributes))
            nodes.update(connection, changed)
            return changed

    def set_labels(self, node_ids: Sequence[int] | None, labels: Mapping[str, str | None]) -> Sequence[int]:
        """Nodes (None: all) have these labels beside those they had; which nodes these are. All or nothing:
        `NotFound` for an unknown one, `UsageError` for a label without a name."""
        if not all(name.strip() for name in labels):
            raise UsageError("A label needs a name.", hint="Write it as name or name=value.")
        for name in labels:
            node_names.require_printable("label", name)
        return self._relabelled(node_ids, lambda node: {**node.labels, **labels})

    def delete_labels(self, node_ids: Sequence[int] | None, labels: Sequence[Label] | None) -> Sequence[int]:
        """Nodes (None: all) have these labels (None: any) no more, whether they had or not; which nodes these are."""
        return self._relabelled(node_ids, lambda node: without(node.labels, labels))

    def _relabelled(
        self, node_ids: Sequence[int] | None, labels_of: Callable[[Node], Mapping[str, str | None]]
    ) -> Sequence[int]:
        with self._database.write() as connection:
            found = _named(connection, node_ids)
            for node in found:
                nodes.update(connection, replace(node, labels=labels_of(node)))
            return [node.id for node in found]


def _named(connection: Connection, node_ids: Iterable[int] | None) -> Sequence[Node]:
    """These nodes, each once, or all of them."""
    if node_ids is None:
        return nodes.every(connection)
    return [lookup.node(connection, node_id) for node_id in dict.fromkeys(node_ids)]


def _where(cluster_id: int | None) -> str:
    """The place in which names tell nodes apart."""
    return "The pool of free nodes" if cluster_id is None else f"Environment {cluster_id}"


def _require_free_names(connection: Connection, wanted: Sequence[Node]) -> None:
    present = nodes.every(connection)
    for cluster_id in dict.fromkeys(node.cluster_id for node in wanted):
        here, coming = ([node for node in some if node.cluster_id == cluster_id] for some in (present, wanted))
        node_names.require_free_names(here, coming, _where(cluster_id))


def _require_new_ids(connection: Connection, wanted: Sequence[Node]) -> None:
    taken = set(nodes.ids(connection))
    given: set[int] = set()
    for node in wanted:
        if node.id in given:
            raise Conflict(f"Node {node.id} is given twice.", hint="Change one id, or leave it out to get a free one.")
        if node.id in taken:
            raise Conflict(
                f"Node {node.id} exists already.", hint="Leave its id out to get a free one, or delete it first."
            )
        if node.id:
            given.add(node.id)


def _joined(connection: Connection, wanted: Sequence[Node]) -> list[Node]:
    """The nodes with their environments' roles checked."""
    members = {
        cluster_id: environment.read(connection, cluster_id)
        for cluster_id in dict.fromkeys(node.cluster_id for node in wanted)
        if cluster_id is not None
    }
    known = {cluster_id: roles_of(one) for cluster_id, one in members.items()}
    placed = []
    for node in wanted:
        if node.cluster_id is not None:
            lookup.require_roles(node.all_roles, known[node.cluster_id])
            placed.append(joined(node, node.cluster_id))
        else:
            placed.append(node)
    for cluster_id, one in members.items():
        before = nodes.of_cluster(connection, cluster_id)
        role_checks.require(one, before, [*before, *(node for node in placed if node.cluster_id == cluster_id)])
    return placed

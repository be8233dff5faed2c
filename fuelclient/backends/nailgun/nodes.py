"""Nodes of a master."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fuelclient.backends.http.errors import About
from fuelclient.backends.nailgun.facet import Facet, by_id, resource
from fuelclient.environment.checks import require_labels, require_node_change
from fuelclient.errors import Conflict, InvalidDocument, NotFound
from fuelclient.model.label import Label, without
from fuelclient.model.network import NodePart
from fuelclient.model.node import Node
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.node import node_record_from
from fuelclient.serializers.values import plain
from fuelclient.support import unsupported

Labels = Mapping[str, str | None]


class Nodes(Facet):
    """Nodes; see `base.Nodes`."""

    noun = "node"

    def list(self, cluster_id: int | None = None) -> Sequence[Node]:
        about = None if cluster_id is None else About("environment", cluster_id)
        return by_id(node_record_from, self._session.get("nodes/", about, cluster_id=cluster_id), "node")

    def get(self, node_id: int) -> Node:
        return node_record_from(self._at(node_id).get())

    create = unsupported("A Fuel master takes no nodes: it discovers them.", hint="Boot them in its admin network.")

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """As `base.Nodes`. A Fuel master deletes assigned nodes too, so they are refused here."""
        known = {node.id: node for node in self.list()}
        _require_known(node_ids, known)
        for node_id in node_ids:
            if known[node_id].cluster_id is not None and not force:
                raise Conflict(
                    f"Node {node_id} belongs to environment {known[node_id].cluster_id}.",
                    hint="Remove it from the environment first, or delete it with --force.",
                )
        if node_ids:
            self._session.delete("nodes/", ids=tuple(node_ids), force=True if force else None)

    def update(self, node_id: int, *, name: str | None = None, hostname: str | None = None) -> Node:
        require_node_change(name, hostname)
        stated = {key: value for key, value in (("name", name), ("hostname", hostname)) if value is not None}
        return node_record_from(self._at(node_id).put(stated))

    def attributes(self, node_id: int) -> Mapping[str, Any]:
        return Answer(self._at(node_id, "attributes/").get(), "node's attributes").rest()

    def set_attributes(self, node_id: int, attributes: Mapping[str, Any]) -> Node:
        self._at(node_id, "attributes/").put(plain(attributes))
        return self.get(node_id)

    def disks(self, node_id: int) -> Sequence[Any]:
        return self._part(node_id, NodePart.DISKS)

    def default_disks(self, node_id: int) -> Sequence[Any]:
        return self._part(node_id, NodePart.DISKS, "defaults")

    def set_disks(self, node_id: int, disks: Sequence[Any]) -> Sequence[Any]:
        return self._set_part(node_id, NodePart.DISKS, disks)

    def interfaces(self, node_id: int) -> Sequence[Any]:
        return self._part(node_id, NodePart.INTERFACES)

    def default_interfaces(self, node_id: int) -> Sequence[Any]:
        return self._part(node_id, NodePart.INTERFACES, "default_assignment")

    def set_interfaces(self, node_id: int, interfaces: Sequence[Any]) -> Sequence[Any]:
        return self._set_part(node_id, NodePart.INTERFACES, interfaces)

    def _part(self, node_id: int, part: NodePart, default: str = "") -> Sequence[Any]:
        """Return a document of a node; `default` is the end of the path of its default."""
        return _items(self._at(node_id, f"{part}/{default}").get(), part)

    def _set_part(self, node_id: int, part: NodePart, document: Sequence[Any]) -> Sequence[Any]:
        place = resource(self._session, "node", node_id, f"{part}/", invalid=InvalidDocument)
        return _items(place.put(plain(document)), part)

    def set_labels(self, node_ids: Sequence[int] | None, labels: Labels) -> Sequence[int]:
        """As `base.Nodes`, node by node: after an error, the nodes before it have changed."""
        require_labels(labels)
        return self._relabelled(node_ids, lambda node: {**node.labels, **labels})

    def delete_labels(self, node_ids: Sequence[int] | None, labels: Sequence[Label] | None) -> Sequence[int]:
        """As `base.Nodes`; see `set_labels`."""
        return self._relabelled(node_ids, lambda node: without(node.labels, labels))

    def _relabelled(self, node_ids: Sequence[int] | None, labels_of: Callable[[Node], Labels]) -> Sequence[int]:
        known = {node.id: node for node in self.list()}
        wanted = list(known) if node_ids is None else list(dict.fromkeys(node_ids))
        _require_known(wanted, known)
        for node_id in wanted:
            node_record_from(self._at(node_id).put({"labels": dict(labels_of(known[node_id]))}))
        return wanted


def _items(data: Any, part: NodePart) -> Sequence[Any]:
    return [plain(item) for item in objects(data, str(part).removesuffix("s"))]


def _require_known(node_ids: Iterable[int], known: Mapping[int, Node]) -> None:
    for node_id in node_ids:
        if node_id not in known:
            hint = "" if known else "There is no node yet."
            raise NotFound("node", node_id, known=[*map(str, known)], hint=hint)

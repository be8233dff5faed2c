"""Releases, nodes, networks, roles, tags and sequences of a master: the facets of `backends.inventory`."""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partialmethod
from typing import Any, Generic, TypeVar

from fuelclient.backends.http.answers import About
from fuelclient.backends.nailgun.facet import NOUNS, Facet, Resource, by_id, given, resource
from fuelclient.environment import checks
from fuelclient.errors import FIRST_STEPS, Conflict, FuelError, InvalidDocument, NotFound
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.label import Label, without
from fuelclient.model.network import NodePart
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role, Tag
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.serializers.answer import Answer, objects
from fuelclient.serializers.node import node_record_from
from fuelclient.serializers.release import (
    release_record_from,
    release_to,
    repositories_in,
    role_document_to,
    role_from,
    tag_document_to,
    tag_from,
    with_repositories,
)
from fuelclient.serializers.sequence import sequence_from
from fuelclient.serializers.values import plain
from fuelclient.support import unsupported

_ATTRIBUTES = "attributes_metadata"
_VIPS = "network_configuration/ips/vips/"
NEUTRON = "network_configuration/neutron"
"""The path of an environment's network configuration, below that of the environment."""

Labels = Mapping[str, str | None]
Value = TypeVar("Value", Role, Tag)


class Releases(Facet):
    noun = "release"

    def list(self) -> Sequence[Release]:
        return by_id(release_record_from, self._session.get("releases/"), "release")

    def get(self, release_id: int) -> Release:
        return release_record_from(self._at(release_id).get())

    def create(self, releases: Sequence[Release]) -> Sequence[Release]:
        """Send one release at a time; if the master refuses one, remove those before it.

        Ids are not sent: those in a fixture belong to the master that it was written for, and a request with a taken
        id fails.
        """
        known = {(release.name, release.version) for release in self.list()}
        seen: set[tuple[str, str]] = set()
        for release in releases:
            checks.require_id("release", release.id)
            checks.require_name("release", release.name)
        for key in ((release.name, release.version) for release in releases):
            if key in known or key in seen:
                verb = "already exists" if key in known else "is given twice"
                raise Conflict(f"Release {' '.join(key)} {verb}.", hint="Leave it out, or rename it.")
            seen.add(key)
        created: list[Release] = []
        try:
            for release in releases:
                record = {key: value for key, value in release_to(release).items() if key != "id"}
                stored = release_record_from(self._session.post("releases/", None, record))
                created.append(stored)  # before the next request, so that an error removes it
        except BaseException:
            for stored in created:
                with contextlib.suppress(FuelError):  # the first error is the one to report
                    self.delete(stored.id)
            raise
        return created

    def update(self, release: Release) -> Release:
        return release_record_from(self._at(release.id).put(release_to(release)))

    def delete(self, release_id: int) -> None:
        self._at(release_id).delete()

    def components(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        data = self._at(release_id, "components/").get()
        return [Answer(component, "component").rest() for component in objects(data, "component")]

    def repositories(self, release_id: int) -> Sequence[Mapping[str, Any]]:
        return repositories_in(self._attributes(release_id))

    def set_repositories(self, release_id: int, repositories: Sequence[Mapping[str, Any]]) -> None:
        body = with_repositories(self._attributes(release_id), repositories)[_ATTRIBUTES]
        self._at(release_id, f"{_ATTRIBUTES}/").put(body)

    def _attributes(self, release_id: int) -> dict[str, Any]:
        """The settings of a release in the form of its metadata."""
        return {_ATTRIBUTES: Answer(self._at(release_id, f"{_ATTRIBUTES}/").get(), "release's attributes").rest()}


class Nodes(Facet):
    noun = "node"

    def list(self, cluster_id: int | None = None) -> Sequence[Node]:
        about = None if cluster_id is None else About("environment", cluster_id)
        return by_id(node_record_from, self._session.get("nodes/", about, cluster_id=cluster_id), "node")

    def get(self, node_id: int) -> Node:
        return node_record_from(self._at(node_id).get())

    create = unsupported("A Fuel master takes no nodes: it discovers them.", hint="Boot them in its admin network.")

    def delete(self, node_ids: Sequence[int], *, force: bool = False) -> None:
        """Refuse nodes of an environment here, because a master would delete them."""
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
        checks.require_node_change(name, hostname)
        if name is not None:
            checks.require_name("node", name)
        return node_record_from(self._at(node_id).put(given(name=name, hostname=hostname)))

    def attributes(self, node_id: int) -> Mapping[str, Any]:
        return Answer(self._at(node_id, "attributes/").get(), "node's attributes").rest()

    def set_attributes(self, node_id: int, attributes: Mapping[str, Any]) -> Node:
        self._at(node_id, "attributes/").put(plain(attributes))
        return self.get(node_id)

    def _part(self, part: NodePart, default: str, node_id: int) -> Sequence[Any]:
        """Read a document of a node; `default` is the end of the path of the default document."""
        return _items(self._at(node_id, f"{part}/{default}").get(), part)

    def _set_part(self, part: NodePart, node_id: int, document: Sequence[Any]) -> Sequence[Any]:
        part_resource = resource(self._session, "node", node_id, f"{part}/", invalid=InvalidDocument)
        return _items(part_resource.put(plain(document)), part)

    disks = partialmethod(_part, NodePart.DISKS, "")
    default_disks = partialmethod(_part, NodePart.DISKS, "defaults")
    set_disks = partialmethod(_set_part, NodePart.DISKS)
    interfaces = partialmethod(_part, NodePart.INTERFACES, "")
    default_interfaces = partialmethod(_part, NodePart.INTERFACES, "default_assignment")
    set_interfaces = partialmethod(_set_part, NodePart.INTERFACES)

    def set_labels(self, node_ids: Sequence[int] | None, labels: Labels) -> Sequence[int]:
        """Change one node after another; after an error, the nodes before it stay changed."""
        checks.require_labels(labels)
        return self._set_each_labels(node_ids, lambda node: {**node.labels, **labels})

    def delete_labels(self, node_ids: Sequence[int] | None, labels: Sequence[Label] | None) -> Sequence[int]:
        return self._set_each_labels(node_ids, lambda node: without(node.labels, labels))

    def _set_each_labels(self, node_ids: Sequence[int] | None, labels_of: Callable[[Node], Labels]) -> Sequence[int]:
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
            raise NotFound("node", node_id, known=[*map(str, known)], hint="" if known else FIRST_STEPS["node"])


class Networks(Facet):
    invalid = InvalidDocument

    def configuration(self, cluster_id: int) -> Mapping[str, Any]:
        return Answer(self._at(cluster_id, NEUTRON).get(), "network configuration").rest()

    def set_configuration(self, cluster_id: int, configuration: Mapping[str, Any]) -> Mapping[str, Any]:
        return Answer(self._at(cluster_id, NEUTRON).put(plain(configuration)), "network configuration").rest()

    def vips(
        self, cluster_id: int, *, vip_id: int | None = None, network_id: int | None = None, network_role: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        filters = {"network": network_id, "network-role": network_role or None}
        if vip_id is None:
            data = self._at(cluster_id, _VIPS).get(**filters)
        else:
            path = f"clusters/{cluster_id}/network_configuration/ips/{vip_id}/vips/"
            about = About("virtual address", vip_id, within=("environment", cluster_id))
            data = [self._session.get(path, about, **filters)]
        return [Answer(record, "virtual address").rest() for record in objects(data, "VIP")]

    def set_vips(self, cluster_id: int, vips: Sequence[Mapping[str, Any]]) -> None:
        self._at(cluster_id, _VIPS).put(plain(vips))

    def create_vip(
        self, cluster_id: int, name: str, address: str, *, network_id: int | None = None, namespace: str | None = None
    ) -> None:
        body = {"ip_addr": address, "network": network_id, "vip_name": name, **given(vip_namespace=namespace)}
        self._at(cluster_id, _VIPS).post(body)


class _Descriptions(Facet, Generic[Value]):
    """The roles or tags of a master.

    `read` makes a value from an answer, or raises `InvalidDocument`; `write` makes the body of a request.
    """

    read: Callable[[Any], Value]
    write: Callable[[Value], Any]

    def of_release(self, release_id: int) -> Mapping[str, Value]:
        return self._of(OwnerRef(Level.RELEASE, release_id))

    def of_cluster(self, cluster_id: int) -> Mapping[str, Value]:
        return self._of(OwnerRef(Level.CLUSTER, cluster_id))

    def create(self, owner: OwnerRef, value: Value, /) -> Value:
        return self.read(self._all(owner).post(self.write(value)))

    def update(self, owner: OwnerRef, value: Value, /) -> Value:
        return self.read(self._one(owner, value.name).put(self.write(value)))

    def delete(self, owner: OwnerRef, name: str) -> None:
        self._one(owner, name).delete()

    def _of(self, owner: OwnerRef) -> dict[str, Value]:
        return {value.name: value for value in map(self.read, objects(self._all(owner).get(), self.noun))}

    def _all(self, owner: OwnerRef) -> Resource:
        return resource(self._session, NOUNS[owner.level], owner.id, f"{self.noun}s/", invalid=InvalidDocument)

    def _one(self, owner: OwnerRef, name: str) -> Resource:
        everything = self._all(owner)
        about = About(self.noun, name, (NOUNS[owner.level], owner.id), InvalidDocument)
        return replace(everything, path=f"{everything.path}{urllib.parse.quote(name, safe='')}/", about=about)


class Roles(_Descriptions[Role]):
    noun, read, write = "role", staticmethod(role_from), staticmethod(role_document_to)


class Tags(_Descriptions[Tag]):
    """Masters before Fuel 10 have none."""

    noun, read, write = "tag", staticmethod(tag_from), staticmethod(tag_document_to)


class Sequences(Facet):
    noun = "sequence"

    def list(self, *, release_id: int | None = None, cluster_id: int | None = None) -> Sequence[DeploymentSequence]:
        about = About("release", release_id) if cluster_id is None else About("environment", cluster_id)
        query = {"cluster": cluster_id} if cluster_id is not None else {"release": release_id}
        sequences = by_id(sequence_from, self._session.get("sequences/", about, **query), "sequence")
        return [sequence for sequence in sequences if release_id in (None, sequence.release_id)]

    def get(self, sequence_id: int) -> DeploymentSequence:
        return sequence_from(self._at(sequence_id).get())

    def for_cluster(self, sequence_id: int, cluster_id: int) -> DeploymentSequence:
        for sequence in self.list(cluster_id=cluster_id):
            if sequence.id == sequence_id:
                return sequence
        other = self.get(sequence_id)
        raise NotFound(
            "sequence", f"{other.id} for environment {cluster_id}",
            hint=f"It belongs to release {other.release_id}, and the environment to another.",
        )  # fmt: skip

    def create(self, release_id: int, name: str, graph_types: Sequence[str]) -> DeploymentSequence:
        checks.require_name("sequence", name)
        checks.require_sequence(name, graph_types)
        body = {"name": name, "release": release_id, "graphs": _graphs(graph_types)}
        return sequence_from(self._session.post("sequences/", About("release", release_id), body))

    def update(
        self, sequence_id: int, *, name: str | None = None, graph_types: Sequence[str] | None = None
    ) -> DeploymentSequence:
        checks.require_sequence_change(name, graph_types)
        if name is not None:
            checks.require_name("sequence", name)
        stored = self.get(sequence_id)
        checks.require_sequence(
            stored.name if name is None else name, stored.graph_types if graph_types is None else graph_types
        )
        graphs = None if graph_types is None else _graphs(graph_types)
        return sequence_from(self._at(sequence_id).put(given(name=name, graphs=graphs)))

    def delete(self, sequence_id: int) -> None:
        self._at(sequence_id).delete()


def _graphs(graph_types: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": graph_type} for graph_type in graph_types]

"""The names of nodes, and the tags they carry. Source: Nailgun's `Node` and `Cluster.set_primary_tags`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fuelclient.environment.roles import primary_tags, roles
from fuelclient.facts.given import Master
from fuelclient.model.environment import Environment
from fuelclient.model.node import Node
from fuelclient.plan.fleet import PRIMARY, primaries_of, tags_of


@dataclass(frozen=True, slots=True)
class FactNode:
    """A node with the names that facts use for it, and all its tags, sorted.

    On the primary node of a tag, `primary-<tag>` replaces the tag.
    """

    node: Node
    hostname: str
    fqdn: str
    tags: tuple[str, ...]

    @property
    def uid(self) -> str:
        return str(self.node.id)

    @property
    def basic_facts(self) -> dict[str, Any]:
        return {
            "uid": self.uid,
            "name": self.hostname,
            "fqdn": self.fqdn,
            "user_node_name": self.node.name,
            "swift_zone": self.uid,
        }

    def carries(self, names: tuple[str, ...]) -> bool:
        return any(name in names for name in (*self.node.all_roles, *self.tags))


def host_names(node: Node, domain: str) -> tuple[str, str]:
    """The host name and the full name of a node: as given, or else as a master derives them from its id."""
    return node.hostname, str(node.attributes.get("fqdn") or f"{node.hostname}.{domain}")


def named_nodes(environment: Environment, master: Master, participants: tuple[int, ...] = ()) -> tuple[FactNode, ...]:
    """Name the nodes of an environment, in the order of their ids.

    For a tag without a primary node yet, the primary is the node that a run on `participants` (empty: all nodes) would
    choose.
    """
    by_name, nodes = roles(environment), sorted(environment.nodes, key=lambda node: node.id)
    tags = {node.id: tags_of(node.all_roles, by_name) for node in nodes}
    online = [node for node in nodes if node.online and (not participants or node.id in participants)]
    primaries = primaries_of(online, nodes, tags, primary_tags(environment))
    result = []
    for node in nodes:
        hostname, fqdn = host_names(node, master.domain)
        own = (PRIMARY + tag if primaries.get(tag) == node.id else tag for tag in tags[node.id])
        result.append(FactNode(node, hostname, fqdn, tuple(sorted(own))))
    return tuple(result)

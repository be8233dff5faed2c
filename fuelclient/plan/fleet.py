"""The fleet of a plan: which nodes take part, the tags they carry, and who is primary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuelclient.errors import NotFound
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.assume import assumed_nodes

PRIMARY = "primary-"
MASTER = "master"


@dataclass(frozen=True, slots=True)
class FleetNode:
    """A place where tasks run: the sync point pseudo node (uid None), the master (uid "master") or a node.

    `tags` are what roles and patterns are matched against; on a node that is the primary of a tag,
    `primary-<tag>` stands in place of the tag. Neither the sync points nor the master carry any.
    """

    uid: int | str | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """The places in their total order: sync points, master, nodes by id.

    `absent` are nodes that were left out because they are offline; `assumption` says which nodes were assumed
    and is empty when they are the environment's own.
    """

    nodes: tuple[FleetNode, ...]
    absent: tuple[int, ...] = ()
    assumption: str = ""

    @property
    def size(self) -> int:
        """How many real nodes take part."""
        return len(self.nodes) - 2


def fleet_of(snapshot: Snapshot, *, node_ids: Sequence[int] = (), assume: str = "") -> Fleet:
    """The fleet of an environment, of some of its nodes, or of assumed nodes.

    An environment without nodes is previewed on two nodes for each role that has a primary and one for each
    other role. Raises `NotFound` for a node id that is not in the environment, and what `assumed_nodes` raises.
    """
    everyone, assumption = (list(snapshot.nodes), "") if node_ids and not assume else _nodes(snapshot, assume)
    known = sorted(node.id for node in everyone)
    for node_id in node_ids:
        if node_id not in known:
            which = f"{node_id} of environment {snapshot.cluster.id}"
            none = "" if known else "It has no nodes. `fuel2 env add nodes` adds some; a preview can --assume them."
            raise NotFound("node", which, known=[str(one) for one in known], hint=none)
    nodes = [node for node in everyone if node.id in set(node_ids)] if node_ids else everyone
    absent = tuple(sorted(node.id for node in nodes if not node.online))
    taking_part = sorted((node for node in nodes if node.online), key=lambda node: node.id)
    return Fleet((FleetNode(None), FleetNode(MASTER), *_tagged(taking_part, everyone, snapshot)), absent, assumption)


def _nodes(snapshot: Snapshot, assume: str) -> tuple[list[Node], str]:
    if assume:
        nodes = assumed_nodes(assume, snapshot)
        return nodes, f"{len(nodes)} assumed nodes ({assume}) stand in for the environment's own."
    if snapshot.nodes:
        return list(snapshot.nodes), ""
    nodes = _two_of_each(snapshot)
    sentence = (
        f"The environment has no nodes: previewed on {len(nodes)} assumed ones, two for each role with a primary"
        " and one for each other. Name your own with --assume controller=3,compute=2."
    )
    return nodes, sentence if nodes else "The environment has no nodes, and its release knows no roles."


def _two_of_each(snapshot: Snapshot) -> list[Node]:
    nodes: list[Node] = []
    for role in snapshot.roles.values():
        for _ in range(2 if set(role.tags) & snapshot.primary_tags else 1):
            nodes.append(Node(len(nodes) + 1, f"node-{len(nodes) + 1}", pending_roles=(role.name,)))
    return nodes


def tags_of(roles: Iterable[str], snapshot: Snapshot) -> tuple[str, ...]:
    """The tags that nodes with these roles carry, each once; a role that nobody describes is its own tag."""
    tags: dict[str, None] = {}
    for name in roles:
        role = snapshot.roles.get(name)
        tags.update(dict.fromkeys(role.tags if role else (name,)))
    return tuple(tags)


def _tagged(nodes: Sequence[Node], everyone: Sequence[Node], snapshot: Snapshot) -> list[FleetNode]:
    tags = {node.id: tags_of(node.all_roles, snapshot) for node in everyone}
    primaries = primaries_of(nodes, everyone, tags, snapshot.primary_tags)
    return [
        FleetNode(node.id, tuple(PRIMARY + tag if primaries.get(tag) == node.id else tag for tag in tags[node.id]))
        for node in nodes
    ]


def primaries_of(
    nodes: Sequence[Node], everyone: Sequence[Node], tags: dict[int, tuple[str, ...]], primary_tags: Iterable[str]
) -> dict[str, int]:
    """The primary of each tag that has one: who of `everyone` is it already, taking part or not; else the first
    ready node of those that take part, else the first of them.

    Nodes that are about to be deleted are not primary. Source: Nailgun `Cluster.set_primary_tag`.
    """
    primaries: dict[str, int] = {}
    for tag in sorted(primary_tags):
        kept = [node for node in everyone if tag in node.primary_tags]
        for candidates in (kept, nodes):
            holders = [node for node in candidates if tag in tags[node.id] and not node.pending_deletion]
            if holders:
                primaries[tag] = min(holders, key=lambda node: (node.status != NodeStatus.READY, node.id)).id
                break
    return primaries

"""The fleet of a plan: the nodes it covers, real or assumed, the tags they carry, and who is primary.

Assumed nodes are written as `controller=3,compute+cinder=2`::

    SPEC  := roles=COUNT {, roles=COUNT}
    roles := role {+ role}

A role may be written `primary-ROLE` with the count 1: that node is the primary of the role's tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuelclient.errors import NotFound, UsageError
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.printing import count

PRIMARY = "primary-"
MASTER = "master"

SYNC = 0
"""The index of the sync points in a fleet."""

_ASKS_FOR_DELETED = re.compile(r"\$\.pending_deletion\b")
_LEAVES_DELETED = re.compile(r"\$\.pending_deletion\s*=\s*false|not\s*\(?\s*\$\.pending_deletion\b")
_HINT = "Write it like --assume controller=3,compute+cinder=2."
_MAX_NODES = 100_000
_MAX_DIGITS = 100
"""Python refuses to convert thousands of digits to a number, with an error of its own."""


@dataclass(frozen=True, slots=True)
class FleetNode:
    """A place where tasks run: the sync points (uid None), the master (uid "master") or a node.

    Roles and patterns are matched against `tags`. On the primary node of a tag, `primary-<tag>` replaces the tag. The
    sync points and the master have no tags.
    """

    uid: int | str | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """The places in their total order: sync points, master, nodes by id.

    `absent` are the nodes left out because they are offline. `assumption` is a sentence about assumed nodes; empty if
    there are none.
    """

    nodes: tuple[FleetNode, ...]
    absent: tuple[int, ...] = ()
    assumption: str = ""

    @property
    def size(self) -> int:
        """The number of nodes, without the sync points and the master."""
        return len(self.nodes) - 2


NO_NODES = Fleet((FleetNode(None), FleetNode(MASTER)))
"""Only the sync points and the master."""


def require_nodes_in(cluster_id: int, node_ids: Iterable[int], present: Sequence[int]) -> None:
    """Raise `NotFound` for the first of `node_ids` that is not `present` in an environment."""
    for node_id in node_ids:
        if node_id not in present:
            message = f"Node {node_id} is not in environment {cluster_id}."
            hint = "" if present else "Add some with `fuel2 env add nodes`."
            raise NotFound("node", node_id, known=[*map(str, present)], message=message, hint=hint)


def fleet_of(snapshot: Snapshot, *, node_ids: Sequence[int] = (), assume: str = "") -> Fleet:
    """The fleet of an environment, of some of its nodes, or of assumed nodes.

    For an environment without nodes, assume two nodes for each role that has a primary and one for each other role.
    Raise `NotFound` for a node id that is not in the environment, and what `assumed_nodes` raises.
    """
    if node_ids and not assume:
        candidates, assumption = list(snapshot.nodes), ""
    else:
        candidates, assumption = fleet_candidates(snapshot, assume)
    require_nodes_in(snapshot.cluster.id, node_ids, sorted(node.id for node in candidates))
    wanted = set(node_ids)
    nodes = [node for node in candidates if node.id in wanted] if wanted else candidates
    absent = tuple(sorted(node.id for node in nodes if not node.online))
    online = sorted((node for node in nodes if node.online), key=lambda node: node.id)
    tags = {node.id: tags_of(node.all_roles, snapshot.roles) for node in candidates}
    primaries = primaries_of(online, candidates, tags, snapshot.primary_tags)
    tagged = (
        FleetNode(node.id, tuple(PRIMARY + tag if primaries.get(tag) == node.id else tag for tag in tags[node.id]))
        for node in online
    )
    return Fleet((FleetNode(None), FleetNode(MASTER), *tagged), absent, assumption)


def fleet_candidates(snapshot: Snapshot, assume: str) -> tuple[list[Node], str]:
    """The nodes from which a fleet is chosen, and a sentence about those that are assumed.

    Raise what `assumed_nodes` raises.
    """
    if assume:
        nodes = assumed_nodes(assume, snapshot)
        return nodes, f"The environment's own nodes are replaced by {count(len(nodes), 'assumed node')} ({assume})."
    if snapshot.nodes:
        return _runnable_nodes(snapshot), ""
    # Two nodes show how the primary of a role differs from its other nodes.
    each = [
        name
        for name, role in snapshot.roles.items()
        for _ in range(1 if snapshot.primary_tags.isdisjoint(role.tags) else 2)
    ]
    if not each:
        return [], "The environment has no nodes, and its release defines no roles."
    return [Node(number, f"node-{number}", pending_roles=(role,)) for number, role in enumerate(each, start=1)], (
        f"The environment has no nodes. Assumed: {count(len(each), 'node')}, two for each role with a primary and one"
        f" for each other role. Name your own with --assume {each[0]}=3."
    )


def _runnable_nodes(snapshot: Snapshot) -> list[Node]:
    """The nodes on which the graph can run. Those marked for deletion are included only if its node filter asks for
    them."""
    filters = [layer.metadata["node_filter"] for layer in snapshot.layers if layer.metadata.get("node_filter")]
    asks = filters and _ASKS_FOR_DELETED.search(str(filters[-1])) and not _LEAVES_DELETED.search(str(filters[-1]))
    return [node for node in snapshot.nodes if asks or not node.pending_deletion]


def assumed_nodes(spec: str, snapshot: Snapshot) -> list[Node]:
    """The nodes that `spec` describes, numbered from 1 in its order.

    Raise `UsageError` for a spec that cannot be read, `NotFound` for a role that neither the release nor an enabled
    plugin defines.
    """
    if not spec.isprintable():
        raise UsageError(f"--assume: {spec!r} contains characters that cannot be printed.", hint=_HINT)
    nodes: list[Node] = []
    taken: set[str] = set()
    for part in spec.split(","):
        roles, count = _roles_and_count(part.strip(), spec)
        primary = tuple(role for role in roles if role not in snapshot.roles and role.startswith(PRIMARY))
        plain = tuple(role.removeprefix(PRIMARY) if role in primary else role for role in roles)
        for written, role in zip(roles, plain, strict=True):
            if role not in snapshot.roles:
                raise NotFound("role", written, known=list(snapshot.roles))
        tags = tuple(
            tag
            for role in primary
            for tag in snapshot.roles[role.removeprefix(PRIMARY)].tags
            if tag in snapshot.primary_tags
        )
        if primary and (count != 1 or not tags or taken & set(tags)):
            problem = "a role has at most one primary node" if tags else "that role has no primary"
            raise UsageError(f"--assume: {part.strip()!r}: {problem}.", hint=_HINT)
        if len(nodes) + count > _MAX_NODES:
            raise UsageError(f"--assume: more than {_MAX_NODES} nodes.", hint=_HINT)
        taken.update(tags)
        numbers = range(len(nodes) + 1, len(nodes) + count + 1)
        nodes += (Node(number, f"node-{number}", pending_roles=plain, primary_tags=tags) for number in numbers)
    return nodes


def _roles_and_count(part: str, spec: str) -> tuple[tuple[str, ...], int]:
    roles_text, equals, count_text = part.partition("=")
    roles = tuple(dict.fromkeys(role.strip() for role in roles_text.split("+")))
    if not equals or not all(roles) or not count_text.strip().isdecimal():
        raise UsageError(f"--assume: cannot read {part!r} in {spec!r}.", hint=_HINT)
    if len(count_text) > _MAX_DIGITS:
        raise UsageError(f"--assume: more than {_MAX_NODES} nodes.", hint=_HINT)
    return roles, int(count_text)


def tags_of(roles: Iterable[str], known: Mapping[str, Role]) -> tuple[str, ...]:
    """The tags of nodes with these roles, each once. A role that has no definition is its own tag."""
    return tuple(dict.fromkeys(tag for name in roles for tag in (known[name].tags if name in known else (name,))))


def primaries_of(
    nodes: Sequence[Node], candidates: Sequence[Node], tags: dict[int, tuple[str, ...]], primary_tags: Iterable[str]
) -> dict[str, int]:
    """The primary node of each tag that has one.

    A node of `candidates` that is already the primary remains so, even if it is not among `nodes`. Otherwise it is the
    first ready node, or else the first node. Nodes that are about to be deleted are never primary. Source: Nailgun
    `Cluster.set_primary_tag`.
    """
    primaries: dict[str, int] = {}
    for tag in sorted(primary_tags):
        kept = [node for node in candidates if tag in node.primary_tags]
        for choice in (kept, nodes):
            if holders := [node for node in choice if tag in tags[node.id] and not node.pending_deletion]:
                primaries[tag] = min(holders, key=lambda node: (node.status != NodeStatus.READY, node.id)).id
                break
    return primaries

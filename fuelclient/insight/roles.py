"""Which tasks a role brings to a node, and which nodes have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fuelclient.grouping import grouped
from fuelclient.model.graph import MergedTask
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.fleet import MASTER, PRIMARY, FleetNode
from fuelclient.plan.place import Resolver, place


@dataclass(frozen=True, slots=True)
class Holders:
    """The ids of the nodes that have a role: deployed, or pending until a run."""

    deployed: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(sorted({*self.deployed, *self.pending}))


def tasks_of_roles(tasks: Iterable[MergedTask], snapshot: Snapshot) -> Mapping[str, frozenset[int]]:
    """Return, for each role, the merged tasks (by index) that run on a node because it has that role: on any holder, or
    on the primary one alone. Sync points and what runs on the master belong to no role.

    The placement itself answers, for two invented nodes of each role, so that a role that no node has gets tasks too.
    """
    fleet = [FleetNode(None), FleetNode(MASTER)]
    names: list[str] = []
    for role in snapshot.roles.values():
        primary = tuple(PRIMARY + tag if tag in snapshot.primary_tags else tag for tag in role.tags)
        for tags in (role.tags, primary):
            fleet.append(FleetNode(len(fleet), tags))
            names.append(role.name)
    tasks_of: dict[str, set[int]] = {name: set() for name in snapshot.roles}
    for task, nodes in enumerate(place(tuple(tasks), Resolver(fleet)).nodes):
        for node in nodes:
            if node >= 2:
                tasks_of[names[node - 2]].add(task)
    return {name: frozenset(indices) for name, indices in tasks_of.items()}


def holders(nodes: Iterable[Node]) -> Mapping[str, Holders]:
    """Return the nodes of each role that a node has.

    >>> holders([Node(1, "a", roles=("web",)), Node(2, "b", pending_roles=("web",))])["web"].all
    (1, 2)
    """
    having = sorted(nodes, key=lambda node: node.id)
    deployed = grouped((role, node.id) for node in having for role in node.all_roles if role in node.roles)
    pending = grouped((role, node.id) for node in having for role in node.all_roles if role not in node.roles)
    return {
        role: Holders(tuple(deployed.get(role, ())), tuple(pending.get(role, ()))) for role in {**deployed, **pending}
    }

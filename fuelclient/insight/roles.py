"""What a role brings, and who has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fuelclient.model.graph import MergedTask
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.fleet import MASTER, PRIMARY, FleetNode
from fuelclient.plan.place import Resolver, place


@dataclass(frozen=True, slots=True)
class Holders:
    """The nodes that have a role, those on which it is deployed and those where it waits for a run, by id."""

    deployed: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(sorted({*self.deployed, *self.pending}))


def tasks_of_roles(tasks: Iterable[MergedTask], snapshot: Snapshot) -> Mapping[str, frozenset[int]]:
    """For each role, the merged tasks (by index) that run on a node because it has that role: on any holder, or on
    the primary one alone. Sync points and what runs on the master belong to no role.

    It asks the placement itself, of two made-up nodes for each role, so that a role nobody has answers too.
    """
    fleet = [FleetNode(None), FleetNode(MASTER)]
    names: list[str] = []
    for role in snapshot.roles.values():
        primary = tuple(PRIMARY + tag if tag in snapshot.primary_tags else tag for tag in role.tags)
        for tags in (role.tags, primary):
            fleet.append(FleetNode(len(fleet), tags))
            names.append(role.name)
    found: dict[str, set[int]] = {name: set() for name in snapshot.roles}
    for task, nodes in enumerate(place(tuple(tasks), Resolver(fleet)).nodes):
        for node in nodes:
            if node >= 2:
                found[names[node - 2]].add(task)
    return {name: frozenset(indices) for name, indices in found.items()}


def holders(nodes: Iterable[Node]) -> Mapping[str, Holders]:
    """Who has each role that anybody has.

    >>> holders([Node(1, "a", roles=("web",)), Node(2, "b", pending_roles=("web",))])["web"].all
    (1, 2)
    """
    deployed: dict[str, list[int]] = {}
    pending: dict[str, list[int]] = {}
    for node in sorted(nodes, key=lambda node: node.id):
        for role in node.roles:
            deployed.setdefault(role, []).append(node.id)
        for role in node.pending_roles:
            if role not in node.roles:
                pending.setdefault(role, []).append(node.id)
    return {
        role: Holders(tuple(deployed.get(role, ())), tuple(pending.get(role, ()))) for role in {**deployed, **pending}
    }

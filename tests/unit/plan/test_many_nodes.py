"""Placing and ordering tasks on thousands of nodes compares each node a few times, never with all others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from building import fleet, merged

from fuelclient.model.graph import MergedTask
from fuelclient.model.task import Task
from fuelclient.plan import expand as expanding
from fuelclient.plan.place import Placement, Resolver, place

NODES = 10_000


class Counted(int):
    """A node by index, which counts how often nodes are compared."""

    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        assert Counted.comparisons < 10 * NODES
        return int.__eq__(self, other)

    __hash__ = int.__hash__


def counted(tasks: tuple[MergedTask, ...], resolver: Resolver) -> Placement:
    """The placement, with nodes that count their comparisons; equal ones are the same object."""
    placement = place(tasks, resolver)
    known = list(map(Counted, range(len(resolver.nodes))))
    return replace(placement, nodes=tuple(tuple(known[node] for node in nodes) for nodes in placement.nodes))


def test_nodes_on_which_two_tasks_meet_are_not_searched_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expanding, "place", counted)
    monkeypatch.setattr(Counted, "comparisons", 0)
    stated: dict[str, dict[str, Any]] = {
        "start": {"type": "stage"},
        "web": {"roles": ["web"], "requires": ["start"]},
        "db": {"roles": ["db"], "requires": ["web"], "required_for": ["both"]},
        "both": {"roles": ["web", "db"], "cross_depends": [{"name": "web", "role": "self"}]},
    }
    tasks = merged(*(Task(name, {"type": "shell", **rest}) for name, rest in stated.items()))
    roles = {number: ["web", "db"] if number % 3 else ["db"] for number in range(1, NODES + 1)}

    expansion = expanding.expand(tasks, fleet(roles))

    webs = sum("web" in names for names in roles.values())
    assert expansion.size == 1 + webs + 2 * NODES
    assert len(expansion.edges) == 3 * webs + NODES
    assert Counted.comparisons > 0

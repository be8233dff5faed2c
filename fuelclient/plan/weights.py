"""Weights: which of the instances that could start on a node starts first."""

from __future__ import annotations

from collections import Counter

from fuelclient.errors import CycleDetected
from fuelclient.graph.dag import order, shortest_cycle
from fuelclient.plan.work import Work

SAME_NODE = 1
OTHER_NODE = 10
CEILING = 1 << 256
"""The largest weight: see `weights`."""


def weights(work: Work) -> list[int]:
    """The weight of every instance: for each direct follower its own weight, and 1 when it stands on the same node or
    10 when it stands on another.

    Such a weight counts ways through the graph and grows with a power of its depth: the graph of a real release
    exceeds 64 bits on five nodes. These are Python's integers, exact up to `CEILING` and equal to it beyond, so
    that a graph of any depth takes O(V + E) steps and memory. Ties, also those at the ceiling, are broken by the
    instance's number, which makes the order total. A follower that is reached directly and through a barrier
    counts once for each way. Raises `CycleDetected`. Source: Astute `fuel_deployment/task.rb`.
    """
    result = order(work.successors, work.size)
    if result.stuck:
        names = [work.name(vertex) for vertex in shortest_cycle(work.successors, work.size, result.stuck)]
        ring = " -> ".join((*names, names[0]))
        raise CycleDetected(f"The graph has a cycle of {len(names)} task instances: {ring}.", cycle=names)
    total = [0] * len(work.successors)
    standing: dict[int, Counter[int]] = {}
    for vertex in reversed(result.topological):
        following = work.successors[vertex]
        if vertex >= work.size:
            standing[vertex] = Counter(work.node_of[after] for after in following)
            total[vertex] = sum(total[after] for after in following) + OTHER_NODE * len(following)
            continue
        node, weight = work.node_of[vertex], 0
        for after in following:
            if after >= work.size:
                weight += total[after] - (OTHER_NODE - SAME_NODE) * standing[after][node]
            else:
                weight += total[after] + (SAME_NODE if work.node_of[after] == node else OTHER_NODE)
        total[vertex] = min(weight, CEILING)
    return total[: work.size]


def most_urgent_first(work: Work) -> list[int]:
    """All instances, the heaviest first, equal ones as they are numbered. Raises `CycleDetected`."""
    weight = weights(work)
    return sorted(range(work.size), key=lambda vertex: -weight[vertex])

"""The order of an expansion: generations, stages, and cycles explained edge by edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fuelclient.errors import CycleDetected
from fuelclient.graph.dag import Order, components, order, shortest_cycle
from fuelclient.model.finding import Finding, Severity
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import SYNC

_BETWEEN = "Remove one of the dependencies of the cycle."
_ON_ITSELF = "A task that waits for itself on other nodes needs the strategy one_by_one, or separate primary roles."
_MOST_CYCLES = 10
_MOST_COMPONENTS = 10_000
"""The most cycles that one error lists, and the most components that are searched for them."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """The generation of every task instance, and the sync point that most recently precedes it (by vertex number, or
    None), from which its stage follows."""

    generation: list[int]
    last_sync: list[int | None]

    @property
    def generations(self) -> int:
        return max(self.generation, default=-1) + 1


def ordered(expansion: Expansion) -> Ordered:
    """Return the order of an expansion. Raise `CycleDetected` if it has none, with one finding for each edge of a
    shortest cycle, and of one of each further set of tasks that wait for one another: its attribute, layer and place.
    """
    found, cycles = ordered_despite_cycles(expansion)
    if not cycles:
        return found
    names = [expansion.name(vertex) for vertex in cycles[0]]
    message = f"The graph has a cycle of {len(names)} task instances: {' -> '.join((*names, names[0]))}."
    if others := len(cycles) - 1:
        message += f" It has {others} more cycle{'s' * (others > 1)} of other tasks."
    raise CycleDetected(
        message, cycle=names, findings=[finding for each in cycles for finding in edges_of(expansion, each)]
    )


def ordered_despite_cycles(expansion: Expansion) -> tuple[Ordered, list[list[int]]]:
    """Return an order in which instances that wait for one another have none among themselves, and a shortest cycle of
    each such set, as task instances; there are none if the graph has an order."""
    successors = expansion.edges.successors()
    result = order(successors, expansion.size)
    if not result.stuck:
        return _ordered(expansion, successors, result), []
    cycles = distinct_cycles(expansion, successors, result.stuck)
    contracted = _contracted(successors, components(successors, result.stuck))
    return _ordered(expansion, contracted, order(contracted, expansion.size)), cycles


def _contracted(successors: Sequence[Sequence[int]], together: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the edges of a graph in which each of some sets of vertices lies between two barriers, without edges
    inside: what precedes one of them precedes all, and what follows one follows all."""
    home = {vertex: number for number, component in enumerate(together) for vertex in component}
    first = len(successors)
    into = [first + 2 * number for number in range(len(together))]

    def targets(vertices: Iterable[int], own: int | None) -> list[int]:
        outside = (vertex for vertex in vertices if own is None or home.get(vertex) != own)
        return list(dict.fromkeys(into[home[vertex]] if vertex in home else vertex for vertex in outside))

    edges = [
        [into[home[vertex]] + 1] if vertex in home else targets(following, None)
        for vertex, following in enumerate(successors)
    ]
    for number, component in enumerate(together):
        edges.append(list(component))
        edges.append(targets((after for vertex in component for after in successors[vertex]), number))
    return edges


def _ordered(expansion: Expansion, successors: Sequence[Sequence[int]], result: Order) -> Ordered:
    last: list[int] = [-1] * len(successors)
    sync_rank: list[int] = []
    for vertex in result.topological:
        passed = last[vertex]
        if vertex < expansion.size and expansion.node_of[vertex] == SYNC:
            sync_rank.append(vertex)
            passed = len(sync_rank) - 1
            last[vertex] = passed
        if passed >= 0:
            for after in successors[vertex]:
                last[after] = max(last[after], passed)
    last_sync = [sync_rank[rank] if rank >= 0 else None for rank in last[: expansion.size]]
    return Ordered(result.generation, last_sync)


def first_generations(expansion: Expansion, order: Ordered) -> list[int]:
    """Return the generation of the first instance of each merged task; `expansion.size` for one that runs nowhere."""
    first = [expansion.size] * len(expansion.tasks)
    for vertex, task in enumerate(expansion.task_of):
        first[task] = min(first[task], order.generation[vertex])
    return first


def execution_order(first: Sequence[int]) -> list[int]:
    """Return merged tasks in the order of their first generations; what runs nowhere comes last."""
    return sorted(range(len(first)), key=lambda index: (first[index], index))


def distinct_cycles(expansion: Expansion, successors: Sequence[Sequence[int]], stuck: list[int]) -> list[list[int]]:
    """Return a shortest cycle, and one of every strongly connected component with other tasks.

    The same tasks on many nodes are one cycle for whoever has to correct it.
    """
    distinct = [shortest_cycle(successors, expansion.size, stuck)]
    known = {_tasks_of(expansion, distinct[0])}
    for component in components(successors, stuck)[:_MOST_COMPONENTS]:
        if len(distinct) == _MOST_CYCLES:
            break
        tasks = _tasks_of(expansion, component)
        if any(tasks >= cycle for cycle in known):
            continue
        cycle = shortest_cycle(successors, expansion.size, component)
        known |= {tasks, _tasks_of(expansion, cycle)}
        distinct.append(cycle)
    return distinct


def _tasks_of(expansion: Expansion, vertices: Iterable[int]) -> frozenset[int]:
    return frozenset(expansion.task_of[vertex] for vertex in vertices if vertex < expansion.size)


def edges_of(expansion: Expansion, cycle: Sequence[int]) -> Iterator[Finding]:
    """Yield the finding (G050) of each edge of a cycle of vertices."""
    for before, after in pairwise((*cycle, cycle[0])):
        words = expansion.words_between(before, after)
        said = "; ".join(f"{each.task} says {each.attribute}: {each.word} ({each.place.layer})" for each in words)
        hint = _ON_ITSELF if expansion.task_of[before] == expansion.task_of[after] else _BETWEEN
        message = f"{expansion.name(before)} runs before {expansion.name(after)}: {said}"
        yield Finding(Severity.ERROR, "G050", message, words[0].place, words[0].task, hint)

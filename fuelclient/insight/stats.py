"""The figures of a graph: how large, how deep and how wide it is, who changes it, and what everything waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuelclient.insight.relation import reverse
from fuelclient.plan.study import Study

_MOST = 5


@dataclass(frozen=True, slots=True)
class Stats:
    """The figures of an ordered graph.

    `types`, `layers` and `findings` count tasks by type and layer, and findings by code. `changed` are the tasks that
    override others. `edges` are those between tasks. `longest` is a longest chain of instances, `widest` the generation
    with the most instances and their number. `most_before` and `most_after` are the tasks with the most direct
    neighbours.
    """

    tasks: int
    placed: int
    changed: int
    instances: int
    nodes: int
    generations: int
    edges: int
    types: Mapping[str, int]
    layers: Mapping[str, int]
    findings: Mapping[str, int]
    longest: tuple[str, ...]
    widest: tuple[int, int]
    most_before: tuple[tuple[str, int], ...]
    most_after: tuple[tuple[str, int], ...]


def stats(study: Study) -> Stats:
    """Return the figures of an ordered study; in O(V + E)."""
    tasks = study.merged.tasks
    width = Counter(study.generation)
    widest = max(sorted(width), key=width.__getitem__, default=0)
    return Stats(
        tasks=len(tasks),
        placed=len(set(study.expansion.task_of)),
        changed=sum(bool(task.overrides) for task in tasks),
        instances=study.expansion.size,
        nodes=study.expansion.fleet.size,
        generations=len(width),
        edges=sum(map(len, study.before)),
        types=_counted(task.task.type for task in tasks),
        layers=_counted(task.owner.label for task in tasks),
        findings=_counted(finding.code for finding in study.findings),
        longest=_longest(study),
        widest=(widest, width[widest]),
        most_before=_most(study, study.before),
        most_after=_most(study, study.after),
    )


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))


def _most(study: Study, neighbours: Sequence[frozenset[int]]) -> tuple[tuple[str, int], ...]:
    ranked = sorted(range(len(neighbours)), key=lambda index: (-len(neighbours[index]), index))
    return tuple(
        (study.merged.tasks[index].id, len(neighbours[index])) for index in ranked[:_MOST] if neighbours[index]
    )


def _longest(study: Study) -> tuple[str, ...]:
    """Return a longest chain: from the last generation back, each time an instance of the generation below."""
    expansion, generation = study.expansion, study.generation
    if not study.order:
        return ()
    predecessors = reverse(expansion.edges.successors())
    path = [study.order[-1]]
    while generation[path[-1]]:
        direct = (
            other
            for before in predecessors[path[-1]]
            for other in ([before] if before < expansion.size else predecessors[before])
        )
        path.append(min(other for other in direct if generation[other] == generation[path[-1]] - 1))
    return tuple(expansion.name(vertex) for vertex in reversed(path))

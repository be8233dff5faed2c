"""The total order of a graph, with the reason for the position of each task."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fuelclient.graph.stage import chains
from fuelclient.insight.relation import Because, reverse, stage_rule
from fuelclient.insight.why import Word, stated
from fuelclient.plan.preview import PreviewRow
from fuelclient.plan.study import Study


class Holds(StrEnum):
    """What keeps a task from an earlier position, besides the rules of stages (`Because`)."""

    NOTHING = "nothing"
    """Nothing precedes it."""
    STAGE = "stage"
    """It is the first task of its stage, after the sync point that ends it."""
    COMPUTED = "computed"
    """A dependency that an expression states."""


@dataclass(frozen=True, slots=True)
class Position:
    """The position of one task, by its preview row and merged task.

    It is where it is because of the task `after`, which precedes it directly and runs last of those that do; `words`
    are the statements that say so. Without one, `after` is empty.
    """

    row: PreviewRow
    index: int
    because: Because | Holds
    after: str = ""
    words: tuple[Word, ...] = ()


def positions(study: Study) -> Iterator[Position]:
    """Yield the tasks of an ordered study in execution order."""
    before_in_stage = {
        after: before
        for chain in chains(study.merged.tasks)
        for placed in ([index for index in chain.entries if study.rows[study.row_of[index]].nodes],)
        for before, after in itertools.pairwise(placed)
    }
    held = _held(study)
    for row, index in zip(study.rows, study.indices, strict=True):
        yield _position(study, row, index, before_in_stage.get(index), held)


def _position(study: Study, row: PreviewRow, index: int, earlier: int | None, held: Mapping[int, int]) -> Position:
    tasks = study.merged.tasks
    if not row.nodes:
        return Position(row, index, Because.NOWHERE)
    before = held.get(index)
    if before is None:
        return Position(row, index, Holds.NOTHING)
    if earlier is not None and before == earlier:
        return Position(row, index, stage_rule(tasks[earlier], tasks[index]), tasks[earlier].id)
    words = stated(tasks[before], tasks[index])
    if words[0].attribute != "stage":
        return Position(row, index, Because.DEPENDENCY, tasks[before].id, words)
    because = Holds.STAGE if words[0].word else Holds.COMPUTED
    return Position(row, index, because, tasks[before].id, words if words[0].word else ())


def _held(study: Study) -> dict[int, int]:
    """Return, for each merged task, the task of the instance that its first instance waits for longest; in O(V + E).

    On the longest path to an instance, the one before it has the generation below its own.
    """
    expansion, generation = study.expansion, study.generation
    first: dict[int, int] = {}
    for vertex in study.order:
        first.setdefault(expansion.task_of[vertex], vertex)
    predecessors = reverse(expansion.edges.successors())
    held: dict[int, int] = {}
    for task, vertex in first.items():
        direct = (
            other
            for before in predecessors[vertex]
            for other in ([before] if before < expansion.size else predecessors[before])
        )
        binding = [other for other in direct if generation[other] == generation[vertex] - 1]
        if binding:
            held[task] = expansion.task_of[min(binding)]
    return held

"""The total order of a graph, with the reason for the position of each task."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from fuelclient.graph.stage import chains
from fuelclient.insight.relation import Because, stage_rule, stated
from fuelclient.plan.expand import Word
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
    tasks, task_of = study.merged.tasks, study.expansion.task_of
    before_in_stage = {
        after: before
        for chain in chains(tasks)
        for before, after in itertools.pairwise(
            index for index in chain.entries if study.rows[study.row_of[index]].nodes
        )
    }
    first: dict[int, int] = {}
    for vertex in study.order:
        first.setdefault(task_of[vertex], vertex)
    for row, index in zip(study.rows, study.indices, strict=True):
        if not row.nodes:
            yield Position(row, index, Because.NOWHERE)
            continue
        holding = study.held_by(first[index])
        if holding is None:
            yield Position(row, index, Holds.NOTHING)
            continue
        before, after = tasks[task_of[holding]], tasks[index]
        words = stated(before, after)
        if before_in_stage.get(index) == task_of[holding]:
            yield Position(row, index, stage_rule(before, after), before.id)
        elif words[0].attribute != "stage":
            yield Position(row, index, Because.DEPENDENCY, before.id, words)
        elif words[0].word:
            yield Position(row, index, Holds.STAGE, before.id, words)
        else:
            yield Position(row, index, Holds.COMPUTED, before.id)

"""What a picture of an ordered graph shows: selected tasks, the order between them, and their groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from fuelclient.grouping import grouped
from fuelclient.insight.lanes import Reach
from fuelclient.model.graph import MergedTask
from fuelclient.model.task import TaskType
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plan.preview import PreviewRow
from fuelclient.plan.study import Study

_MOST_ROLES = 2
"""Tasks of more roles than this form one group, because nearly each of them has a list of its own."""


class Grouping(StrEnum):
    """By what tasks are grouped."""

    STAGE = "stage"
    ROLE = "role"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Vertex:
    """A task of a picture, by its preview row and merged task. `name` is its id, with the layer if that is not
    unique."""

    row: PreviewRow
    task: MergedTask
    index: int
    name: str
    group: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The tasks in execution order, and the edges between them, by their numbers in `vertices`.

    `edges` lead forward. `back` lead to earlier tasks, since a task may wait for one whose first instance runs later.
    `cycle` has those of them that are on a shortest cycle: a task that waits for itself on other nodes leads to itself.
    `implied` is how many edges are not drawn because others say the same.
    """

    study: Study
    vertices: tuple[Vertex, ...]
    edges: tuple[tuple[int, int], ...]
    back: tuple[tuple[int, int], ...]
    implied: int
    grouping: Grouping
    cycle: frozenset[tuple[int, int]] = frozenset()

    @property
    def groups(self) -> dict[str, list[int]]:
        """The numbers of the vertices in each group, in execution order; one group without a name if there are none."""
        return grouped((vertex.group, number) for number, vertex in enumerate(self.vertices))


def picture(
    study: Study,
    selected: Collection[int] | None = None,
    *,
    grouping: Grouping = Grouping.STAGE,
    reduced: bool = True,
) -> Picture:
    """Return the picture of an ordered study: of the merged tasks `selected`, or of all that run somewhere.

    `reduced` leaves out every edge that a longer path implies, and keeps the order that goes through tasks that are
    left out. Otherwise all edges between the tasks are drawn.
    """
    kept = [
        number
        for number, (row, index) in enumerate(zip(study.rows, study.indices, strict=True))
        if (row.nodes if selected is None else index in selected)
    ]
    place = {row: number for number, row in enumerate(kept)}
    successors = [sorted(study.row_of[after] for after in study.after[index]) for index in study.indices]
    direct = [(row, after) for row in kept for after in successors[row] if after in place]
    forward = [(row, after) for row, after in direct if row < after]
    cycle = {edge for edge in _cycle(study) if edge[0] in place and edge[1] in place}
    drawn = forward
    if reduced:
        nearest = zip(kept, Reach(successors).reduced(kept), strict=True)
        drawn = [(row, after) for row, following in nearest for after in following]
    drawn += sorted({edge for edge in cycle if edge[0] < edge[1]} - set(drawn))
    back = sorted(
        {(row, after) for row, after in direct if row > after} | {edge for edge in cycle if edge[0] >= edge[1]}
    )
    ids = Counter(study.rows[row].task for row in kept)
    return Picture(
        study,
        tuple(_vertex(study, row, grouping, unique=ids[study.rows[row].task] == 1) for row in kept),
        tuple((place[row], place[after]) for row, after in drawn),
        tuple((place[row], place[after]) for row, after in back),
        len(set(forward) - set(drawn)),
        grouping,
        frozenset((place[row], place[after]) for row, after in cycle),
    )


def _cycle(study: Study) -> Iterator[tuple[int, int]]:
    """Yield the edges of the cycles of a study, by rows."""
    for ring in study.cycles:
        rows = [study.row_of[index] for index in ring]
        yield from pairwise((*rows, rows[0]))


def _vertex(study: Study, number: int, grouping: Grouping, *, unique: bool) -> Vertex:
    row, index = study.rows[number], study.indices[number]
    name = row.task if unique else f"{row.task} ({row.layer})"
    group = {Grouping.STAGE: row.stage or "", Grouping.ROLE: _roles(row), Grouping.NONE: ""}[grouping]
    return Vertex(row, study.merged.tasks[index], index, name, group)


def _roles(row: PreviewRow) -> str:
    if row.type == TaskType.STAGE:
        return "sync points"
    names = dict.fromkeys(role.removeprefix(PRIMARY) for role in row.roles)
    return "all nodes" if {"*", "/.*/"} & names.keys() else ", ".join(names) if len(names) <= _MOST_ROLES else "several"


def fewer(whole: Picture, most: int) -> Picture:
    """Return a large part of a picture that has at most `most` edges when it is reduced: its most important tasks.

    Tasks that a plugin or the environment changes are the most important, then sync points, then those with the most
    edges.
    """
    degree = Counter(end for edge in whole.edges for end in edge)

    def importance(number: int) -> tuple[object, ...]:
        row = whole.vertices[number].row
        return not row.is_changed, row.type != TaskType.STAGE, -degree[number], number

    ranked = [whole.vertices[number].index for number in sorted(range(len(whole.vertices)), key=importance)]
    part = picture(whole.study, ranked, grouping=whole.grouping)
    while len(part.edges) + len(part.back) > most:
        ranked = ranked[: len(ranked) * 9 // 10]
        part = picture(whole.study, set(ranked), grouping=whole.grouping)
    return part

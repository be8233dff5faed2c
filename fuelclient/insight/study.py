"""A study: one environment's graph merged, placed, ordered and linked once, for every question asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fuelclient.errors import InvalidGraph
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergedGraph, MergedTask
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion
from fuelclient.plan.preview import Preview, PreviewOptions, PreviewRow, draft, findings_of, order_of, preview_of


@dataclass(frozen=True, slots=True)
class TaskKey:
    """What a task is called whatever row it stands in: its id, and the layer of one among several of that id."""

    id: str
    layer: str = ""


@dataclass(frozen=True, slots=True)
class Study:
    """What is known of one graph of one environment.

    `rows` are the merged tasks in execution order; `indices` has the place of each row's task in `merged`, `row_of`
    the way back. `before` and `after` are the tasks whose instances directly precede and follow those of each merged
    task. A graph that cannot be ordered has no rows, and `problem` says why. `order` are the task instances in
    execution order, `generation` their ranks.
    """

    snapshot: Snapshot
    merged: MergedGraph
    expansion: Expansion
    findings: tuple[Finding, ...]
    preview: Preview | None = None
    problem: str = ""
    rows: tuple[PreviewRow, ...] = ()
    indices: tuple[int, ...] = ()
    row_of: dict[int, int] = field(default_factory=dict)
    before: tuple[frozenset[int], ...] = ()
    after: tuple[frozenset[int], ...] = ()
    order: tuple[int, ...] = ()
    generation: tuple[int, ...] = ()

    def task(self, row: int) -> MergedTask:
        """The merged task of a row."""
        return self.merged.tasks[self.indices[row]]

    def named(self, task: str) -> int | None:
        """The row of the first task of that id, in execution order; None where there is none."""
        return next((place for place, row in enumerate(self.rows) if row.task == task), None)

    def key(self, row: int) -> TaskKey:
        """What the task of a row is called in this study and in one of another time."""
        return TaskKey(self.rows[row].task, self.rows[row].layer)

    def row_with(self, key: TaskKey) -> int | None:
        """The row of a task: of the same id and layer, else of the same id, since a layer above may define it anew;
        None where it is gone."""
        exact = (place for place, row in enumerate(self.rows) if (row.task, row.layer) == (key.id, key.layer))
        return next(exact, self.named(key.id))


def study(snapshot: Snapshot, options: PreviewOptions | None = None) -> Study:
    """Everything that can be asked of `snapshot`, computed once. A graph with cycles, or one that cannot be merged,
    is a study with findings and without rows.

    Raises what `plan.fleet.fleet_of` raises for nodes that do not exist.
    """
    made = draft(snapshot, options or PreviewOptions())
    merged, expansion = made.merged, made.expansion
    after = _following(expansion)
    before = _reversed(after)
    try:
        order = order_of(made)
    except InvalidGraph as error:
        found = findings_of(made)
        return Study(snapshot, merged, expansion, found, problem=error.message, before=before, after=after)
    seen = preview_of(made, order)
    indices = _indices(merged, seen)
    generation = tuple(order.generation)
    return Study(
        snapshot, merged, expansion, seen.findings, seen,
        rows=seen.rows,
        indices=indices,
        row_of={index: row for row, index in enumerate(indices)},
        before=before,
        after=after,
        order=tuple(sorted(range(expansion.size), key=generation.__getitem__)),
        generation=generation,
    )  # fmt: skip


def _indices(merged: MergedGraph, seen: Preview) -> tuple[int, ...]:
    """The merged task of each row: variants share an id, and are told apart by their layer."""
    places: dict[tuple[str, str], int] = {}
    for index, task in enumerate(merged.tasks):
        places.setdefault((task.id, task.owner.label), index)
    return tuple(places[row.task, row.layer] for row in seen.rows)


def _following(expansion: Expansion) -> tuple[frozenset[int], ...]:
    """The tasks that directly follow each task on some node, with barriers dissolved."""
    edges, task_of = expansion.edges, expansion.task_of
    onward: dict[int, set[int]] = {}
    for head, tail in zip(edges.heads, edges.tails, strict=True):
        if head >= edges.real and tail < edges.real:
            onward.setdefault(head, set()).add(task_of[tail])
    found: list[set[int]] = [set() for _ in expansion.tasks]
    for head, tail in zip(edges.heads, edges.tails, strict=True):
        if head < edges.real:
            if tail < edges.real:
                found[task_of[head]].add(task_of[tail])
            else:
                found[task_of[head]] |= onward.get(tail, set())
    return tuple(frozenset(one - {task}) for task, one in enumerate(found))


def _reversed(after: Sequence[frozenset[int]]) -> tuple[frozenset[int], ...]:
    found: list[set[int]] = [set() for _ in after]
    for task, following in enumerate(after):
        for other in following:
            found[other].add(task)
    return tuple(frozenset(one) for one in found)

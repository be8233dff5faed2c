"""Study one environment's graph: merge, place, order and link it once, for every question that screens ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuelclient.errors import CycleDetected, InvalidGraph, NotFound
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergedGraph, MergedTask
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.evaluate import Evaluation
from fuelclient.plan.expand import Expansion
from fuelclient.plan.order import Ordered, ordered_despite_cycles
from fuelclient.plan.preview import Draft, Preview, PreviewOptions, PreviewRow, draft, findings_of, order_of, preview_of


@dataclass(frozen=True, slots=True)
class TaskKey:
    """A task by its id, whichever row shows it, and by its layer if several tasks share the id."""

    id: str
    layer: str = ""


def named(merged: MergedGraph, task: str) -> tuple[int, ...]:
    """Return the merged tasks (by index) with that id: several if plugins define variants of it.

    Raise `NotFound` if the graph has none, with the nearest id.
    """
    indices = tuple(index for index, candidate in enumerate(merged.tasks) if candidate.id == task)
    if not indices:
        raise NotFound("task", task, known=[candidate.id for candidate in merged.tasks])
    return indices


@dataclass(frozen=True, slots=True)
class Study:
    """What is known of one graph of one environment.

    `rows` are the merged tasks in execution order. `indices` has the index in `merged` of each row's task, `row_of` the
    row of each index. `before` and `after` are the tasks whose instances directly precede and follow those of each
    merged task. `order` has the task instances in execution order, `generation` their ranks. A graph that cannot be
    ordered has no rows, and `problem` says why. If it was studied despite its cycles, it has rows and a `problem`;
    `cycles` are then the merged tasks of a shortest cycle of each set that wait for one another.
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
    cycles: tuple[tuple[int, ...], ...] = ()

    def task(self, row: int) -> MergedTask:
        """Return the merged task of a row."""
        return self.merged.tasks[self.indices[row]]

    def named(self, task: str) -> int | None:
        """Return the row of the first task with that id, in execution order, or None."""
        return next((place for place, row in enumerate(self.rows) if row.task == task), None)

    def key(self, row: int) -> TaskKey:
        """Return the key of a row's task, which is valid in later studies too."""
        return TaskKey(self.rows[row].task, self.rows[row].layer)

    def row_with(self, key: TaskKey) -> int | None:
        """Return the row of a task, or None if it is gone.

        Prefer the same id and layer, but accept the id alone, since a layer above may have redefined the task.
        """
        exact = (place for place, row in enumerate(self.rows) if (row.task, row.layer) == (key.id, key.layer))
        return next(exact, self.named(key.id))


def study(
    snapshot: Snapshot,
    options: PreviewOptions | None = None,
    evaluation: Evaluation | None = None,
    *,
    despite_cycles: bool = False,
) -> Study:
    """Return the study of a snapshot; see `plan.preview.draft` for `evaluation`.

    If its graph has cycles or cannot be merged, it has findings but no rows. With `despite_cycles`, cycles have no
    order in themselves, and all other tasks have theirs.

    Raise what `plan.fleet.fleet_of` raises for nodes that do not exist.
    """
    drafted = draft(snapshot, options or PreviewOptions(knows_assumed=True), evaluation)
    merged, expansion = drafted.merged, drafted.expansion
    before = tuple(frozenset(tasks - {index}) for index, tasks in enumerate(expansion.preceding_tasks()))
    after = _reversed(before)
    order, problem, cycles = _ordered(drafted, despite_cycles=despite_cycles)
    if problem:
        drafted = replace(drafted, findings=findings_of(drafted))
    if order is None:
        return Study(snapshot, merged, expansion, drafted.findings, problem=problem, before=before, after=after)
    previewed = preview_of(drafted, order)
    # Variants share an id, so their layer distinguishes them.
    index_of = {(task.id, task.owner.label): index for index, task in reversed(list(enumerate(merged.tasks)))}
    indices = tuple(index_of[row.task, row.layer] for row in previewed.rows)
    generation = tuple(order.generation)
    return Study(
        snapshot, merged, expansion, previewed.findings, previewed, problem,
        rows=previewed.rows,
        indices=indices,
        row_of={index: row for row, index in enumerate(indices)},
        before=before,
        after=after,
        order=tuple(sorted(range(expansion.size), key=generation.__getitem__)),
        generation=generation,
        cycles=cycles,
    )  # fmt: skip


def _ordered(drafted: Draft, *, despite_cycles: bool) -> tuple[Ordered | None, str, tuple[tuple[int, ...], ...]]:
    """Return the order of a draft, or None; why it has none by itself; and the merged tasks of its cycles."""
    try:
        return order_of(drafted), "", ()
    except InvalidGraph as error:
        if not (despite_cycles and isinstance(error, CycleDetected)):
            return None, error.message, ()
        order, rings = ordered_despite_cycles(drafted.expansion)
        task_of = drafted.expansion.task_of
        return order, error.message, tuple(tuple(dict.fromkeys(task_of[vertex] for vertex in ring)) for ring in rings)


def _reversed(before: Sequence[frozenset[int]]) -> tuple[frozenset[int], ...]:
    after: list[set[int]] = [set() for _ in before]
    for task, preceding in enumerate(before):
        for other in preceding:
            after[other].add(task)
    return tuple(frozenset(following) for following in after)

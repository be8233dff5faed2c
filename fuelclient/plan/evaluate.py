"""Which task instances are skipped, and why: the filters and conditions of a run on an expansion.

A skipped instance stays where it is in the order: it does nothing, and what waits for it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum

from fuelclient.errors import FuelError, InvalidGraph
from fuelclient.graph.references import place_of
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.task import TaskType
from fuelclient.plan.expand import Expansion

Holds = Callable[[int, int], bool]
"""Whether the condition of a merged task holds on a node of the fleet, both by index; it may raise `FuelError`."""


class Skip(StrEnum):
    """Why an instance does nothing, the first reason that applies."""

    STAGE = "stage"
    TYPE = "skipped-type"
    FILTER = "filter"
    CONDITION = "condition"


def evaluate(expansion: Expansion, holds: Holds, only: Collection[str] | None = None) -> list[Skip | None]:
    """For each vertex why it is skipped, or None.

    `only` are the task ids that a run is limited to (None: all). Stages are never filtered; conditions of what is
    skipped anyway are not evaluated. The vertices are visited node by node, which evaluators that remember things
    can rely on. Raises `InvalidGraph` with one finding (G034) for each task whose condition fails.
    """
    types = [task.task.type for task in expansion.tasks]
    found: list[Skip | None] = [None] * expansion.size
    failed: dict[int, list[tuple[int, FuelError]]] = {}
    for vertex in sorted(range(expansion.size), key=expansion.node_of.__getitem__):
        task, node = expansion.task_of[vertex], expansion.node_of[vertex]
        if types[task] == TaskType.STAGE:
            found[vertex] = Skip.STAGE
        elif types[task] == TaskType.SKIPPED:
            found[vertex] = Skip.TYPE
        elif only is not None and expansion.tasks[task].id not in only:
            found[vertex] = Skip.FILTER
        else:
            try:
                found[vertex] = None if holds(task, node) else Skip.CONDITION
            except FuelError as error:
                failed.setdefault(task, []).append((vertex, error))
    if failed:
        raise _failure(expansion, "condition", failed)
    return found


def _failure(expansion: Expansion, attribute: str, failed: dict[int, list[tuple[int, FuelError]]]) -> InvalidGraph:
    findings = [_finding(expansion, attribute, task, failed[task]) for task in sorted(failed)]
    number = len(findings)
    message = f"The conditions of {number} tasks fail" if number > 1 else "The condition of one task fails"
    return InvalidGraph(
        f"{message} on the facts of this environment.", findings=findings,
        hint="Where they ask for what a Fuel master knows, upload its facts: `fuel2 env deployment-facts upload`.",
    )  # fmt: skip


def _finding(expansion: Expansion, attribute: str, task: int, failed: Iterable[tuple[int, FuelError]]) -> Finding:
    (vertex, error), *more = failed
    others = f" and {len(more)} more" if more else ""
    merged = expansion.tasks[task]
    return Finding(
        Severity.ERROR, "G034", f"{expansion.name(vertex)}{others}: {attribute}: {error.message}",
        place_of(merged, attribute), merged.id, error.hint,
    )  # fmt: skip

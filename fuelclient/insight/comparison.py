"""Compare two graphs, each merged and placed: tasks, attributes, the order of task instances, and new findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fuelclient.errors import InvalidGraph
from fuelclient.insight.graph_changes import TaskChange, ValueChange, metadata_changes, task_changes
from fuelclient.insight.order_effect import OrderEffect, order_effect
from fuelclient.insight.override_findings import override_findings
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergedTask
from fuelclient.plan.study import Study


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two graphs.

    `order` is None if one of the two has no order, and `problem` says why. `findings` are those about the second graph
    that the first one does not have; the places do not count.
    """

    tasks: tuple[TaskChange, ...]
    metadata: tuple[ValueChange, ...]
    order: OrderEffect | None
    problem: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def is_different(self) -> bool:
        """Whether anything differs."""
        order = self.order
        return bool(self.tasks or self.metadata or self.problem or (order and (order.lost or order.gained)))


def compare(before: Study, after: Study, *, masked: Callable[[MergedTask], MergedTask] | None = None) -> Comparison:
    """Return what the second graph changes. `masked` hides the secrets of a task where one side does not know them."""
    order, problem = None, ""
    try:
        order = order_effect(before.expansion, after.expansion)
    except InvalidGraph as error:
        problem = error.message
    known = {_subject(finding) for finding in _findings(before)}
    new = dict.fromkeys(finding for finding in _findings(after) if _subject(finding) not in known)
    tasks = [side.merged.tasks if masked is None else tuple(map(masked, side.merged.tasks)) for side in (before, after)]
    return Comparison(
        task_changes(*tasks),
        metadata_changes(before.merged.metadata, after.merged.metadata),
        order, problem, tuple(new),
    )  # fmt: skip


def _findings(study: Study) -> Iterator[Finding]:
    yield from study.findings
    yield from override_findings(study.merged)


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.task, finding.message

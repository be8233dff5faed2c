"""Compare two graphs, each merged and placed: tasks, attributes, the order of task instances, and new findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuelclient.errors import InvalidGraph
from fuelclient.graph.merge import merge_layers
from fuelclient.insight.graph_changes import TaskChange, ValueChange, metadata_changes, task_changes
from fuelclient.insight.order_effect import OrderEffect, order_effect
from fuelclient.insight.override_findings import override_findings
from fuelclient.model.finding import Finding
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import expand
from fuelclient.plan.fleet import fleet_of
from fuelclient.plan.preview import Draft, PreviewOptions, findings_of


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


def layer_draft(snapshot: Snapshot, options: PreviewOptions) -> Draft:
    """Return the draft of layers by themselves, without those below them.

    Overrides stay as they are, and have no place in the order, because they do not say where the task runs.
    """
    merged = merge_layers(snapshot.layers, keep_partial=True)
    fleet = fleet_of(snapshot, node_ids=options.node_ids, assume=options.assume)
    expansion = expand([task for task in merged.tasks if not task.task.is_partial], fleet)
    return Draft(snapshot, merged, expansion, merged.findings)


def compare(before: Draft, after: Draft) -> Comparison:
    """Return what the second graph changes."""
    order, problem = None, ""
    try:
        order = order_effect(before.expansion, after.expansion)
    except InvalidGraph as error:
        problem = error.message
    known = {_subject(finding) for finding in _findings(before)}
    new = dict.fromkeys(finding for finding in _findings(after) if _subject(finding) not in known)
    return Comparison(
        task_changes(before.merged.tasks, after.merged.tasks),
        metadata_changes(before.merged.metadata, after.merged.metadata),
        order, problem, tuple(new),
    )  # fmt: skip


def _findings(drafted: Draft) -> Iterator[Finding]:
    yield from findings_of(drafted)
    yield from override_findings(drafted.merged)


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.task, finding.message

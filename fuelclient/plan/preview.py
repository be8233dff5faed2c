"""Previews: the merged graph in execution order, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuelclient.graph.stage import band_of, parse_stage
from fuelclient.grouping import grouped
from fuelclient.model.finding import Finding
from fuelclient.model.graph import MergePolicy
from fuelclient.plan.dropped import Dropped
from fuelclient.plan.expand import Expansion
from fuelclient.plan.order import Ordered, execution_order, first_generations


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """What to preview: on which nodes, and how layers merge.

    `node_ids` restricts the environment's nodes; `assume` (`controller=3,compute+cinder=2`) replaces them.
    """

    node_ids: tuple[int, ...] = ()
    assume: str = ""
    policy: MergePolicy = MergePolicy.REPLACE


ALL_NODES = PreviewOptions()
"""All nodes of the environment, with layers merged as on a Fuel master."""


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One merged task.

    `nodes` has `"master"`, None for a sync point, or node ids. Generations are None for a task that runs nowhere.
    `stage`, `priority` and `band` are its place in the stages. `verdicts` has for each of `nodes` what would
    happen there: `run`, `skip`, or `unknown: ` and a path; it is empty if the preview uses no facts. `dropped` are the
    predecessors named in its attributes that run nowhere.
    """

    order: int
    first_generation: int | None
    last_generation: int | None
    stage: str | None
    priority: float | int | None
    band: str | None
    task: str
    type: str
    roles: tuple[str, ...]
    nodes: tuple[int | str | None, ...]
    layer: str
    overrides: tuple[str, ...]
    requires: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    verdicts: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether a plugin or the environment defines or changes this task."""
        return self.layer != "release"

    @property
    def generations(self) -> str:
        """The first and the last generation as a text: `3-5`, `3`, or empty."""
        if self.first_generation is None:
            return ""
        if self.first_generation == self.last_generation:
            return str(self.first_generation)
        return f"{self.first_generation}-{self.last_generation}"


@dataclass(frozen=True, slots=True)
class Preview:
    """All rows in execution order, every finding, and the figures of a summary line.

    `assumption` is a sentence about assumed nodes; empty if there are none.
    `computed` counts the tasks with dependencies that only a run can compute: they may run later than shown.
    """

    rows: tuple[PreviewRow, ...]
    findings: tuple[Finding, ...]
    instances: int
    sync_points: int
    on_master: int
    nodes: int
    generations: int
    assumption: str = ""
    computed: int = 0


def rows_of(
    expansion: Expansion,
    order: Ordered,
    preceding: Sequence[set[int]],
    dropped: Dropped,
    findings: Iterable[Finding],
    verdicts: Sequence[str],
) -> Iterator[PreviewRow]:
    """Yield the tasks of an expansion in its order; `preceding` has the tasks that directly precede each."""
    by_task = grouped((finding.task, finding) for finding in findings)
    uids = {nodes: tuple(expansion.fleet.nodes[node].uid for node in nodes) for nodes in expansion.placement.nodes}
    for position, index in enumerate(execution_order(first_generations(expansion, order)), start=1):
        task, own = expansion.tasks[index], expansion.instances[index]
        stage, priority, band = _stage(expansion, order, index, own)
        ranks = order.generation[own.start : own.stop]
        yield PreviewRow(
            order=position,
            first_generation=min(ranks, default=None),
            last_generation=max(ranks, default=None),
            stage=stage,
            priority=priority,
            band=band,
            task=task.id,
            type=task.task.type,
            roles=task.task.placement[1],
            nodes=uids[expansion.placement.nodes[index]],
            layer=task.owner.label,
            overrides=tuple(owner.label for owner in task.overrides),
            requires=tuple(dict.fromkeys(expansion.tasks[other].id for other in sorted(preceding[index]))),
            dropped=dropped.names_before(index),
            findings=tuple(by_task.get(task.id, ())),
            verdicts=tuple(verdicts[own.start : own.stop]),
        )


def _stage(
    expansion: Expansion, order: Ordered, index: int, vertices: Sequence[int]
) -> tuple[str | None, float | int | None, str | None]:
    """The stage of a task that has one, with its priority and band; for others, the stage between whose sync points the
    task starts."""
    if given := expansion.tasks[index].task.stage:
        stage = parse_stage(given)
        priority = int(stage.priority) if stage.priority.is_integer() else stage.priority
        return stage.name, priority, band_of(stage.priority)
    first = min(vertices, key=order.generation.__getitem__, default=None)
    sync = None if first is None else order.last_sync[first]
    if sync is None:
        return None, None, None
    name = expansion.tasks[expansion.task_of[sync]].id
    return name.removesuffix("_start").removesuffix("_end"), None, None

"""Previews: the merged graph in execution order, before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuelclient.errors import InvalidGraph
from fuelclient.graph.merge import merge_layers, require_merged
from fuelclient.graph.references import check_parameters, check_references, place_of
from fuelclient.graph.stage import band_of, parse_stage
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import Layer, Level, MergedGraph, MergePolicy
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.cycle_reports import order_in
from fuelclient.plan.dropped import Dropped, apart_findings, dropped_findings
from fuelclient.plan.evaluate import Evaluation
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import MASTER, fleet_of
from fuelclient.plan.order import Ordered, execution_order, first_generations
from fuelclient.plan.outlook import Outlook
from fuelclient.plan.place import placement_findings


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """What to preview: on which nodes, and how layers merge.

    `node_ids` restricts the environment's nodes; `assume` (`controller=3,compute+cinder=2`) replaces them.
    `knows_assumed` says that the facts of the preview are those of the assumed nodes.
    """

    node_ids: tuple[int, ...] = ()
    assume: str = ""
    policy: MergePolicy = MergePolicy.REPLACE
    knows_assumed: bool = False


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One merged task.

    `nodes` has `"master"`, None for a sync point, or node ids. Generations are None for a task that runs nowhere.
    `stage`, `priority` and `band` say where in the stages it runs. `verdicts` says for each of `nodes` what would
    happen there: `run`, `skip`, or `unknown: ` and a path; it is empty if the preview uses no facts. `dropped` are the
    tasks that it states as its predecessors and that run nowhere.
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
        """Whether a plugin or the environment set anything of this task."""
        return self.layer != "release"

    @property
    def generations(self) -> str:
        """The first and the last generation as people read them: `3-5`, `3`, or nothing."""
        if self.first_generation is None:
            return ""
        if self.first_generation == self.last_generation:
            return str(self.first_generation)
        return f"{self.first_generation}-{self.last_generation}"


@dataclass(frozen=True, slots=True)
class Preview:
    """All rows in execution order, every finding, and the figures of a summary line.

    `assumption` says in one sentence which nodes were assumed; it is empty if the nodes are the environment's own.
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


@dataclass(frozen=True, slots=True)
class Draft:
    """A graph merged and placed, with all its findings: the base of a preview. It may have no order."""

    snapshot: Snapshot
    merged: MergedGraph
    expansion: Expansion
    findings: tuple[Finding, ...]
    verdicts: Sequence[str] = ()


def preview(snapshot: Snapshot, options: PreviewOptions, evaluation: Evaluation | None = None) -> Preview:
    """Merge, place and order one environment's graph; see `draft` for `evaluation`.

    What cannot be merged is left out and is an error among the findings. Raise `UsageError` for an `assume` that cannot
    be read, `NotFound` for an unknown role or node in it, and `CycleDetected` for a graph that cannot be ordered.
    """
    drafted = draft(snapshot, options, evaluation)
    return preview_of(drafted, order_in(snapshot, drafted.expansion))


def findings(snapshot: Snapshot, options: PreviewOptions, evaluation: Evaluation | None = None) -> tuple[Finding, ...]:
    """Return everything that `preview` would report about the graph, including the error if it has no order.

    Raise `UsageError` and `NotFound` as `preview` does.
    """
    return findings_of(draft(snapshot, options, evaluation))


def draft(snapshot: Snapshot, options: PreviewOptions, evaluation: Evaluation | None = None) -> Draft:
    """Merge and place one environment's graph, even if it has errors.

    With an `evaluation` on the facts of the environment, dependencies that are expressions make edges too, and rows
    have verdicts, unless the nodes are assumed ones and have no facts.

    Raise `UsageError` and `NotFound` as `preview` does.
    """
    merged = merge_layers(snapshot.layers, options.policy)
    fleet = fleet_of(snapshot, node_ids=options.node_ids, assume=options.assume)
    filtered = () if options.node_ids else tuple(_filter_findings(merged))
    if evaluation is not None and (options.knows_assumed or not fleet.assumption):
        outlook = Outlook(merged.tasks, fleet, evaluation)
        said = (*_findings(snapshot, merged, outlook.expansion), *outlook.findings, *filtered)
        unknown = _computed_findings(merged, outlook.unknown)
        return Draft(snapshot, merged, outlook.expansion, (*said, *unknown), outlook.verdicts)
    expansion = expand(merged.tasks, fleet)
    unknown = _computed_findings(merged, range(len(merged.tasks)))
    return Draft(snapshot, merged, expansion, (*_findings(snapshot, merged, expansion), *unknown, *filtered))


def order_of(drafted: Draft) -> Ordered:
    """Return the order of a draft. Raise `CycleDetected`, and `InvalidGraph` for a graph that cannot be merged."""
    require_merged(drafted.snapshot, drafted.merged)
    return order_in(drafted.snapshot, drafted.expansion)


def findings_of(drafted: Draft) -> tuple[Finding, ...]:
    """Return the findings of a draft, including those of its cycle if it has one."""
    try:
        order = order_in(drafted.snapshot, drafted.expansion)
    except InvalidGraph as error:
        return (*drafted.findings, *(finding for finding in error.findings if isinstance(finding, Finding)))
    expansion = drafted.expansion
    return _with_dropped(drafted, order, expansion.preceding_tasks(), Dropped(expansion))


def _with_dropped(
    drafted: Draft, order: Ordered, preceding: Sequence[set[int]], dropped: Dropped
) -> tuple[Finding, ...]:
    """Return the findings of a draft with those about dependencies that have no effect."""
    lost = (*dropped_findings(dropped, order, preceding), *apart_findings(drafted.expansion, preceding))
    return (*drafted.findings, *lost)


def graph_findings(snapshot: Snapshot, merged: MergedGraph, expansion: Expansion) -> Iterator[Finding]:
    """Yield what is wrong with a graph before it is ordered, whether for a preview or for a run."""
    yield from merged.findings
    if snapshot.unique_tasks:
        yield from _defined_by_several(snapshot)
    yield from check_references(merged)
    yield from expansion.placement.findings
    yield from placement_findings(merged.tasks, expansion.placement, snapshot, expansion.fleet)
    if not expansion.fleet.assumption:
        yield from snapshot.findings
    if expansion.fleet.absent:
        nodes = ", ".join(map(str, expansion.fleet.absent))
        yield Finding(Severity.WARNING, "G045", f"offline nodes are skipped, and no task waits for them: {nodes}")


def _findings(snapshot: Snapshot, merged: MergedGraph, expansion: Expansion) -> Iterator[Finding]:
    """Yield the findings of a graph, with those about parameters, which a run has for the instances that it begins."""
    yield from graph_findings(snapshot, merged, expansion)
    for task, nodes in zip(merged.tasks, expansion.placement.nodes, strict=True):
        yield from check_parameters(task, runs=bool(nodes), filled=snapshot.fills_parameters)


def _filter_findings(merged: MergedGraph) -> Iterator[Finding]:
    """Yield a notice (G067) if a run without nodes of its own covers fewer nodes than the preview shows."""
    if stated := merged.metadata.get("node_filter"):
        yield Finding(
            Severity.INFO,
            "G067",
            f"a run covers only the nodes that the graph's node filter lets through; this shows all nodes: {stated}",
            hint="`graph simulate` and dry runs obey the filter; --node names the nodes to show, or to run on.",
        )


def _defined_by_several(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each task that several plugins define, which keeps a Fuel master from merging the graph."""
    first: dict[str, Layer] = {}
    for layer in snapshot.layers:
        for task in layer.tasks if layer.owner.level is Level.PLUGIN else ():
            other = first.setdefault(task.id, layer)
            if other is not layer:
                message = (
                    f"task {task.id}: {other.owner.label} and {layer.owner.label} both define it, and a Fuel master "
                    "merges no graph while two enabled plugins define one task"
                )
                hint = "Disable one of the two plugins."
                yield Finding(Severity.ERROR, "G049", message, task.source.place(), task.id, hint)


def _computed_findings(merged: MergedGraph, unknown: Collection[int]) -> Iterator[Finding]:
    """Yield a finding for each attribute of the tasks `unknown` that makes no edges, since it needs other facts."""
    for task in (merged.tasks[index] for index in sorted(unknown)):
        for attribute in task.task.computed_attributes():
            message = (
                f"task {task.id}: {attribute} is computed from facts that are not at hand, so what it says is left out"
            )
            yield Finding(Severity.INFO, "G033", message, place_of(task, attribute), task.id)


def preview_of(drafted: Draft, order: Ordered) -> Preview:
    """Return the preview of a draft in its order."""
    expansion = drafted.expansion
    nodes = expansion.fleet.nodes
    preceding = expansion.preceding_tasks()
    dropped = Dropped(expansion)
    all_findings = _with_dropped(drafted, order, preceding, dropped)
    return Preview(
        rows=_rows(drafted, order, preceding, all_findings, dropped),
        findings=all_findings,
        instances=expansion.size,
        sync_points=sum(nodes[node].uid is None for node in expansion.node_of),
        on_master=sum(nodes[node].uid == MASTER for node in expansion.node_of),
        nodes=expansion.fleet.size,
        generations=order.generations,
        assumption=expansion.fleet.assumption,
        computed=len({finding.task for finding in drafted.findings if finding.code == "G033"}),
    )


def _rows(
    drafted: Draft,
    order: Ordered,
    preceding: Sequence[set[int]],
    all_findings: Iterable[Finding],
    nowhere: Dropped,
) -> tuple[PreviewRow, ...]:
    expansion = drafted.expansion
    by_task: dict[str, list[Finding]] = {}
    for finding in all_findings:
        by_task.setdefault(finding.task, []).append(finding)
    vertices: list[list[int]] = [[] for _ in expansion.tasks]
    for vertex, index in enumerate(expansion.task_of):
        vertices[index].append(vertex)
    ranks = [[order.generation[vertex] for vertex in own] for own in vertices]
    rows = []
    for position, index in enumerate(execution_order(first_generations(expansion, order)), start=1):
        task = expansion.tasks[index]
        stage, priority, band = _stage(expansion, order, index, vertices[index])
        rows.append(
            PreviewRow(
                order=position,
                first_generation=min(ranks[index], default=None),
                last_generation=max(ranks[index], default=None),
                stage=stage,
                priority=priority,
                band=band,
                task=task.id,
                type=task.task.type,
                roles=task.task.placement[1],
                nodes=tuple(expansion.fleet.nodes[node].uid for node in expansion.placement.nodes[index]),
                layer=task.owner.label,
                overrides=tuple(owner.label for owner in task.overrides),
                requires=tuple(dict.fromkeys(expansion.tasks[other].id for other in sorted(preceding[index]))),
                dropped=nowhere.names_before(index),
                findings=tuple(by_task.get(task.id, ())),
                verdicts=tuple(drafted.verdicts[vertex] for vertex in vertices[index]) if drafted.verdicts else (),
            )
        )
    return tuple(rows)


def _stage(
    expansion: Expansion, order: Ordered, index: int, vertices: Sequence[int]
) -> tuple[str | None, float | int | None, str | None]:
    """Return the stage that a plugin's stage task names, with its priority and band, or else the stage between whose
    sync points the task starts."""
    stated = expansion.tasks[index].task.stage
    if stated:
        stage = parse_stage(stated)
        priority = int(stage.priority) if stage.priority.is_integer() else stage.priority
        return stage.name, priority, band_of(stage.priority)
    first = min(vertices, key=order.generation.__getitem__, default=None)
    sync = None if first is None else order.last_sync[first]
    if sync is None:
        return None, None, None
    name = expansion.tasks[expansion.task_of[sync]].id
    return name.removesuffix("_start").removesuffix("_end"), None, None

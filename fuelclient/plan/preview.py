"""Previews: the merged graph in execution order, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuelclient.errors import InvalidGraph
from fuelclient.graph.merge import merge_layers
from fuelclient.graph.references import check_references, place_of
from fuelclient.graph.stage import band_of, parse_stage
from fuelclient.model.finding import Finding, Severity, errors_in
from fuelclient.model.graph import MergedGraph, MergedTask, MergePolicy
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import RELATION_LISTS
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.fleet import MASTER, Fleet, fleet_of
from fuelclient.plan.order import Ordered, ordered
from fuelclient.plan.place import placement_findings


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """What to preview: on which nodes, and how layers merge.

    `node_ids` restricts the environment's nodes; `assume` (`controller=3,compute+cinder=2`) replaces them.
    """

    node_ids: tuple[int, ...] = ()
    assume: str = ""
    policy: MergePolicy = MergePolicy.REPLACE


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One merged task. `nodes` has `"master"`, None for a sync point, or node ids; generations are None for a
    task that is placed nowhere; `stage`, `priority` and `band` say where in the stages it runs."""

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

    @property
    def is_changed(self) -> bool:
        """Whether a plugin or the environment set anything of this task."""
        return self.layer != "release"


@dataclass(frozen=True, slots=True)
class Preview:
    """All rows in execution order, every finding, and the figures of a summary line. `assumption` says in one
    sentence which nodes were assumed, and is empty when the environment's own were taken. `computed` tasks have
    dependencies that only a run can compute: where they stand is a lower bound."""

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
    """A graph merged and placed, with everything found in it: what previews are made of. It may have no order."""

    snapshot: Snapshot
    merged: MergedGraph
    expansion: Expansion
    findings: tuple[Finding, ...]


def preview(snapshot: Snapshot, options: PreviewOptions) -> Preview:
    """Merge, place and order one environment's graph.

    Raises `UsageError` for an `assume` that cannot be read, `NotFound` for an unknown role or node in it,
    `CycleDetected` and `InvalidGraph` for a graph that cannot be ordered or merged.
    """
    merged = merge_layers(snapshot.layers, options.policy)
    _require_merged(snapshot, merged)
    made = _drafted(snapshot, merged, options)
    return preview_of(made, ordered(made.expansion))


def draft(snapshot: Snapshot, options: PreviewOptions) -> Draft:
    """One environment's graph merged and placed, whatever is wrong with it.

    Raises `UsageError` and `NotFound` as `preview` does.
    """
    return _drafted(snapshot, merge_layers(snapshot.layers, options.policy), options)


def order_of(made: Draft) -> Ordered:
    """The order of a draft. Raises `CycleDetected`, and `InvalidGraph` for a graph that cannot be merged."""
    _require_merged(made.snapshot, made.merged)
    return ordered(made.expansion)


def findings(snapshot: Snapshot, options: PreviewOptions) -> tuple[Finding, ...]:
    """Everything that `preview` would find or raise about the graph itself, as findings; nothing is raised for
    a graph that cannot be ordered."""
    return findings_of(draft(snapshot, options))


def findings_of(made: Draft) -> tuple[Finding, ...]:
    """The findings of a draft, and why it has no order where it has none."""
    try:
        ordered(made.expansion)
    except InvalidGraph as error:
        told = Finding(Severity.ERROR, "G050", error.message)
        return (*made.findings, told, *(one for one in error.findings if isinstance(one, Finding)))
    return made.findings


def _require_merged(snapshot: Snapshot, merged: MergedGraph) -> None:
    if errors_in(merged.findings):
        raise InvalidGraph(
            f"The {snapshot.graph_type} graph of environment {snapshot.cluster.id} cannot be merged.",
            findings=merged.findings,
        )


def _drafted(snapshot: Snapshot, merged: MergedGraph, options: PreviewOptions) -> Draft:
    fleet = fleet_of(snapshot, node_ids=options.node_ids, assume=options.assume)
    expansion = expand(merged.tasks, fleet)
    return Draft(snapshot, merged, expansion, _findings(merged, snapshot, expansion))


def _findings(merged: MergedGraph, snapshot: Snapshot, expansion: Expansion) -> tuple[Finding, ...]:
    return (
        *merged.findings,
        *check_references(merged),
        *expansion.placement.findings,
        *placement_findings(merged.tasks, expansion.placement, snapshot),
        *_waiting_for_facts(merged.tasks),
        *_fleet_findings(expansion.fleet),
    )


def _waiting_for_facts(tasks: Iterable[MergedTask]) -> Iterable[Finding]:
    """Dependencies that only a run can compute: they make no edge in a preview."""
    for task in tasks:
        for attribute in ("requires", "required_for", *RELATION_LISTS):
            unknown = any(True for _ in task.task.expressions(attribute))
            named = attribute in RELATION_LISTS and any(
                not isinstance(relation.name, str) or not isinstance(relation.roles, str | tuple | None)
                for relation in task.task.relations(attribute)
            )
            if unknown or named:
                message = f"task {task.id}: {attribute} is computed from facts, and is left out of the order here"
                yield Finding(Severity.INFO, "G033", message, place_of(task, attribute), task.id)


def _fleet_findings(fleet: Fleet) -> Iterable[Finding]:
    if fleet.absent:
        nodes = ", ".join(str(node) for node in fleet.absent)
        message = f"offline nodes are left out, and nothing waits for them: {nodes}"
        yield Finding(Severity.WARNING, "G045", message)


def preview_of(made: Draft, order: Ordered) -> Preview:
    """The preview of a draft in its order."""
    expansion, found = made.expansion, made.findings
    by_task: dict[str, list[Finding]] = {}
    for finding in found:
        by_task.setdefault(finding.task, []).append(finding)
    vertices: list[list[int]] = [[] for _ in expansion.tasks]
    for vertex, owner in enumerate(expansion.task_of):
        vertices[owner].append(vertex)
    requires = _predecessors(expansion)
    drafts = []
    for index in range(len(expansion.tasks)):
        ranks = [order.generation[vertex] for vertex in vertices[index]]
        first = min(ranks) if ranks else expansion.size
        drafts.append((not ranks, first, index, ranks))
    rows = [
        _row(position, index, ranks, expansion, order, vertices[index], requires[index], by_task)
        for position, (_, _, index, ranks) in enumerate(sorted(drafts), start=1)
    ]
    nodes = expansion.fleet.nodes
    return Preview(
        rows=tuple(rows),
        findings=tuple(found),
        instances=expansion.size,
        sync_points=sum(nodes[node].uid is None for node in expansion.node_of),
        on_master=sum(nodes[node].uid == MASTER for node in expansion.node_of),
        nodes=expansion.fleet.size,
        generations=order.generations,
        assumption=expansion.fleet.assumption,
        computed=len({finding.task for finding in found if finding.code == "G033"}),
    )


def _row(
    position: int,
    index: int,
    ranks: Sequence[int],
    expansion: Expansion,
    order: Ordered,
    vertices: Sequence[int],
    requires: Iterable[int],
    by_task: dict[str, list[Finding]],
) -> PreviewRow:
    task = expansion.tasks[index]
    stage, priority, band = _stage(task, expansion, order, vertices)
    return PreviewRow(
        order=position,
        first_generation=min(ranks, default=None),
        last_generation=max(ranks, default=None),
        stage=stage,
        priority=priority,
        band=band,
        task=task.id,
        type=task.task.type,
        roles=task.task.placement[1],
        nodes=tuple(expansion.fleet.nodes[node].uid for node in expansion.placement.nodes[index]),
        layer=task.owner.label,
        overrides=tuple(owner.label for owner in task.overrides),
        requires=tuple(dict.fromkeys(expansion.tasks[other].id for other in sorted(requires))),
        findings=tuple(by_task.get(task.id, ())),
    )


def _stage(
    task: MergedTask, expansion: Expansion, order: Ordered, vertices: Sequence[int]
) -> tuple[str | None, float | int | None, str | None]:
    """The stage that a plugin's stage task names, with its priority and band; else the stage between whose sync
    points the task starts."""
    if task.task.stage:
        stage = parse_stage(task.task.stage)
        priority = int(stage.priority) if stage.priority.is_integer() else stage.priority
        return stage.name, priority, band_of(stage.priority)
    if not vertices:
        return None, None, None
    first = min(vertices, key=lambda vertex: order.generation[vertex])
    sync = order.last_sync[first]
    if sync is None:
        return None, None, None
    name = expansion.tasks[expansion.task_of[sync]].id
    return name.removesuffix("_start").removesuffix("_end"), None, None


def _predecessors(expansion: Expansion) -> list[set[int]]:
    """The tasks whose instances directly precede instances of each task, by index."""
    edges, task_of = expansion.edges, expansion.task_of
    into: dict[int, set[int]] = {}
    for head, tail in zip(edges.heads, edges.tails, strict=True):
        if tail >= edges.real:
            into.setdefault(tail, set()).add(task_of[head])
    found: list[set[int]] = [set() for _ in expansion.tasks]
    for head, tail in zip(edges.heads, edges.tails, strict=True):
        if tail >= edges.real:
            continue
        if head < edges.real:
            found[task_of[tail]].add(task_of[head])
        else:
            found[task_of[tail]] |= into.get(head, set())
    return found

"""What is wrong with a graph, once it is merged and placed: the findings that previews and runs share."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fuelclient.graph.findings import task_finding
from fuelclient.graph.references import check_parameters, check_references
from fuelclient.model.finding import Finding, Severity
from fuelclient.model.graph import Layer, Level, MergedGraph
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion
from fuelclient.plan.place import placement_findings


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


def with_parameters(snapshot: Snapshot, merged: MergedGraph, expansion: Expansion) -> Iterator[Finding]:
    """Yield the findings of a graph, with those about parameters, which a run has for the instances that it begins."""
    yield from graph_findings(snapshot, merged, expansion)
    for task, nodes in zip(merged.tasks, expansion.placement.nodes, strict=True):
        yield from check_parameters(task, runs=bool(nodes), filled=snapshot.fills_parameters)


def filter_findings(merged: MergedGraph) -> Iterator[Finding]:
    """Yield a notice (G067) if a run without nodes of its own covers fewer nodes than the preview shows."""
    if stated := merged.metadata.get("node_filter"):
        yield Finding(
            Severity.INFO,
            "G067",
            f"a run covers only the nodes that the graph's node filter lets through; this shows all nodes: {stated}",
            hint="`graph simulate` and dry runs obey the filter; --node names the nodes to show, or to run on.",
        )


def left_out_findings(merged: MergedGraph, unknown: Collection[int]) -> Iterator[Finding]:
    """Yield a finding for each attribute of the tasks `unknown` that makes no edges, since it needs other facts."""
    for task in (merged.tasks[index] for index in sorted(unknown)):
        for attribute in task.task.computed_attributes():
            problem = f"{attribute} is computed from facts that are not at hand, so what it says is left out"
            yield task_finding(Severity.INFO, "G033", task, attribute, problem)


def _defined_by_several(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each task that several plugins define, which keeps a Fuel master from merging the graph."""
    first: dict[str, Layer] = {}
    for layer in snapshot.layers:
        for task in layer.tasks if layer.owner.level is Level.PLUGIN else ():
            other = first.setdefault(task.id, layer)
            if other is not layer:
                problem = (
                    f"{other.owner.label} and {layer.owner.label} both define it, and a Fuel master merges no graph "
                    "while two enabled plugins define one task"
                )
                yield task_finding(Severity.ERROR, "G049", task, "", problem, "Disable one of the two plugins.")

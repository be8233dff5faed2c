"""Saved plans: documents with the inputs and instances of a plan, without secrets, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.environment.differences import digest, graph_digest
from fuelclient.errors import InvalidDocument
from fuelclient.insight.differences import differences
from fuelclient.model.graph import Layer
from fuelclient.model.run import PlannedGraph, RunRequest
from fuelclient.plan.inputs import Inputs
from fuelclient.redact import masked_document
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.graph import layer_record_from, layer_record_to
from fuelclient.serializers.run import execution_from, execution_to


@dataclass(frozen=True, slots=True)
class SavedLayer:
    """A layer with masked secrets, and the digest of the layer before they were masked."""

    layer: Layer
    digest: str


@dataclass(frozen=True, slots=True)
class SavedGraph:
    """The plan of one graph: its digest and its layers, and the action of each task instance in execution order."""

    type: str
    digest: str
    layers: tuple[SavedLayer, ...]
    instances: tuple[tuple[str, str, str], ...] = ()

    @property
    def to_run(self) -> int:
        return sum(action == "run" for _, _, action in self.instances)


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A request with its plans. `nodes` maps the ids of nodes to their roles, `facts` is a digest of the facts.
    `connection_digests` has a digest of each node's name, address, executor and options, `plugins` the directory of
    each enabled plugin's files, which is named after their content and empty for a Fuel master."""

    request: RunRequest
    environment_name: str
    nodes: Mapping[str, Sequence[str]]
    facts: str
    graphs: tuple[SavedGraph, ...]
    connection_digests: Mapping[str, str] = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)


def saved_plan(inputs: Inputs, request: RunRequest, planned: Sequence[PlannedGraph]) -> SavedPlan:
    environment = inputs.environment
    return SavedPlan(
        request,
        environment.cluster.name,
        {str(node.id): sorted(node.all_roles) for node in environment.nodes},
        digest([inputs.facts.common, {str(uid): own for uid, own in inputs.facts.nodes.items()}]),
        tuple(_graph(inputs, graph) for graph in planned),
        {str(node.id): digest([node.name, node.ip, node.executor, node.ssh]) for node in environment.nodes},
        {plugin.label: plugin.unpacked for plugin in environment.plugins},
    )


def changes(then: SavedPlan, now: SavedPlan) -> Iterator[str]:
    """Describe what has changed since a plan was saved."""
    if then.environment_name != now.environment_name:
        yield f"environment {now.request.cluster_id} is {now.environment_name} now, and was {then.environment_name}"
    for was, graph in zip(then.graphs, now.graphs, strict=True):
        yield from _layer_changes(was, graph)
    for node in sorted({*then.nodes, *now.nodes}, key=int):
        if then.nodes.get(node) != now.nodes.get(node):
            roles = "left" if node not in now.nodes else f"has the roles {', '.join(now.nodes[node]) or '(none)'} now"
            yield f"node {node} {roles}"
        elif then.connection_digests.get(node) != now.connection_digests.get(node):
            yield f"the name, address, executor or SSH options of node {node} changed"
    for label in sorted({*then.plugins, *now.plugins}):
        if label not in now.plugins:
            yield f"plugin {label} is no longer enabled"
        elif label not in then.plugins:
            yield f"plugin {label} is enabled now"
        elif then.plugins[label] != now.plugins[label]:
            yield f"the files of plugin {label} changed"
    if then.facts != now.facts:
        yield "the facts or settings changed"


def is_stale(then: SavedPlan, now: SavedPlan) -> bool:
    """Whether the inputs have changed, or a graph would be planned differently now."""
    return any(changes(then, now)) or [graph.digest for graph in then.graphs] != [graph.digest for graph in now.graphs]


def _layer_changes(then: SavedGraph, now: SavedGraph) -> Iterator[str]:
    before, after = ({one.layer.owner.label: one for one in graph.layers} for graph in (then, now))
    for label in dict.fromkeys((*before, *after)):
        if label not in after:
            yield f"{label} no longer has a layer of the {now.type} graph"
        elif label not in before:
            yield f"{label} has a layer of the {now.type} graph now"
        elif before[label].digest != after[label].digest:
            changed_tasks = differences(before[label].layer.tasks, after[label].layer.tasks)
            names = dict.fromkeys(difference.task for difference in changed_tasks)
            tasks = f": {', '.join(names)}" if names else ""
            yield f"the {label} layer of the {now.type} graph changed{tasks}"


def _graph(inputs: Inputs, planned: PlannedGraph) -> SavedGraph:
    layers = []
    for layer in inputs.layers[planned.graph_type]:
        masked = tuple(replace(task, attributes=masked_document(task.attributes)) for task in layer.tasks)
        layers.append(SavedLayer(replace(layer, tasks=masked, warnings=()), graph_digest(layer.tasks, layer.metadata)))
    instances = tuple((one.task, "" if one.node is None else str(one.node), one.action) for one in planned.instances)
    return SavedGraph(planned.graph_type, planned.digest, tuple(layers), instances)


FORMAT_VERSION = 1
"""The version of the documents. It is raised when a key is removed or changes its meaning; keys may be added."""


def plan_to(plan: SavedPlan) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "env": plan.request.cluster_id,
        "environment": plan.environment_name,
        "request": execution_to(plan.request),
        "nodes": dict(plan.nodes),
        "reached_digests": dict(plan.connection_digests),
        "plugins": dict(plan.plugins),
        "facts_digest": plan.facts,
        "graphs": [
            {
                "type": graph.type,
                "digest": graph.digest,
                "layers": [{"digest": one.digest, **layer_record_to(one.layer, graph.type)} for one in graph.layers],
                "instances": [{"task": task, "node": node, "action": action} for task, node, action in graph.instances],
            }
            for graph in plan.graphs
        ],
    }


def plan_from(data: Any, path: str) -> SavedPlan:
    """Read a saved plan. Raise `InvalidDocument` if it is another document, or has another format version."""
    if not isinstance(data, dict) or "facts_digest" not in data:
        raise InvalidDocument(f"{path} is not a saved plan.", hint="`fuel2 plan create` writes one.")
    if data.get("format_version") != FORMAT_VERSION:
        raise InvalidDocument(
            f"{path} has the format version {data.get('format_version')}, and only {FORMAT_VERSION} is known.",
            hint="Create the plan again.",
        )
    answer = Answer(data, "saved plan")
    return SavedPlan(
        execution_from(answer.mapping("request")),
        answer.text("environment"),
        answer.mapping("nodes"),
        answer.text("facts_digest"),
        tuple(_graph_from(graph) for graph in answer.items("graphs")),
        answer.mapping("reached_digests"),
        answer.mapping("plugins"),
    )


def _graph_from(data: Any) -> SavedGraph:
    graph = Answer(data, "graph of a saved plan")
    instances = (Answer(one, "task instance") for one in graph.items("instances"))
    return SavedGraph(
        graph.text("type"),
        graph.text("digest"),
        tuple(SavedLayer(layer_record_from(one), Answer(one, "layer").text("digest")) for one in graph.items("layers")),
        tuple((one.text("task"), one.text("node"), one.text("action")) for one in instances),
    )

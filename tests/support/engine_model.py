"""What the engine is to do, said again in dictionaries: `tests/unit/engine/test_model.py` compares the two.

A task of this model is its number and its roles; without roles it is a record without type, which overrides the number.
Ids are those that the engine gives. `errors_of_...` return the types of errors that an operation may end in, or nothing
if it must succeed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from fuelclient.errors import Conflict, FuelError, InvalidGraph, NotFound

Errors = Set[type[FuelError]]
Tasks = Mapping[str, tuple[int, tuple[str, ...]]]
"""The number and the roles of each task, by id."""

PLUGIN_ROLE = "watcher"
"""The role that each version of the plugin `alfa` brings."""


@dataclass
class ModelRelease:
    name: str
    roles: set[str]
    graphs: dict[str, Tasks]


@dataclass
class ModelPlugin:
    """`packaged` are the tasks of its package, `graphs` those that count: a graph that was uploaded replaces them."""

    name: str
    version: str
    packaged: Tasks
    graphs: dict[str, Tasks]
    uploaded: set[str] = field(default_factory=set)

    @property
    def series(self) -> str:
        return self.version.rpartition(".")[0]


@dataclass
class ModelCluster:
    name: str
    release: int
    roles: set[str] = field(default_factory=set)
    graphs: dict[str, Tasks] = field(default_factory=dict)
    plugins: set[int] = field(default_factory=set)
    is_operational: bool = False


@dataclass
class ModelNode:
    name: str
    cluster: int | None = None
    roles: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    is_ready: bool = False

    @property
    def all_roles(self) -> set[str]:
        return self.roles | self.pending


@dataclass
class ModelRun:
    """`began_with` is what was planned from, as long as the run has not ended."""

    cluster: int
    graph_type: str
    status: str
    instances: frozenset[tuple[str, int]]
    began_with: object = None


@dataclass
class Model:
    releases: dict[int, ModelRelease] = field(default_factory=dict)
    plugins: dict[int, ModelPlugin] = field(default_factory=dict)
    clusters: dict[int, ModelCluster] = field(default_factory=dict)
    nodes: dict[int, ModelNode] = field(default_factory=dict)
    runs: dict[int, ModelRun] = field(default_factory=dict)

    def owners(self, level: str) -> Mapping[int, ModelRelease | ModelPlugin | ModelCluster]:
        """Those that have graphs on this level: release, plugin or cluster."""
        if level == "release":
            return self.releases
        return self.plugins if level == "plugin" else self.clusters

    def members(self, cluster_id: int | None) -> dict[int, ModelNode]:
        return {number: node for number, node in self.nodes.items() if node.cluster == cluster_id}

    def known_roles(self, cluster_id: int) -> set[str]:
        cluster = self.clusters[cluster_id]
        brought = {PLUGIN_ROLE for number in cluster.plugins if self.plugins[number].name == "alfa"}
        return self.releases[cluster.release].roles | cluster.roles | brought

    def lacks_roles(self, cluster_id: int) -> bool:
        """Whether a node of the environment has a role that is no longer known."""
        known = self.known_roles(cluster_id)
        return any(node.all_roles - known for node in self.members(cluster_id).values())

    def using(self, release_id: int) -> list[int]:
        return [number for number, cluster in self.clusters.items() if cluster.release == release_id]

    def unfinished(self, cluster_id: int) -> int | None:
        return next((n for n, run in self.runs.items() if run.cluster == cluster_id and run.status == "running"), None)

    def is_deployed(self, cluster_id: int) -> bool:
        ready = any(node.is_ready for node in self.members(cluster_id).values())
        return ready or self.clusters[cluster_id].is_operational

    def layers(self, cluster_id: int, graph_type: str) -> list[Tasks]:
        """The graphs of this type below the environment's own."""
        cluster = self.clusters[cluster_id]
        enabled = sorted((self.plugins[number] for number in cluster.plugins), key=lambda one: (one.name, one.version))
        owners = [self.releases[cluster.release].graphs, *(plugin.graphs for plugin in enabled)]
        return [graphs[graph_type] for graphs in owners if graph_type in graphs]

    def has_type(self, cluster_id: int, graph_type: str) -> bool:
        """Whether an environment has a graph type: the default one, even without a graph, unless its release only has
        graphs of other types."""
        cluster = self.clusters[cluster_id]
        stored = graph_type in cluster.graphs or bool(self.layers(cluster_id, graph_type))
        return stored or (graph_type == "default" and not self.releases[cluster.release].graphs)

    def merged(
        self, cluster_id: int, graph_type: str, *, below: bool = False
    ) -> dict[str, tuple[int, tuple[str, ...]]]:
        layers = self.layers(cluster_id, graph_type)
        own = self.clusters[cluster_id].graphs.get(graph_type)
        merged: dict[str, tuple[int, tuple[str, ...]]] = {}
        for layer in layers if below or own is None else [*layers, own]:
            for task, (number, roles) in layer.items():
                if roles:
                    merged[task] = (number, roles)
                elif task in merged:
                    merged[task] = (number, merged[task][1])
        return merged

    def has_lone_record(self, cluster_id: int, graph_type: str) -> bool:
        """Whether a record without roles, and so without type, has no task below it."""
        own = self.clusters[cluster_id].graphs.get(graph_type)
        defined: set[str] = set()
        for layer in [*self.layers(cluster_id, graph_type), *([] if own is None else [own])]:
            if any(not roles and task not in defined for task, (_, roles) in layer.items()):
                return True
            defined.update(layer)
        return False

    def instances(self, cluster_id: int, graph_type: str) -> frozenset[tuple[str, int]]:
        return frozenset(
            (task, number)
            for task, (_, roles) in self.merged(cluster_id, graph_type).items()
            for number, node in self.members(cluster_id).items()
            if node.all_roles & set(roles)
        )

    def planned_from(self, cluster_id: int, graph_type: str) -> object:
        """Everything that a plan may depend on."""
        nodes = {number: (node.name, node.all_roles) for number, node in self.members(cluster_id).items()}
        return (
            self.merged(cluster_id, graph_type),
            nodes,
            self.known_roles(cluster_id),
            self.layers(cluster_id, graph_type),
        )

    def errors_of_upload(self, level: str, owner: int, graph_type: str, tasks: Tasks) -> Errors:
        """A record without type needs a task below it; what is below a plugin is not known."""
        if owner not in self.owners(level):
            return {NotFound}
        below = self.merged(owner, graph_type, below=True) if level == "cluster" else {}
        alone = any(not roles and task not in below for task, (_, roles) in tasks.items())
        return {InvalidGraph} if alone and level != "plugin" else set()

    def errors_of_placing(self, cluster_id: int, coming: Mapping[int, ModelNode], roles: Set[str]) -> Errors:
        """Whether nodes, by id, may join an environment."""
        if cluster_id not in self.clusters:
            return {NotFound}
        errors: set[type[FuelError]] = set()
        if roles - self.known_roles(cluster_id):
            errors.add(NotFound)
        taken = {node.name for node in self.members(cluster_id).values()}
        new = [node for node in coming.values() if node.cluster != cluster_id]
        names = [node.name for node in new]
        if any(node.cluster not in (None, cluster_id) for node in coming.values()):
            errors.add(Conflict)
        if taken & set(names) or len(set(names)) < len(names):
            errors.add(Conflict)
        return errors

    def errors_of_enabling(self, plugin_id: int, cluster_id: int) -> Errors:
        if plugin_id not in self.plugins or cluster_id not in self.clusters:
            return {NotFound}
        if plugin_id in self.clusters[cluster_id].plugins:
            return set()
        replaced = self.replaced(plugin_id, cluster_id)
        return {Conflict} if replaced and self.is_deployed(cluster_id) else set()

    def replaced(self, plugin_id: int, cluster_id: int) -> set[int]:
        """The other versions of a plugin that an environment has."""
        name = self.plugins[plugin_id].name
        return {n for n in self.clusters[cluster_id].plugins if n != plugin_id and self.plugins[n].name == name}

    def free(self, cluster_id: int) -> None:
        """Take all nodes out of an environment."""
        for number in self.members(cluster_id):
            self.nodes[number] = ModelNode(self.nodes[number].name)

    def deployed(self, cluster_id: int, instances: Set[tuple[str, int]]) -> None:
        """What a run leaves that succeeded."""
        for number in {node for _, node in instances}:
            node = self.nodes[number]
            node.roles, node.pending, node.is_ready = node.all_roles, set(), True
        members = self.members(cluster_id).values()
        self.clusters[cluster_id].is_operational = bool(members) and all(node.is_ready for node in members)

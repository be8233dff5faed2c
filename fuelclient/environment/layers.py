"""The graph types of an environment and the layers of its graphs, at present and after changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fuelclient.environment.roles import in_merge_order, plugin_owner, primary_tags, roles
from fuelclient.errors import NotFound
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE, Graph, GraphDocument, GraphSummary, Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import roles_in
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task, TaskType


def graph_types(types: Iterable[str], *, release_has_graphs: bool) -> list[str]:
    """Sort the graph types of an environment. `types` are those of all its owners.

    The default type is added unless the release has graphs of its own (`release_has_graphs`): if these do not include
    it, the release only provisions its environments, and an empty default graph would get in their way.
    """
    return sorted({*types} if release_has_graphs else {*types, DEFAULT_TYPE})


def types_for(release_id: int, graphs: Iterable[GraphSummary], clusters: Iterable[Cluster] | None = None) -> set[str]:
    """The types of the graphs that belong to a release, to one of its environments, or to a plugin.

    If `clusters` is None, the graphs of all environments are included.
    """
    ids = None if clusters is None else {cluster.id for cluster in clusters if cluster.release_id == release_id}

    def is_included(owner: Owner) -> bool:
        if owner.level is Level.CLUSTER:
            return ids is None or owner.id in ids
        return owner.level is Level.PLUGIN or owner.id == release_id

    return {graph.type for graph in graphs if is_included(graph.owner)}


def require_graph_type(graph_type: str, types: Sequence[str], cluster_id: int) -> None:
    """Raise `NotFound`, with the known types, if the environment has no graph of this type."""
    if graph_type not in types:
        hint = "" if types else f"Environment {cluster_id} has no graphs."
        raise NotFound("graph type", graph_type, known=types, hint=hint)


def layer(environment: Environment, owner: Owner, graph: Graph) -> Layer:
    """Convert a graph into a layer of an environment.

    Tasks of plugins get Nailgun's defaults: the plugin's directory on the nodes as working directory, and the fault
    tolerance of the groups that are named after its roles. Source: Nailgun's plugin adapters.
    """
    if owner.level is not Level.PLUGIN:
        return Layer(owner, graph.tasks, graph.metadata, warnings=graph.warnings)
    plugin = next(plugin for plugin in environment.plugins if plugin.id == owner.id)
    tolerance = {
        name: role.metadata["fault_tolerance"]
        for name, role in roles_in(plugin.metadata).items()
        if "fault_tolerance" in role.metadata
    }
    return Layer(owner, graph.tasks, graph.metadata, plugin.scripts, tolerance, graph.warnings)


def snapshot(environment: Environment, layers: Iterable[Layer], graph_type: str, *, checked: bool = True) -> Snapshot:
    """Collect the inputs of a preview or a plan of one graph; if `checked`, with findings about the environment."""
    findings: tuple[Finding, ...] = ()
    if checked and (environment.nodes or environment.vips or environment.own_settings):
        from fuelclient.environment import rules  # an empty environment does not need it

        findings = tuple(rules.shown(environment, deploys=graph_type == DEFAULT_TYPE))
    return Snapshot(
        cluster=environment.cluster,
        layers=_with_joining_groups(environment, tuple(layers), graph_type),
        nodes=environment.nodes,
        roles=roles(environment),
        primary_tags=primary_tags(environment),
        graph_type=graph_type,
        unique_tasks=environment.unique_tasks,
        findings=findings,
        fills_parameters=_is_role_based(environment),
    )


def _is_role_based(environment: Environment) -> bool:
    """Whether Fuel deployed environments of this release role by role, as it did until 8.0."""
    return environment.release.version.rpartition("-")[2].partition(".")[0] in ("5", "6", "7", "8")


def _with_joining_groups(environment: Environment, layers: tuple[Layer, ...], graph_type: str) -> tuple[Layer, ...]:
    """Mark the groups whose dependencies also order tasks: in a role-based release if all tasks of the graph have a
    version below 2.0.0, in others if the setting `propagate_task_deploy` is on. Source: Nailgun
    `task.legacy_tasks_adapter`."""
    tasks = [task for layer in layers for task in layer.tasks]

    def has_dependencies(task: Task) -> bool:
        return task.type == TaskType.GROUP and bool(task.names("requires") or task.names("required_for"))

    if graph_type != DEFAULT_TYPE or not any(map(has_dependencies, tasks)):
        return layers
    if _is_role_based(environment):
        groups_order = all(task.version_tuple < (2, 0, 0) for task in tasks)
    else:
        from fuelclient.environment import settings  # most graphs have no such groups

        groups_order = settings.is_on(settings.effective(environment), "common", "propagate_task_deploy")
    return tuple(
        replace(one, tasks=tuple(replace(task, joins=groups_order and has_dependencies(task)) for task in one.tasks))
        for one in layers
    )


@dataclass(frozen=True, slots=True)
class Added:
    """A plugin that would be enabled, with its graph of the type in question, if it has one."""

    plugin: Plugin
    graph: GraphDocument | None


def changed(
    environment: Environment,
    current: Snapshot,
    *,
    without: Iterable[int] = (),
    added: Iterable[Added] = (),
    uploaded: GraphDocument | None = None,
) -> Snapshot:
    """Make the snapshot of a graph as it would be after all of the changes.

    An added plugin replaces any enabled version of the same plugin; its roles and tags are included. `uploaded`
    replaces the environment's own graph, as an upload would. `without` has the ids of plugins to disable. Raise
    `NotFound` for one that is not enabled.
    """
    leaving = set(without)
    for plugin_id in leaving - {plugin.id for plugin in environment.plugins}:
        known_names = [str(plugin.id) for plugin in environment.plugins]
        raise NotFound("enabled plugin", f"{plugin_id} in environment {environment.cluster.id}", known=known_names)
    added = list(added)
    replaced = {addition.plugin.name for addition in added}
    staying = [plugin for plugin in environment.plugins if plugin.id not in leaving and plugin.name not in replaced]
    target = replace(environment, plugins=in_merge_order((*staying, *(addition.plugin for addition in added))))
    ids = {plugin.id for plugin in staying}
    layers = [each for each in current.layers if each.owner.level is not Level.PLUGIN or each.owner.id in ids]
    for addition in added:
        if addition.graph is not None:
            owner = plugin_owner(addition.plugin)
            graph = Graph(0, current.graph_type, owner, addition.graph.tasks, metadata=addition.graph.metadata)
            layers.append(layer(target, owner, graph))
    if uploaded is not None:
        # as after an upload: its tasks replace all existing ones, and metadata that it does not have is kept
        owner = Owner(Level.CLUSTER, environment.cluster.id, environment.cluster.name)
        before = next((each for each in layers if each.owner.level is Level.CLUSTER), Layer(owner, ()))
        layers = [each for each in layers if each.owner.level is not Level.CLUSTER]
        layers.append(Layer(before.owner, uploaded.tasks, {**before.metadata, **uploaded.metadata}))
    return snapshot(target, sorted(layers, key=lambda each: each.owner.order), current.graph_type)

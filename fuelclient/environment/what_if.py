"""An environment as it would be with another graph of its own, with a plugin more, or without one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fuelclient.environment.layers import layer, snapshot
from fuelclient.environment.roles import in_merge_order, plugin_owner
from fuelclient.errors import NotFound
from fuelclient.model.environment import Environment
from fuelclient.model.graph import Graph, GraphDocument, Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Added:
    """A plugin that would be enabled, with its graph of the type in question, if it has one."""

    plugin: Plugin
    graph: GraphDocument | None


def with_own_graph(layers: Iterable[Layer], environment: Environment, document: GraphDocument) -> tuple[Layer, ...]:
    """Return layers with the environment's own graph as an upload would leave it: metadata stays if it is not stated.

    The tasks of the graph replace all that it has.
    """
    kept = [known for known in layers if known.owner.level is not Level.CLUSTER]
    own = next((known for known in layers if known.owner.level is Level.CLUSTER), None)
    owner = own.owner if own else Owner(Level.CLUSTER, environment.cluster.id, environment.cluster.name)
    return (*kept, Layer(owner, document.tasks, {**(own.metadata if own else {}), **document.metadata}))


def changed(
    environment: Environment,
    known: Snapshot,
    *,
    without: Iterable[int] = (),
    added: Iterable[Added] = (),
    own: GraphDocument | None = None,
) -> Snapshot:
    """Return the snapshot of a graph as it would be after all of the changes.

    An added plugin takes the place of another version of itself, and brings its roles and tags. `without` has the ids
    of enabled plugins. Raise `NotFound` for one that is not enabled.
    """
    leaving = set(without)
    for plugin_id in leaving - {plugin.id for plugin in environment.plugins}:
        known_names = [str(plugin.id) for plugin in environment.plugins]
        raise NotFound("enabled plugin", f"{plugin_id} in environment {environment.cluster.id}", known=known_names)
    added = list(added)
    replaced = {more.plugin.name for more in added}
    staying = [plugin for plugin in environment.plugins if plugin.id not in leaving and plugin.name not in replaced]
    members = replace(environment, plugins=in_merge_order((*staying, *(more.plugin for more in added))))
    ids = {plugin.id for plugin in staying}
    layers = [each for each in known.layers if each.owner.level is not Level.PLUGIN or each.owner.id in ids]
    for more in added:
        if more.graph is not None:
            owner = plugin_owner(more.plugin)
            graph = Graph(0, known.graph_type, owner, more.graph.tasks, metadata=more.graph.metadata)
            layers.append(layer(members, owner, graph))
    if own is not None:
        layers = list(with_own_graph(layers, environment, own))
    return snapshot(members, sorted(layers, key=lambda each: each.owner.order), known.graph_type)

"""Store a copy of an environment of another backend, with its release, its plugins and its past runs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.engine.facet import Facet, reads, writes
from fuelclient.engine.reading import environment
from fuelclient.engine.reading.computed_facts import computed_now, store_kept_values
from fuelclient.engine.runs import inputs
from fuelclient.environment.checks import require_name
from fuelclient.environment.differences import (
    Copied,
    CopiedPart,
    EnvironmentCopy,
    PastRun,
    graph_differences,
    graph_digests,
    graph_key,
    without_bookkeeping,
)
from fuelclient.environment.network_changes import own_networks_from, vips_of
from fuelclient.environment.networks import NETWORKS
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.environment import Environment
from fuelclient.model.graph import Level
from fuelclient.model.network import NodePart
from fuelclient.model.node import NO_EXECUTOR
from fuelclient.model.plugin import Plugin
from fuelclient.model.run import CHILD, PARENT, RunRequest
from fuelclient.plan.inputs import Inputs
from fuelclient.printing import ids_text
from fuelclient.serializers.values import beyond
from fuelclient.store import facts, graphs, history, plugins, runs
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, nodes, put_node_part, put_own_networks, put_vip, releases

_ELSEWHERE = "Copy into another file: `--to-engine FILE`."


class Copies(Facet):
    """Copies of environments; see `backends.inventory.Copies`."""

    def store(self, copy: EnvironmentCopy, name: str = "") -> Copied:
        """Store an environment in one transaction, under its own name or another one.

        Raise `Conflict` if the name or the id of a node is taken, and if a release or a plugin of the same name and
        version differs from the copied one.
        """
        with self._database.together():
            with self._database.write() as connection:
                cluster_id, parts = _put(connection, copy, name or copy.inputs.environment.cluster.name)
            store_kept_values(self._database, cluster_id)
            with self._database.write() as connection:
                target = environment.read(connection, cluster_id)
                facts.put_copied(connection, cluster_id, copy.inputs.facts, computed_now(connection, target).facts)
                if not copy.uploaded.is_empty:
                    facts.put(connection, cluster_id, copy.uploaded)
                types = environment.types(connection, target)
                _require_equal(inputs.read(connection, RunRequest(cluster_id, tuple(types))), copy.inputs)
                clusters.put_copied_graphs(connection, cluster_id, graph_digests(copy.inputs))
        number = len(copy.inputs.facts.common) + sum(map(len, copy.inputs.facts.nodes.values()))
        note = "those of the original, until you change what they follow from"
        return Copied(cluster_id, (*parts, CopiedPart("facts", number, note)))

    @reads
    def graphs(self, connection: Connection, cluster_id: int) -> Mapping[str, str]:
        """Return the digests of the graphs that a copy was made from; empty if the environment is not a copy."""
        return clusters.copied_graphs(connection, cluster_id)

    @writes
    def set_graphs(self, connection: Connection, cluster_id: int, digests: Mapping[str, str]) -> None:
        """Replace the digests of the graphs that a copy is based on."""
        clusters.put_copied_graphs(connection, cluster_id, digests)


def _put(connection: Connection, copy: EnvironmentCopy, name: str) -> tuple[int, list[CopiedPart]]:
    """Store everything but the facts. Return the id of the environment, and what was copied."""
    original = copy.inputs.environment
    require_name("environment", name)
    if (existing := clusters.named(connection, name)) is not None:
        raise Conflict(
            f"Environment {name} already exists, with id {existing.id}.", hint="Give the copy another --name."
        )
    release_id, is_new_release = _release(connection, original)
    plugin_ids = {plugin.id: _plugin(connection, plugin) for plugin in original.plugins}
    id_or_zero = 0 if original.cluster.id in clusters.ids(connection) else original.cluster.id
    cluster_id = clusters.insert(connection, replace(original.cluster, id=id_or_zero, name=name, release_id=release_id))
    names = {plugin.name for plugin in original.plugins}
    own = {
        name: without_bookkeeping(section) if name in names else section
        for name, section in original.own_settings.items()
    }
    clusters.put_settings(connection, cluster_id, own)
    clusters.put_metadata(connection, cluster_id, original.own_metadata)
    for plugin_id, _ in plugin_ids.values():
        clusters.enable(connection, cluster_id, plugin_id)
    owners = {
        (Level.RELEASE, original.release.id): (release_id, is_new_release),
        (Level.CLUSTER, original.cluster.id): (cluster_id, True),
        **{(Level.PLUGIN, plugin_id): stored for plugin_id, stored in plugin_ids.items()},
    }
    number = _put_graphs(connection, copy, owners)
    _put_nodes(connection, cluster_id, original)
    stored_networks = _put_networks(connection, cluster_id, copy)
    for past in copy.past:
        _put_past(connection, cluster_id, past)
    return cluster_id, [
        CopiedPart("release", 1, original.release.name if is_new_release else "an equal release was there already"),
        CopiedPart("plugins", len(plugin_ids), _note_about_plugins(original.plugins, plugin_ids)),
        CopiedPart("graphs", number),
        CopiedPart(
            "nodes", len(original.nodes), f"their executor is {NO_EXECUTOR}, so that runs touch no machine of theirs"
        ),
        CopiedPart(
            "disks and interfaces", len({*original.disks, *original.interfaces}),
            "" if copy.has_parts else "not copied; the facts of the nodes have what follows from them",
        ),
        stored_networks,
        CopiedPart("past runs", len(copy.past), "what succeeded in them, and the facts that they saw"),
    ]  # fmt: skip


def _note_about_plugins(originals: Sequence[Plugin], stored: Mapping[int, tuple[int, bool]]) -> str:
    reused = [plugin.label for plugin in originals if not stored[plugin.id][1]]
    notes = ["the files of their packages are not copied"] if len(reused) < len(originals) else []
    notes += [f"equal ones were there already: {', '.join(reused)}"] if reused else []
    return "; ".join(notes)


def _release(connection: Connection, original: Environment) -> tuple[int, bool]:
    """Store a copied release unless its name and version exist. Return the id, and whether the release is new."""
    wanted = original.release
    if (existing := releases.named(connection, wanted.name, wanted.version)) is not None:
        return existing, False
    id_or_zero = 0 if wanted.id in releases.ids(connection) else wanted.id
    return releases.insert(connection, replace(wanted, id=id_or_zero, plugin_id=None)), True


def _plugin(connection: Connection, wanted: Plugin) -> tuple[int, bool]:
    """Store a copied plugin unless its name and version exist. Return the id, and whether the plugin is new."""
    for plugin in plugins.every(connection):
        if (plugin.name, plugin.version) == (wanted.name, wanted.version):
            return plugin.id, False
    copied = replace(wanted, id=0, clusters=(), releases=(), unpacked="", by_release=False, origin="")
    return plugins.insert(connection, copied), True


def _put_graphs(
    connection: Connection, copy: EnvironmentCopy, owners: Mapping[tuple[Level, int], tuple[int, bool]]
) -> int:
    """Store the graphs of new owners. Return the number of all graphs of the environment."""
    number = 0
    for graph_type, layers in copy.inputs.layers.items():
        for layer in layers:
            number += 1
            owner_id, is_new = owners[layer.owner.level, layer.owner.id]
            if is_new:
                graph_id = graphs.create(connection, layer.owner.level, owner_id, graph_type)
                name = copy.graph_names.get(graph_key(layer.owner, graph_type))
                graphs.describe(connection, graph_id, name, layer.metadata)
                graphs.put_tasks(connection, graph_id, layer.tasks, layer.warnings)
    return number


def _put_nodes(connection: Connection, cluster_id: int, original: Environment) -> None:
    """Store the nodes under their own ids. Raise `Conflict` if an id is taken."""
    taken = {*nodes.ids(connection)}
    if conflicting := sorted(node.id for node in original.nodes if node.id in taken):
        raise Conflict(
            f"Nodes with these ids exist already: {ids_text(conflicting)}. Facts name nodes by their ids.",
            hint=_ELSEWHERE,
        )
    for node in original.nodes:
        nodes.insert(connection, replace(node, cluster_id=cluster_id, executor=NO_EXECUTOR))
    for part, documents in ((NodePart.DISKS, original.disks), (NodePart.INTERFACES, original.interfaces)):
        for uid, document in documents.items():
            put_node_part(connection, int(uid), part, document)


def _put_networks(connection: Connection, cluster_id: int, copy: EnvironmentCopy) -> CopiedPart:
    """Store the networks and virtual addresses. Of networks with the same name, only the last one is stored."""
    target = environment.read(connection, cluster_id)
    names = [network.get("name") for network in copy.networks.get(NETWORKS) or ()]
    note = ""
    if copy.has_parts:
        own, vips = copy.inputs.environment.own_networks, list(copy.inputs.environment.vips)
    else:
        try:
            own, vips = own_networks_from(copy.networks, target), vips_of(copy.networks, target)
        except InvalidDocument as error:
            return CopiedPart("networks", 0, f"not copied; the facts have those of the original: {error.message}")
        shared = sorted({str(name) for name in names if names.count(name) > 1})
        note = f"several are called {', '.join(shared)}: the copy has the last, the facts have all" if shared else ""
    put_own_networks(connection, cluster_id, own)
    for vip in vips:
        put_vip(connection, cluster_id, vip)
    return CopiedPart("networks", len({*names}), note)


def _put_past(connection: Connection, cluster_id: int, past: PastRun) -> None:
    """Store a run of one graph under a new parent run, with the task instances that succeeded in it."""
    parent = replace(
        past.run, id=0, uuid=str(uuid.uuid4()), cluster_id=cluster_id, parent_id=None, name=PARENT, graph_type="",
        request=replace(past.run.request, cluster_id=cluster_id), findings=(), children=(),
    )  # fmt: skip
    parent_id = runs.insert(connection, parent)
    child_id = runs.insert(
        connection,
        replace(parent, uuid=str(uuid.uuid4()), parent_id=parent_id, name=CHILD, graph_type=past.run.graph_type),
    )
    facts.put_seen(connection, child_id, past.facts)
    history.insert_ended(connection, child_id, past.succeeded)


def _require_equal(stored: Inputs, wanted: Inputs) -> None:
    """Raise `Conflict` if an existing release or plugin differs from the copied one."""
    different: list[str] = []
    here, there = stored.environment, wanted.environment
    if _release_metadata(here) != _release_metadata(there):
        different.append(f"the metadata of release {there.release.name} {there.release.version}")
    known: dict[tuple[str, str], Mapping[str, Any]] = {
        (plugin.name, plugin.version): plugin.metadata for plugin in here.plugins
    }
    different += [
        f"the metadata of plugin {plugin.label}"
        for plugin in there.plugins
        if beyond(plugin.metadata, known[plugin.name, plugin.version])
    ]
    different += dict.fromkeys(f"the graph of {difference.place}" for difference in graph_differences(stored, wanted))
    if different:
        raise Conflict(f"The engine already has these, but they differ: {'; '.join(different)}.", hint=_ELSEWHERE)


def _release_metadata(target: Environment) -> dict[str, Any]:
    return {name: value for name, value in target.release.metadata.items() if value}

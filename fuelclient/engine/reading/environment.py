"""What an environment consists of: its release, its enabled plugins, their layers, roles and tags.

Every function reads through the connection of its caller, so that all they return is of one moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient.engine.reading import lookup
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import DEFAULT_TYPE, Graph, Layer, Level, Owner
from fuelclient.model.package import Contents
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, Role, Tag, primary_tags_in, roles_in, tags_in
from fuelclient.serializers.release_parts import sound
from fuelclient.store import clusters, graphs, plugins
from fuelclient.store.database import Connection


@dataclass(frozen=True, slots=True)
class Environment:
    """A cluster with what it is made of; `plugins` are the enabled ones by name and version.

    `selected` has, by the plugin's id, what a plugin brings for this release, where that depends on the release;
    `own_settings` are what was set for the cluster, and `own_metadata` the roles, tags and volumes that it describes
    itself. `source` is the plugin that the release came with, if any.
    """

    cluster: Cluster
    release: Release
    plugins: tuple[Plugin, ...]
    selected: Mapping[int, Contents] = field(default_factory=dict)
    own_settings: Mapping[str, Any] = field(default_factory=dict)
    own_metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Plugin | None = None

    @property
    def owners(self) -> tuple[Owner, ...]:
        """All owners of its graphs, least important first."""
        return (
            lookup.release_owner(self.release),
            *(lookup.plugin_owner(plugin) for plugin in self.plugins),
            Owner(Level.CLUSTER, self.cluster.id, self.cluster.name),
        )

    @property
    def roles(self) -> dict[str, Role]:
        """The roles of the release, then those of the plugins, then the environment's own; a later one of the same name
        takes the place of an earlier one."""
        volumes = self.volumes
        roles = roles_in(self.release.metadata, volumes=volumes)
        for plugin in self.plugins:
            for name, role in roles_in(self.metadata_of(plugin), lookup.plugin_owner(plugin).label, volumes).items():
                roles[name] = replace(role, metadata=_guarded(role.metadata, plugin.name))
        roles.update(roles_in(self.own_metadata, self.label, volumes))
        return roles

    @property
    def tags(self) -> dict[str, Tag]:
        """The tags of the release, of the plugins and of the environment itself, in the order of `roles`."""
        tags = tags_in(self.release.metadata)
        for plugin in self.plugins:
            tags.update(_described(self.metadata_of(plugin), lookup.plugin_owner(plugin).label, tags))
        tags.update(_described(self.own_metadata, self.label, tags))
        return tags

    @property
    def label(self) -> str:
        """What owners of roles and tags are told by."""
        return f"environment {self.cluster.name}"

    @property
    def volumes(self) -> dict[str, Any]:
        """Which role takes which volumes, and what these are: the release's, and what plugins add or map anew.

        Source: Nailgun's plugin manager, which lets a plugin replace the mapping of a role silently.
        """
        mapped: dict[str, Any] = {}
        defined: list[Any] = []
        described = (self.release.metadata, *(self.metadata_of(plugin) for plugin in self.plugins), self.own_metadata)
        for metadata in described:
            volumes = metadata.get("volumes_metadata") or {}
            mapped.update(volumes.get("volumes_roles_mapping") or {})
            defined.extend(volumes.get("volumes") or ())
        return {"volumes_roles_mapping": mapped, "volumes": defined}

    @property
    def primary_tags(self) -> frozenset[str]:
        """The tags of which one node is the primary: the release's, the plugins', those of plugin roles that say
        `has_primary` themselves, and the environment's own."""
        found = set(primary_tags_in(self.release.metadata))
        for plugin in self.plugins:
            metadata = self.metadata_of(plugin)
            found |= primary_tags_in(metadata)
            for role in roles_in(metadata).values():
                if role.metadata.get("has_primary"):
                    found.update(role.tags)
        return frozenset(found | primary_tags_in(self.own_metadata))

    def metadata_of(self, plugin: Plugin) -> Mapping[str, Any]:
        """The contents of an enabled plugin under Nailgun's names, for the release of this environment."""
        contents = self.selected.get(plugin.id)
        return plugin.metadata if contents is None else metadata_from(contents)


def metadata_from(contents: Contents) -> dict[str, Any]:
    """Contents of a package under the names that Nailgun keeps them.

    >>> metadata_from(Contents(roles={"watcher": {}}))["roles_metadata"]
    {'watcher': {}}
    """
    return {
        "roles_metadata": contents.roles,
        "tags_metadata": contents.tags,
        "volumes_metadata": contents.volumes,
        "network_roles_metadata": list(contents.network_roles),
        "components_metadata": list(contents.components),
        "attributes_metadata": contents.attributes,
    }


def read(connection: Connection, cluster_id: int) -> Environment:
    """The environment; `NotFound` when there is none."""
    cluster = lookup.cluster(connection, cluster_id)
    stored = lookup.release(connection, cluster.release_id)
    release = replace(stored, metadata=sound(stored.metadata))  # earlier versions took what nobody can read
    enabled = tuple(plugins.of_cluster(connection, cluster_id))
    chosen = {plugin.id: selected(connection, plugin, release) for plugin in enabled if plugin.by_release}
    stated = clusters.settings(connection, cluster_id)
    own = sound(clusters.metadata(connection, cluster_id))
    return Environment(cluster, release, enabled, chosen, stated, own, plugins.defining(connection, release.id))


def selected(connection: Connection, plugin: Plugin, release: Release) -> Contents:
    """What a plugin brings for a release."""
    # Most plugins bring the same for every release: a preview without the others need not load this.
    from fuelclient.plugins.select import select

    return select(lookup.package(connection, plugin), release).contents


def extension(connection: Connection, plugin: Plugin, release: Release) -> Mapping[str, Any]:
    """What an installed plugin would bring to environments of a release, under Nailgun's names; nothing where it does
    not extend that release, or only defines releases itself."""
    from fuelclient.plugins.select import is_compatible, select

    stored = plugins.package(connection, plugin.id)
    if stored is None or not is_compatible(stored, release):
        return {}
    return metadata_from(select(stored, release).contents)


def types(connection: Connection, environment: Environment) -> list[str]:
    """The graph types of an environment, whichever layer has them.

    The default type is always there, unless the release has graphs of other types only: such a release serves
    environments that only provision, and a default graph that nobody wrote would get in their way.
    """
    found = {kind for contents in environment.selected.values() for kind in contents.graphs}
    for owner in environment.owners:
        found.update(graphs.types(connection, owner.level, owner.id))
    if not graphs.types(connection, Level.RELEASE, environment.release.id):
        found.add(DEFAULT_TYPE)
    return sorted(found)


def layers(
    connection: Connection, environment: Environment, graph_type: str, levels: Sequence[Level] = ()
) -> tuple[Layer, ...]:
    """The layers of one type, least important first; with `levels` those of these classes of owners only.

    `NotFound` when no layer of the environment, whatever its level, has the type.
    """
    known = types(connection, environment)
    if graph_type not in known:
        raise lookup.unknown_type(graph_type, known, f"environment {environment.cluster.id}")
    by_id = {plugin.id: plugin for plugin in environment.plugins}
    found = []
    for owner in environment.owners:
        if levels and owner.level not in levels:
            continue
        graph = graphs.find(connection, owner.level, owner.id, graph_type)
        if owner.level is Level.PLUGIN:
            layer = _plugin_layer(connection, environment, by_id[owner.id], graph_type, graph)
            found.extend([layer] if layer else [])
        elif graph is not None:
            found.append(Layer(owner, graph.tasks, graph.metadata))
    return tuple(found)


def _plugin_layer(
    connection: Connection, environment: Environment, plugin: Plugin, graph_type: str, graph: Graph | None
) -> Layer | None:
    """A plugin's layer with the defaults that Nailgun gives to plugin tasks; None where it has none of this type.

    An uploaded graph wins over the one that the package has for this release (DESIGN: D22).

    Source: Nailgun's plugin adapters: the working directory of its tasks, and the fault tolerance of the groups
    that are named after its roles.
    """
    contents = environment.selected.get(plugin.id)
    if contents is not None and (graph is None or graphs.is_derived(connection, graph.id)):
        chosen = contents.graphs.get(graph_type)
        if chosen is None:
            return None
        tasks, metadata = chosen.tasks, chosen.metadata
    elif graph is None:
        return None
    else:
        tasks, metadata = graph.tasks, graph.metadata
    tolerance = {
        name: role.metadata["fault_tolerance"]
        for name, role in roles_in(environment.metadata_of(plugin)).items()
        if "fault_tolerance" in role.metadata
    }
    cwd = f"/etc/fuel/plugins/{plugin.directory}/"
    return Layer(lookup.plugin_owner(plugin), tasks, metadata, cwd, tolerance)


def _described(metadata: Mapping[str, Any], owner: str, below: Mapping[str, Tag]) -> dict[str, Tag]:
    """The tags of one owner above those of others: what its roles only imply does not take the place of a tag."""
    stated = metadata.get("tags_metadata") or {}
    return {name: tag for name, tag in tags_in(metadata, owner).items() if name in stated or name not in below}


def _guarded(metadata: Mapping[str, Any], plugin: str) -> dict[str, Any]:
    """A plugin's role with the restriction that Nailgun puts before its own: not without its plugin."""
    stated = metadata.get("restrictions")
    own = stated if isinstance(stated, list) else [stated] if stated else []
    return {**metadata, "restrictions": [f"settings:{plugin}.metadata.enabled == false", *own]}

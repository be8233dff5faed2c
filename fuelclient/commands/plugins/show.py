"""`plugins show`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import RELEASE, identifier
from fuelclient.commands.base import ShowOne, check_columns
from fuelclient.commands.columns import Names, plain
from fuelclient.commands.plugins.cells import Files, Graphs, Lines, One, Several, extended
from fuelclient.commands.plugins.naming import add_plugin, plugin_of

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Plugin

_STATED = ("description", "fuel_version", "groups", "licenses", "authors", "homepage", "is_hotpluggable")
"""What of the metadata is shown as it is."""

_BROUGHT = ("roles", "volumes", "network_roles", "components", "settings")

_ALL = (
    "id", "name", "title", "version", "package_version", *_STATED, "releases", "defines", "environments", "graphs",
    *_BROUGHT,
)  # fmt: skip

_CHOSEN = (
    "id", "name", "version", "package_version", "release", "record", "graphs", *_BROUGHT, "files", "why",
)  # fmt: skip


class PluginsShow(ShowOne):
    """Show one plugin and what it brings

    Its metadata, the releases that it extends or defines, the environments on which it is enabled, and its graphs,
    roles, volumes, networks, components and settings. A package for several releases brings each of them something
    else: with --release it is said what is chosen for that release, from which files, and why.

      fuel2 plugins show 1
      fuel2 plugins show elasticsearch_kibana --release 2
    """

    columns = _ALL

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_plugin(parser)
        parser.add_argument(*RELEASE, type=identifier, metavar="ID", help="what the plugin brings to this release")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        columns = _ALL if parsed_args.release is None else _CHOSEN
        check_columns(parsed_args.columns, columns)
        plugin = plugin_of(self.backend, parsed_args.plugin)
        if parsed_args.release is None:
            shown = _everything(self.backend, plugin)
        else:
            shown = _chosen(self.backend, plugin, parsed_args.release)
        return columns, [shown[column] for column in columns]


def _everything(backend: Backend, plugin: Plugin) -> Mapping[str, Any]:
    """The values of `_ALL`."""
    from fuelclient.model.graph import Level

    metadata: Mapping[str, Any] = plain(plugin.metadata)
    stated = {key: metadata.get(key) for key in _STATED}
    releases = [backend.releases.get(release_id) for release_id in plugin.releases]
    environments = {cluster.id: cluster for cluster in backend.clusters.list()} if plugin.clusters else {}
    graphs = [one for one in backend.graphs.list(levels=[Level.PLUGIN]) if one.owner.id == plugin.id]
    return {
        "id": plugin.id, "name": plugin.name, "title": plugin.title, "version": plugin.version,
        "package_version": plugin.package_version,
        **{key: Names(value) if isinstance(value, list) else _text(value) for key, value in stated.items()},
        "releases": extended(metadata),
        "defines": Several([{"id": one.id, "name": one.name, "version": one.version} for one in releases]),
        "environments": Several([{"id": one, "name": environments[one].name} for one in plugin.clusters]),
        "graphs": Graphs({one.type: len(one.task_ids) for one in graphs}),
        **_brought(
            metadata.get("roles_metadata"), metadata.get("volumes_metadata"), metadata.get("network_roles_metadata"),
            metadata.get("components_metadata"), metadata.get("attributes_metadata"),
        ),
    }  # fmt: skip


def _chosen(backend: Backend, plugin: Plugin, release_id: int) -> Mapping[str, Any]:
    """The values of `_CHOSEN`: what of the package is meant for the release."""
    release = backend.releases.get(release_id)
    selection = backend.plugins.selection(plugin.id, release_id)
    contents, record = selection.contents, selection.record
    return {
        "id": plugin.id, "name": plugin.name, "version": plugin.version, "package_version": plugin.package_version,
        "release": One({"id": release.id, "name": release.name, "version": release.version}),
        "record": f"{record.os} {record.version}".strip() if record is not None else "",
        "graphs": Graphs({kind: len(graph.tasks) for kind, graph in contents.graphs.items()}),
        **_brought(
            contents.roles, contents.volumes, contents.network_roles, contents.components, contents.attributes
        ),
        "files": Files(dict(contents.files)),
        "why": Lines(selection.why),
    }  # fmt: skip


def _brought(roles: Any, volumes: Any, network_roles: Any, components: Any, settings: Any) -> dict[str, Any]:
    """The names of what a plugin brings, by the columns of `_BROUGHT`."""
    return {
        "roles": Names(list(roles or {})),
        "volumes": Names(_named((volumes or {}).get("volumes"), "id")),
        "network_roles": Names(_named(network_roles, "id")),
        "components": Names(_named(components, "name")),
        "settings": Names([name for name in settings or {} if name != "metadata"]),
    }


def _named(items: Any, key: str) -> list[str]:
    return [str(item.get(key) or "") for item in items or () if isinstance(item, Mapping)]


def _text(value: Any) -> Any:
    return "" if value is None else value

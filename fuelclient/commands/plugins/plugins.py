"""`plugins list` and `plugins show`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import plugin_argument, release_option
from fuelclient.commands.base import Lister, ShowOne
from fuelclient.commands.formatters import Lines, Names, Shown, check_columns, plain
from fuelclient.commands.shell import count
from fuelclient.errors import FIRST_STEPS
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.plugin import Plugin
    from fuelclient.model.release import Release

_METADATA = ("description", "fuel_version", "groups", "licenses", "authors", "homepage", "is_hotpluggable")
_PARTS = ("roles", "volumes", "network_roles", "components", "attributes")
_PART_COLUMNS = ("roles", "volumes", "network_roles", "components", "settings")

_COLUMNS = (
    "id", "name", "title", "version", "package_version", "linked_to", *_METADATA, "releases", "defines", "environments",
    "graphs", *_PART_COLUMNS,
)  # fmt: skip

_COLUMNS_FOR_RELEASE = (
    "id", "name", "version", "package_version", "release", "record", "graphs", *_PART_COLUMNS, "files", "why",
)  # fmt: skip


class PluginsList(Lister):
    """List all plugins

    The column releases has the releases that a plugin extends, as mappings with -f json and -f yaml. Releases that a
    plugin defines are shown by 'plugins show'.

      fuel2 plugins list
      fuel2 plugins list -f value -c name -c version
    """

    columns = ("id", "name", "version", "package_version", "releases")
    by_weight = ("id", "name", "version", "releases")
    empty = FIRST_STEPS["plugin"]

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (no options)
        return [
            (plugin.id, plugin.name, plugin.version, plugin.package_version, _extended_releases(plugin.metadata))
            for plugin in self.backend.plugins.list()
        ]


class PluginsShow(ShowOne):
    """Show one plugin and what it brings

    Shows its metadata, the releases that it extends or defines, the environments on which it is enabled, and its
    graphs, roles, volumes, networks, components and settings. linked_to is the directory that a plugin is read from at
    each use, after 'plugins install --link'. Some packages have different content for different
    releases: --release shows what is used for a release, from which files, and why.

      fuel2 plugins show 1
      fuel2 plugins show elasticsearch_kibana --release 2
    """

    columns = _COLUMNS

    arguments = (plugin_argument(), release_option(required=False, help="show what is used for this release"))

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        columns = _COLUMNS if parsed_args.release is None else _COLUMNS_FOR_RELEASE
        check_columns(parsed_args.columns, columns)
        plugin = self.backend.plugins.get(parsed_args.plugin)
        if plugin.is_linked and supports(self.backend.plugins.install):
            from fuelclient.plugins.load import current_package

            current_package(plugin)  # read its directory again, or outdated values would be shown
        if parsed_args.release is None:
            values = _values(self.backend, plugin)
        else:
            values = _values_for_release(self.backend, plugin, parsed_args.release)
        return columns, [values[column] for column in columns]


def _values(backend: Backend, plugin: Plugin) -> Mapping[str, Any]:
    from fuelclient.model.graph import Level

    metadata: Mapping[str, Any] = plain(plugin.metadata)
    releases = [backend.releases.get(release_id) for release_id in plugin.releases]
    environments = {cluster.id: cluster for cluster in backend.clusters.list()} if plugin.clusters else {}
    graphs = [graph for graph in backend.graphs.list(levels=[Level.PLUGIN]) if graph.owner.id == plugin.id]
    return {
        "id": plugin.id, "name": plugin.name, "title": plugin.title, "version": plugin.version,
        "package_version": plugin.package_version, "linked_to": plugin.unpacked if plugin.is_linked else "",
        **{
            key: Names(value) if isinstance(value, list) else "" if value is None else value
            for key, value in ((key, metadata.get(key)) for key in _METADATA)
        },
        "releases": _extended_releases(metadata),
        "defines": _references(list(map(_reference, releases))),
        "environments": _references([{"id": env, "name": environments[env].name} for env in plugin.clusters]),
        "graphs": _graphs({graph.type: len(graph.task_ids) for graph in graphs}),
        **_part_cells(*(metadata.get(f"{part}_metadata") for part in _PARTS)),
    }  # fmt: skip


def _values_for_release(backend: Backend, plugin: Plugin, release_id: int) -> Mapping[str, Any]:
    release = backend.releases.get(release_id)
    selection = backend.plugins.selection(plugin.id, release_id)
    contents, record = selection.contents, selection.record
    return {
        "id": plugin.id, "name": plugin.name, "version": plugin.version, "package_version": plugin.package_version,
        "release": Shown(_reference(release), _reference_text(_reference(release))),
        "record": f"{record.os} {record.version}".strip() if record is not None else "",
        "graphs": _graphs({graph_type: len(graph.tasks) for graph_type, graph in contents.graphs.items()}),
        **_part_cells(*(getattr(contents, part) for part in _PARTS)),
        "files": _files(dict(contents.files)),
        "why": Lines(list(selection.why)),
    }  # fmt: skip


def _part_cells(roles: Any, volumes: Any, network_roles: Any, components: Any, settings: Any) -> dict[str, Any]:
    return {
        "roles": Names(list(roles or {})),
        "volumes": Names(_values_at((volumes or {}).get("volumes"), "id")),
        "network_roles": Names(_values_at(network_roles, "id")),
        "components": Names(_values_at(components, "name")),
        "settings": Names([name for name in settings or {} if name != "metadata"]),
    }


def _values_at(items: Any, key: str) -> list[str]:
    return [str(item.get(key) or "") for item in items or () if isinstance(item, Mapping)]


def _reference(release: Release) -> dict[str, Any]:
    return {"id": release.id, "name": release.name, "version": release.version}


def _graphs(sizes: Mapping[str, int]) -> Shown:
    """Graph types with the number of their tasks.

    >>> _graphs({"default": 3, "custom": 1}).human_readable()
    'default (3 tasks), custom (1 task)'
    """
    shown = ", ".join(f"{graph_type} ({count(size, 'task')})" for graph_type, size in sizes.items())
    return Shown([{"type": graph_type, "tasks": size} for graph_type, size in sizes.items()], shown)


def _reference_text(reference: Mapping[str, Any]) -> str:
    """The id of an object, followed by its other names.

    >>> _reference_text({"id": 1, "name": "Mitaka", "version": "mitaka-9.0"})
    '1 (Mitaka mitaka-9.0)'
    """
    return f"{reference['id']} ({' '.join(str(reference[key]) for key in reference if key != 'id')})"


def _references(references: list[dict[str, Any]]) -> Shown:
    return Shown(references, ", ".join(map(_reference_text, references)))


def _files(replaced: dict[str, str]) -> Shown:
    """The file that replaces each file at the root of a package. Files that are not replaced appear once.

    >>> _files({"volumes.yaml": "volumes.yaml", "node_roles.yaml": "kilo/node_roles.yaml"}).human_readable()
    'volumes.yaml\\nnode_roles.yaml: kilo/node_roles.yaml'
    """
    return Shown(replaced, "\n".join(part if part == file else f"{part}: {file}" for part, file in replaced.items()))


def _extended_releases(metadata: Mapping[str, Any]) -> Shown:
    """The releases that a plugin extends. As text, grouped by operating system, as in the original client.

    >>> records = [{"os": "ubuntu", "version": version} for version in ("liberty-8.0", "mitaka-9.0")]
    >>> _extended_releases({"releases": [*records, {"operating_system": "CentOS"}]}).human_readable()
    'ubuntu (liberty-8.0, mitaka-9.0), centos ()'
    """
    records = [record for record in plain(metadata.get("releases")) or [] if isinstance(record, Mapping)]
    releases = [
        {
            "os": str(record.get("os") or record.get("operating_system") or "").lower(),
            "version": str(record.get("version") or ""),
        }
        for record in records
        if not record.get("is_release")
    ]
    by_os: dict[str, list[str]] = {}
    for release in releases:
        by_os.setdefault(release["os"], []).append(release["version"])
    return Shown(releases, ", ".join(f"{os} ({', '.join(versions)})".lstrip() for os, versions in by_os.items()))

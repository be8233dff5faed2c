"""`plugins diff`: the differences between two versions of a plugin, and their effect where the plugin is enabled."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuelclient.commands.arguments import defaults, option
from fuelclient.commands.env.change import graph_lines, value_lines
from fuelclient.commands.fitting import indented
from fuelclient.commands.graph.diff import task_lines
from fuelclient.commands.graph.question import FORMAT, Answer, Question
from fuelclient.commands.graph.sides import package_addition, package_at, plugin_version
from fuelclient.environment.differences import EnvironmentDifference, differences_below
from fuelclient.environment.layers import Added, changed, snapshot
from fuelclient.environment.roles import plugin_owner, release_owner
from fuelclient.errors import NotFound
from fuelclient.graph.merge import merge_layers
from fuelclient.insight.comparison import Comparison, TaskChange, compare, task_changes
from fuelclient.model.environment import Environment
from fuelclient.model.graph import Layer, Level, OwnerRef
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a plugin: its layers by graph type, or by `TYPE of RELEASE` for a release that it defines, and its
    roles and settings by kind. `added` returns this version as an `Added` for an environment."""

    name: str
    label: str
    layers: Mapping[str, Layer]
    roles_and_settings: Mapping[str, Mapping[str, Any]]
    added: Callable[[Environment, Snapshot], Added]


class PluginsDiff(Question):
    """Compare two versions of a plugin

    Each version is a directory such as ./my-plugin, an .rpm or .fp file, or an installed plugin by its id or name.
    Shows which tasks, roles and settings differ. For each environment with any version of the plugin enabled, it also
    shows how the merged graphs and their order would change if NEW took the place of OLD. Nothing is installed or
    enabled.

      fuel2 plugins diff lma_collector ./my-plugin
      fuel2 plugins diff 1 ./my-plugin -f json
    """

    arguments = (
        option("old", type=plugin_version, metavar="OLD", help="./DIRECTORY, a package file, or a plugin"),
        option("new", type=plugin_version, metavar="NEW", help="./DIRECTORY, a package file, or a plugin"),
        defaults(env=None, graph_type=None),
        FORMAT,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        old, new = (self._read(*side) for side in (parsed_args.old, parsed_args.new))
        tasks, values = dict(_task_changes(old, new)), list(_value_differences(old, new))
        environments = [
            (environment, dict(self._comparisons(environment, old, new)))
            for environment in self._users({old.name, new.name})
        ]
        lines = [f"{old.label} -> {new.label}", *_lines(tasks, values), *_environment_lines(environments)]
        document = {
            "old": old.label, "new": new.label,
            "graphs": tasks,
            "values": [{"path": each.path, "old": each.masked[0], "new": each.masked[1]} for each in values],
            "environments": [
                {
                    "id": environment.cluster.id, "name": environment.cluster.name,
                    "graphs": {name: comparison for name, (comparison, _) in graphs.items()},
                }
                for environment, graphs in environments
            ],
        }  # fmt: skip
        return Answer(lines, document)

    def _read(self, kind: str, what: Any) -> _Version:
        from fuelclient.backends.plugins import installed_addition

        if kind == "package":
            return _package_version(Path(what))
        plugin = self.backend.plugins.get(what)
        listed = self.backend.graphs.list(levels=[Level.PLUGIN])
        types = [summary.type for summary in listed if summary.owner.id == plugin.id]
        graphs = [self.backend.graphs.get(OwnerRef(Level.PLUGIN, plugin.id), graph_type) for graph_type in types]
        metadata = plugin.metadata
        return _Version(
            plugin.name, f"{plugin.label} (plugin {plugin.id})",
            {graph.type: Layer(graph.owner, graph.tasks, graph.metadata) for graph in graphs},
            {"roles": metadata.get("roles_metadata") or {}, "settings": metadata.get("attributes_metadata") or {}},
            lambda environment, current: installed_addition(self.backend, environment, current, plugin.id),
        )  # fmt: skip

    def _users(self, names: set[str]) -> Iterator[Environment]:
        for cluster in self.backend.clusters.list():
            if any(plugin.name in names for plugin in self.backend.plugins.enabled(cluster.id)):
                yield self.backend.clusters.environment(cluster.id)

    def _comparisons(
        self, environment: Environment, old: _Version, new: _Version
    ) -> Iterator[tuple[str, tuple[Comparison, Expansion]]]:
        """Yield the graphs of an environment that differ between the two versions, by type."""
        from fuelclient.backends.studies import study_of

        types = {summary.type for summary in self.backend.graphs.list(environment.cluster.id)}
        for graph_type in sorted({*types, *old.layers, *new.layers}):
            try:
                current = self.backend.graphs.snapshot(environment.cluster.id, graph_type)
            except NotFound:  # a graph that only the package has
                current = snapshot(environment, (), graph_type)
            studies = [
                study_of(self.backend, changed(environment, current, added=[version.added(environment, current)]))
                for version in (old, new)
            ]
            comparison = compare(*studies)
            if comparison.is_different or comparison.findings:
                yield graph_type, (comparison, studies[1].expansion)


def _package_version(path: Path) -> _Version:
    from fuelclient.plugins.load import plugin_of
    from fuelclient.plugins.select import for_any_release

    package = package_at(path)
    plugin, contents = plugin_of(package), for_any_release(package)
    layers = {name: Layer(plugin_owner(plugin), graph.tasks, graph.metadata) for name, graph in contents.graphs.items()}
    values = {"roles": dict(contents.roles), "settings": dict(contents.attributes)}
    for packaged in package.releases:
        release, label = packaged.release, f" of {packaged.release.name}"
        for name, graph in packaged.graphs.items():
            layers[f"{name}{label}"] = Layer(release_owner(release), graph.tasks, graph.metadata)
        values[f"roles{label}"] = release.metadata.get("roles_metadata") or {}
        values[f"settings{label}"] = (release.metadata.get("attributes_metadata") or {}).get("editable") or {}

    def added(environment: Environment, current: Snapshot) -> Added:
        return package_addition(package, environment, current)

    return _Version(package.name, f"{plugin.label} ({path})", layers, values, added)


def _task_changes(old: _Version, new: _Version) -> Iterator[tuple[str, Sequence[TaskChange]]]:
    for name in sorted({*old.layers, *new.layers}):
        merged = [
            merge_layers([version.layers[name]] if name in version.layers else [], keep_partial=True)
            for version in (old, new)
        ]
        if changes := task_changes(merged[0].tasks, merged[1].tasks):
            yield name, changes


def _value_differences(old: _Version, new: _Version) -> Iterator[EnvironmentDifference]:
    for kind in dict.fromkeys((*old.roles_and_settings, *new.roles_and_settings)):
        yield from differences_below(kind, old.roles_and_settings.get(kind, {}), new.roles_and_settings.get(kind, {}))


def _lines(tasks: Mapping[str, Sequence[TaskChange]], values: Sequence[EnvironmentDifference]) -> Iterator[str]:
    if not tasks and not values:
        yield "The tasks, roles and settings are equal."
    for name, changes in tasks.items():
        yield f"Graph {name}:"
        yield from map(indented, task_lines(Comparison(tuple(changes), (), None)))
    if values:
        yield from value_lines("Roles and settings", "{0.path}", values)


def _environment_lines(
    environments: Sequence[tuple[Environment, Mapping[str, tuple[Comparison, Expansion]]]],
) -> Iterator[str]:
    if not environments:
        yield "The plugin is not enabled on any environment."
    for environment, graphs in environments:
        title = f"Environment {environment.cluster.id} ({environment.cluster.name})"
        if not graphs:
            yield f"{title}: no graph would change."
        for name, (comparison, expansion) in graphs.items():
            yield f"{title}, graph {name}:"
            yield from graph_lines(comparison, expansion)

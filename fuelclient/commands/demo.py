"""`fuel2 demo`: load examples to try commands on."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fuelclient import examples, files
from fuelclient.backends import executor_kinds
from fuelclient.commands.base import Command
from fuelclient.commands.shell import LOG
from fuelclient.errors import Conflict
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.package import Package
from fuelclient.plugins.load import load_package
from fuelclient.printing import count
from fuelclient.serializers.graph import document_from
from fuelclient.serializers.node import nodes_from

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend

ENVIRONMENT = "demo"
"""The name of the environment that is made of the examples."""

FIX = "restart-apis"
"""The graph type of `cluster/fix.yaml`."""

NEXT = (
    ("graph preview --env {env}", "what would run where, in order"),
    ("graph preview --env {env} --only changed", "what the plugins and the environment change"),
    ("graph preview --env {env} --assume controller=3,compute=50", "the same on other nodes"),
    ("graph preview --env {env} --type {fix}", "a graph of another type"),
    ("graph list --env {env}", "the layers that are merged"),
    ("plugins list", "the installed packages: ocata-ubuntu brings the release, the others extend it"),
    ("graph download --env {env} --all --file -", "the merged graph"),
    ("graph validate --env {env}", "what is wrong with it"),
    ("graph execute --env {env} --wait", "run it: each node is a directory in {nodes}"),
    ("task list", "the runs so far"),
)
"""The commands to try on the examples, and what they show."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The examples: the package of the release, those of the plugins, their directories by name, the nodes, and the
    environment's graphs by type."""

    release: Package
    plugins: Sequence[Package]
    directories: Mapping[str, Path]
    nodes: Sequence[Node]
    graphs: Mapping[str, GraphDocument]


class Demo(Command):
    """Load the packaged examples and print commands to try

    The examples are a small OpenStack release, which is itself a plugin, two plugins for it, and an environment named
    demo with seven nodes and two graphs. Each node is a directory beside the engine file, so that anyone can run the
    graphs, without root and in seconds. The commands to try are printed on stdout, and what was loaded on stderr. To
    keep the examples apart from your data, load them into another file with --engine.

      fuel2 demo --engine demo.db
    """

    def take_action(self, parsed_args: argparse.Namespace) -> None:  # noqa: ARG002 (no options of its own)
        loaded = load_examples()
        env = stored_environment(self.backend, loaded)
        if env is None:
            env = store(self.writable(), loaded)
            _log_summary(loaded, env)
        else:
            LOG.info("%s already has the examples, as environment %d (%s).", self.backend.target, env, ENVIRONMENT)
        LOG.info("Try:")
        for line in suggestions(self.shell.called, self.backend.target):
            self.say(line)


def load_examples() -> Examples:
    directory = examples.directory()
    paths = [directory / "release", *sorted(path.parent for path in directory.glob("plugins/*/metadata.yaml"))]
    release, *plugins = packages = [load_package(path) for path in paths]
    directories = {package.name: path for package, path in zip(packages, paths, strict=True)}
    nodes = tuple(nodes_from(files.load(str(directory / "nodes.yaml")), executor_kinds()))
    graphs = {}
    for graph_type, name in ((DEFAULT_TYPE, "override.yaml"), (FIX, "fix.yaml")):
        document = files.load(str(directory / "cluster" / name))
        graphs[graph_type] = document_from(document, owner_label=ENVIRONMENT)
    return Examples(release, plugins, directories, nodes, graphs)


def stored_environment(backend: Backend, loaded: Examples) -> int | None:
    """The id of the environment if all examples are stored, or None if none is.

    Raise `Conflict` if only some are stored, or if their names are taken.
    """
    wanted = {(packaged.release.name, packaged.release.version) for packaged in loaded.release.releases}
    releases = [release for release in backend.releases.list() if (release.name, release.version) in wanted]
    plugins = [plugin for plugin in backend.plugins.list() if plugin.name in loaded.directories]
    clusters = [cluster for cluster in backend.clusters.list() if cluster.name == ENVIRONMENT]
    ids = {release.id for release in releases}
    versions = {(package.name, package.version) for package in (loaded.release, *loaded.plugins)}
    if versions == {(plugin.name, plugin.version) for plugin in plugins}:
        for cluster in clusters:
            if cluster.release_id in ids:
                return cluster.id
    taken = [f"release {release.name} {release.version}" for release in releases]
    taken += [f"plugin {plugin.name} {plugin.version}" for plugin in plugins]
    taken += [f"environment {cluster.name} ({cluster.id})" for cluster in clusters]
    if taken:
        raise Conflict(
            f"{backend.target} already has some of the examples: {', '.join(taken)}. Nothing was loaded.",
            hint="Load them into another file: fuel2 --engine demo.db demo",
        )
    return None


def store(backend: Backend, loaded: Examples) -> int:
    """Store the examples, all or none, and return the id of their environment."""
    with backend.together():
        packages = (loaded.release, *loaded.plugins)
        base, *others = [backend.plugins.install(str(loaded.directories[package.name])) for package in packages]
        [release] = base.releases
        env = backend.clusters.create(ENVIRONMENT, release.id).id
        for installed in others:
            backend.plugins.enable(installed.plugin.id, env)
        backend.nodes.create([replace(node, cluster_id=env) for node in loaded.nodes])
        for graph_type, document in loaded.graphs.items():
            backend.graphs.upload(OwnerRef(Level.CLUSTER, env), document, graph_type)
    return env


def suggestions(called: str, target: str) -> list[str]:
    """Commands to try, each with a comment on what it shows; `called` is how the program was called.

    >>> " ".join(suggestions("fuel2 --engine 'my engine.db'", "/tmp/my engine.db")[0].split())
    "fuel2 --engine 'my engine.db' graph preview --env demo # what would run where, in order"
    """
    names = {"env": ENVIRONMENT, "fix": FIX, "nodes": f"{target}.nodes"}
    lines = [(f"{called} {command.format(**names)}", meaning.format(**names)) for command, meaning in NEXT]
    width = max(len(command) for command, _ in lines)
    return [f"{command:<{width}}  # {meaning}" for command, meaning in lines]


def _log_summary(loaded: Examples, env: int) -> None:
    for packaged in loaded.release.releases:
        graphs = _graphs(packaged.graphs)
        LOG.info("Release %s %s with the graphs %s.", packaged.release.name, packaged.release.version, graphs)
    for package in loaded.plugins:
        number = sum(len(graph.tasks) for graph in package.contents.graphs.values())
        LOG.info("Plugin %s %s with %s, enabled.", package.name, package.version, count(number, "task"))
    graphs = _graphs(loaded.graphs)
    LOG.info("Environment %d (%s) with %d nodes and the graphs %s.", env, ENVIRONMENT, len(loaded.nodes), graphs)


def _graphs(graphs: Mapping[str, GraphDocument]) -> str:
    return ", ".join(f"{graph_type} ({count(len(graph.tasks), 'task')})" for graph_type, graph in graphs.items())

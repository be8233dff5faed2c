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
from fuelclient.commands.fitting import terminal_width
from fuelclient.commands.parser import below_comment
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
    ("graph execute --env {env} --wait", "run it: {nodes}"),
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


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of the examples: the ids of plugins by name, of the release and of the environment (None: not
    there), the types of the environment's own graphs, and the nodes, some of which may be outside of it."""

    plugins: Mapping[str, int]
    release: int
    env: int | None
    graph_types: Sequence[str]
    nodes: Sequence[Node]

    def missing_nodes(self, loaded: Examples) -> list[Node]:
        """The nodes that exist nowhere."""
        names = {node.name for node in self.nodes}
        return [node for node in loaded.nodes if node.name not in names]

    def is_whole(self, loaded: Examples) -> bool:
        wanted = len(loaded.plugins) + 1, len(loaded.graphs), 0
        graphs = len(loaded.graphs.keys() & {*self.graph_types})
        return self.env is not None and (len(self.plugins), graphs, len(self.missing_nodes(loaded))) == wanted


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
        found = stored(self.backend, loaded)
        env = found.env
        if not found.is_whole(loaded):
            env = store(self.writable(), loaded, found)
            _log_summary(loaded, env)
        else:
            LOG.info("%s already has the examples, as environment %d (%s).", self.backend.target, env, ENVIRONMENT)
        LOG.info("Try:")
        for line in suggestions(self.shell.called, self.backend.target, terminal_width(self.app.stdout)):
            self.say(line)


def load_examples() -> Examples:
    directory = examples.directory()
    paths = [directory / "release", *sorted(path.parent for path in directory.glob("plugins/*/metadata.yaml"))]
    release, *plugins = packages = [load_package(path) for path in paths]
    directories = {package.name: path for package, path in zip(packages, paths, strict=True)}
    nodes = tuple(nodes_from(files.load(str(directory / "nodes.yaml")), executor_kinds()))
    graphs = {}
    for graph_type, name in ((DEFAULT_TYPE, "override.yaml"), (FIX, "fix.yaml")):
        graphs[graph_type] = document_from(files.load(str(directory / "cluster" / name)), owner_label=ENVIRONMENT)
    return Examples(release, plugins, directories, nodes, graphs)


def stored(backend: Backend, loaded: Examples) -> Stored:
    """Find what is there of the examples. Raise `Conflict` if something else has one of their names."""
    packages = {package.name: package.version for package in (loaded.release, *loaded.plugins)}
    plugins = {plugin.name: plugin for plugin in backend.plugins.list() if plugin.name in packages}
    base = plugins.get(loaded.release.name)
    taken = [
        f"plugin {plugin.name} {plugin.version}"
        for plugin in backend.plugins.list()
        if plugin.version != packages.get(plugin.name, plugin.version)
    ]
    wanted = {(packaged.release.name, packaged.release.version) for packaged in loaded.release.releases}
    own, release = set(), 0
    for each in backend.releases.list():
        if base is not None and each.plugin_id == base.id:
            own.add(each.id)
            release = each.id if (each.name, each.version) in wanted else release
        elif (each.name, each.version) in wanted:
            taken.append(f"release {each.name} {each.version}")
    cluster = next((cluster for cluster in backend.clusters.list() if cluster.name == ENVIRONMENT), None)
    if cluster is not None and cluster.release_id not in own:
        taken.append(f"environment {cluster.name} ({cluster.id})")
    if taken:
        raise Conflict(
            f"{backend.target} already has something else with names of the examples: {', '.join(taken)}. Nothing was"
            " loaded.",
            hint="Load them into another file: fuel2 --engine demo.db demo",
        )
    env = None if cluster is None else cluster.id
    graphs = [] if env is None else backend.graphs.list(env)
    types = [graph.type for graph in graphs if graph.owner.level is Level.CLUSTER]
    alike = {(node.name, node.executor, str(node.attributes)) for node in loaded.nodes}
    nodes = [
        node
        for node in backend.nodes.list()
        if (node.name, node.executor, str(node.attributes)) in alike or (env is not None and node.cluster_id == env)
    ]
    return Stored({name: plugin.id for name, plugin in plugins.items()}, release, env, types, nodes)


def store(backend: Backend, loaded: Examples, found: Stored) -> int:
    """Store what is missing of the examples, all or none, and return the id of their environment.

    What was changed stays: a plugin that is disabled, a node that was removed from the environment. A new environment
    gets the nodes of the deleted one.
    """
    plugins, release, env = dict(found.plugins), found.release, found.env
    with backend.together():
        for package in (loaded.release, *loaded.plugins):
            if package.name not in plugins:
                installed = backend.plugins.install(str(loaded.directories[package.name]))
                plugins[package.name] = installed.plugin.id
                release = installed.releases[0].id if package is loaded.release else release
        if env is None:
            env = backend.clusters.create(ENVIRONMENT, release).id
        for package in loaded.plugins:
            if found.env is None or package.name not in found.plugins:
                backend.plugins.enable(plugins[package.name], env)
        free = {node.name: node.id for node in found.nodes if node.cluster_id is None and found.env is None}
        for node in loaded.nodes:
            if node.name in free:
                backend.clusters.add_nodes(env, [free[node.name]], node.pending_roles)
        missing = found.missing_nodes(loaded) if found.env else [node for node in loaded.nodes if node.name not in free]
        backend.nodes.create([replace(node, cluster_id=env) for node in missing])
        for graph_type, document in loaded.graphs.items():
            if graph_type not in found.graph_types:
                backend.graphs.upload(OwnerRef(Level.CLUSTER, env), document, graph_type)
    return env


def suggestions(called: str, target: str, width: int = 0) -> list[str]:
    """Commands to try, each with a comment on what it shows, for a terminal of `width` columns or, if that is 0, for a
    file; `called` is how the program was called.

    >>> " ".join(suggestions("fuel2 --engine 'my engine.db'", "/tmp/my engine.db")[0].split())
    "fuel2 --engine 'my engine.db' graph preview --env demo # what would run where, in order"
    """
    at = "beside the server's engine file" if "://" in target else f"in {target}.nodes"
    names = {"env": ENVIRONMENT, "fix": FIX, "nodes": f"each node is a directory {at}"}
    lines = [(f"{called} {command.format(**names)}", meaning.format(**names)) for command, meaning in NEXT]
    if width:
        return [below_comment(*line, width) for line in lines]
    widest = max(len(command) for command, _ in lines)
    return [f"{command:<{widest}}  # {meaning}" for command, meaning in lines]


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

"""The sides of a comparison: graphs named on a command line, and environments as if they had other graphs or plugins.

A graph is named `env:1` (merged), `cluster:1`, `release:2` or `plugin:NAME` (one layer), `run:7` (as that run had it),
`plan:FILE` (as it was when that plan was saved) or by its file. A type may follow: `env:1/TYPE`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import NOUNS, Argument, kinds_named, option, reference
from fuelclient.commands.base import Command, report
from fuelclient.errors import NotFound, UsageError
from fuelclient.similar import is_id

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.environment.layers import Added
    from fuelclient.insight.comparison import Comparison
    from fuelclient.model.environment import Environment
    from fuelclient.model.finding import Finding
    from fuelclient.model.graph import GraphDocument, Layer, MergedTask
    from fuelclient.model.package import Package
    from fuelclient.model.release import Role
    from fuelclient.model.run import Run
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.model.task import Task
    from fuelclient.plan.expand import Expansion
    from fuelclient.plan.preview import PreviewOptions
    from fuelclient.plan.study import Study

_OWNER_NOUNS = {"env": "environment", **NOUNS}
"""The kinds of graphs whose owner is given by id or name, with the noun of the owner."""

GRAMMAR = "env:1, cluster:1, release:2, plugin:NAME, run:7, plan:FILE or a file; a type may follow: env:1/TYPE"


def graph_reference(word: str) -> list[Any]:
    """Read the name of a graph as its kind, its id (or name, or path), and its type after a slash.

    >>> graph_reference("env:1/deletion"), graph_reference("run:7"), graph_reference("fix.yaml")
    (['env', 1, '/deletion'], ['run', 7, '/'], ['file', 'fix.yaml', '/'])
    """
    kind, colon, rest = word.partition(":")
    if not word.strip() or (colon and not rest):
        raise argparse.ArgumentTypeError(f"'{word}' names no graph; write {GRAMMAR}")
    if not colon or kind not in (*_OWNER_NOUNS, "run", "plan", "file"):
        if colon and kind.isalpha() and not os.path.exists(word):
            raise argparse.ArgumentTypeError(f"'{word}' names no graph; write {GRAMMAR}")
        return ["file", word, "/"]
    if kind in ("file", "plan"):
        return [kind, rest, "/"]
    name, _, graph_type = rest.partition("/")
    if kind == "run":
        if not is_id(name):
            raise argparse.ArgumentTypeError(f"'{word}': a run is named by its id")
        return [kind, int(name), f"/{graph_type}"]
    return [kind, reference(_OWNER_NOUNS[kind])(name), f"/{graph_type}"]


def graph_option(*spellings: str, help: str, **more: Any) -> Argument:
    return option(*spellings, type=graph_reference, metavar="GRAPH", help=help, **more)


def addition(word: str) -> list[Any]:
    """Read what `--with` adds: the file of an environment's own graph, or a plugin by its package, its id or its name.

    >>> addition("override.yaml"), addition("plugin:3")
    (['file', 'override.yaml'], ['plugin', 3])
    """
    kind, colon, rest = word.partition(":")
    if not word.strip() or (colon and not rest):
        raise argparse.ArgumentTypeError(
            f"'{word}' names nothing; write a file, or plugin:DIR, plugin:FILE, plugin:NAME"
        )
    if kind != "plugin" or not colon:
        return ["file", rest if kind == "file" and colon else word]
    return plugin_version(rest)


def plugin_version(word: str) -> list[Any]:
    """Read a plugin: a package file, a directory written as a path such as `./my-plugin`, or an id or name."""
    is_path = os.path.isfile(word) or (os.path.exists(word) and (os.sep in word or word.startswith(".")))
    return ["package", word] if is_path else ["plugin", reference("plugin")(word)]


def omission(word: str) -> list[Any]:
    """Read what `--without` leaves out: an enabled plugin, or the environment's own graph.

    >>> omission("plugin:3"), omission("cluster")
    (['plugin', 3], ['cluster'])
    """
    kind, colon, rest = word.partition(":")
    if word == "cluster":
        return ["cluster"]
    if kind != "plugin" or not colon or not rest:
        raise argparse.ArgumentTypeError(
            f"'{word}' cannot be left out; write plugin:NAME, or cluster for its own graph"
        )
    return ["plugin", reference("plugin")(rest)]


WHAT_IF = (
    option(
        "--with", dest="added", type=addition, action="append", default=[], metavar="WHAT",
        help="as if this file were the environment's graph, or plugin:DIR, plugin:FILE, plugin:NAME were enabled",
    ),
    option(
        "--without", dest="left_out", type=omission, action="append", default=[], metavar="WHAT",
        help="as if plugin:NAME were disabled; cluster leaves out the environment's own graph",
    ),
)  # fmt: skip
"""`--with` and `--without`: `added` and `left_out`, lists that `what_if` reads."""


@dataclass(frozen=True, slots=True)
class Side:
    """A graph to compare. If it is `alone` (a layer, a file or a run), nothing else is merged into it. If it is
    `placed` on the nodes of another graph, their facts are its own. If it is `masked`, its secrets are missing."""

    label: str
    snapshot: Snapshot
    alone: bool = False
    placed: bool = False
    masked: bool = False

    def study(self, options: PreviewOptions, backend: Backend) -> Study:
        from fuelclient.backends.studies import study_of

        facts = self.placed or not self.alone
        return study_of(backend, self.snapshot, options, facts=facts, alone=self.alone)


def compared(
    pair: tuple[Side, Side], options: PreviewOptions, backend: Backend
) -> tuple[Comparison, tuple[Expansion, Expansion]]:
    """Compare two graphs, and return their expansions too. If secrets are masked in one, mask them in the other."""
    from fuelclient.insight.comparison import compare

    before, after = (side.study(options, backend) for side in pair)
    comparison = compare(before, after, masked=_masked if any(side.masked for side in pair) else None)
    return comparison, (before.expansion, after.expansion)


def _masked(merged: MergedTask) -> MergedTask:
    from fuelclient import redact  # its patterns take long to compile

    return replace(merged, task=replace(merged.task, attributes=redact.masked_document(merged.task.attributes)))


def sides(command: Command, references: Sequence[Sequence[Any]], parsed_args: argparse.Namespace) -> list[Side]:
    """Read graphs. Those without nodes of their own are placed on the nodes of the environment `env`, or of the
    first environment among the graphs, or on assumed nodes of the roles that their tasks name."""
    env, graph_type = parsed_args.env, parsed_args.graph_type
    found = [_side(command, word, graph_type) for word in references]
    base = next((side.snapshot for side in found if env is None and side.snapshot.cluster.id), None)
    if base is None:
        env = next((number for kind, number, _ in references if env is None and kind == "cluster"), env)
        if env is not None:
            base = command.backend.graphs.snapshot(env, graph_type)
        else:
            tasks = (task for side in found for task in _tasks(side.snapshot))
            base = replace(found[0].snapshot, roles=_roles_of(tasks))
    return [_placed(side, base) if side.alone and not side.snapshot.cluster.id else side for side in found]


def _placed(side: Side, base: Snapshot) -> Side:
    """Place a layer on the nodes of a snapshot, with the defaults that it has among the layers there."""
    layers = tuple(
        next((replace(layer, tasks=own.tasks) for layer in base.layers if layer.owner == own.owner), own)
        for own in side.snapshot.layers
    )
    snapshot = replace(base, layers=layers, graph_type=side.snapshot.graph_type)
    return replace(side, snapshot=snapshot, placed=bool(base.cluster.id))


def refusals_of(backend: Backend, cluster_id: int, parsed_args: argparse.Namespace) -> tuple[Finding, ...]:
    """The errors that keep the installed plugins of `--with` from being enabled. Errors of packages were reported
    when the packages were read."""
    from fuelclient.backends.plugins import refusals
    from fuelclient.environment.clashes import COMPONENT, NETWORK_ROLE, ROLE, VOLUME

    installed = [what for kind, what in parsed_args.added if kind not in ("file", "package")]
    errors = refusals(backend, cluster_id, installed) if installed else ()
    left_out = any(what[0] == "plugin" for what in parsed_args.left_out)  # the clash may be with that plugin
    return tuple(error for error in errors if not (left_out and error.code in (COMPONENT, NETWORK_ROLE, ROLE, VOLUME)))


def what_if(command: Command, side: Side, parsed_args: argparse.Namespace) -> Side:
    """Apply the options of `WHAT_IF` to the graph of an environment and to its label."""
    from fuelclient.environment.layers import changed
    from fuelclient.model.graph import GraphDocument

    backend, current = command.backend, side.snapshot
    environment = backend.clusters.environment(current.cluster.id)
    files = [what[1] for what in parsed_args.added if what[0] == "file"]
    if len(files) > 1:
        raise UsageError("An environment has one graph of its own for each type.", hint="Name one file with --with.")
    own = _document(command, files[0]) if files else None
    if ["cluster"] in parsed_args.left_out:
        if own is not None:
            raise UsageError("--without cluster and a file in --with contradict each other.", hint="Leave one out.")
        own = GraphDocument((), metadata={})
    plugins = [what for what in parsed_args.added if what[0] != "file"]
    added = [_added(backend, environment, current, number, *what) for number, what in enumerate(plugins, start=1)]
    without = [what[1] for what in parsed_args.left_out if what[0] == "plugin"]
    names = {plugin.id: plugin.label for plugin in environment.plugins}
    changes = [f"with {path}" for path in files]
    changes += [f"with plugin {more.plugin.label}" for more in added]
    changes += [f"without plugin {names.get(plugin_id, plugin_id)}" for plugin_id in without]
    changes += ["without cluster"] * (["cluster"] in parsed_args.left_out)
    after = changed(environment, current, without=without, added=added, uploaded=own)
    return replace(side, label=f"{side.label} {', '.join(changes)}", snapshot=after)


def _side(command: Command, word: Sequence[Any], default_type: str) -> Side:
    from fuelclient.model.cluster import Cluster
    from fuelclient.model.graph import Layer, Level, Owner, OwnerRef
    from fuelclient.model.snapshot import Snapshot

    kind, name, graph_type = word[0], word[1], word[2][1:] or default_type
    backend = command.backend
    if kind == "env":
        return Side(_label(word), backend.graphs.snapshot(name, graph_type))
    if kind == "run":
        return run_side(backend, name, word[2][1:])
    if kind == "plan":
        return _plan_side(backend, name, graph_type)
    nowhere = Cluster(0, "", 0)
    if kind == "file":
        document = _document(command, name)
        layer = Layer(Owner(Level.CLUSTER, 0), document.tasks, document.metadata)
    else:
        graph = backend.graphs.get(OwnerRef(Level(kind), name), graph_type)
        layer = Layer(graph.owner, graph.tasks, graph.metadata)
    return Side(_label(word), Snapshot(nowhere, (layer,), graph_type=graph_type), alone=True)


def _label(word: Sequence[Any]) -> str:
    kind, name, graph_type = word
    return str(name) if kind == "file" else f"{kind}:{name}{graph_type if graph_type != '/' else ''}"


def _document(command: Command, path: str) -> GraphDocument:
    from fuelclient.commands.graph.documents import graph_document

    source = argparse.Namespace(file=path, dir=None)
    if path != "-" and os.path.isdir(path):
        source = argparse.Namespace(file=None, dir=Path(path))
    try:
        document = graph_document(source, command.app.stdin, owner_label="cluster")
    except NotFound as error:
        kinds = {noun: kind for kind, noun in _OWNER_NOUNS.items() if kind != "cluster"}
        meant = [f"{kinds[noun]}:{path}" for noun in kinds_named(path, command.backend)]
        if not meant or os.path.exists(path):
            raise
        raise NotFound("file", path, hint=f"Did you mean {' or '.join(meant)}?") from error
    report(document.findings)
    return document


def _plan_side(backend: Backend, path: str, graph_type: str) -> Side:
    """The graph of a saved plan, on the nodes that its environment has now."""
    from fuelclient import files
    from fuelclient.environment.saved_plans import plan_from

    plan = plan_from(files.load(path).data, path)
    graph = next((graph for graph in plan.graphs if graph.type == graph_type), plan.graphs[0])
    current = backend.graphs.snapshot(plan.request.cluster_id, graph.type)
    layers = tuple(saved.layer for saved in graph.layers)
    return Side(f"plan:{path}", replace(current, layers=layers), masked=True)


def run_side(backend: Backend, run_id: int, graph_type: str) -> Side:
    """The graph of a run. A run keeps no groups, so those of the environment's graph are added.

    Raise `NotFound` for a type that the run did not have, and `UsageError` if it had several and none is named.
    """
    from fuelclient.model.graph import Layer, Level, Owner
    from fuelclient.model.task import Task, TaskType

    run = backend.runs.get(run_id)
    child = _child(run, graph_type)
    definitions = {
        row.task: row.definition for row in backend.runs.history(child.id) if row.graph_type == child.graph_type
    }
    if not any(definitions.values()):
        raise NotFound("graph", f"of run {run_id}", hint="The run planned nothing, so it has no graph.")
    current = backend.graphs.snapshot(run.cluster_id, child.graph_type)
    groups = [task for task in _tasks(current) if task.type == TaskType.GROUP and task.id not in definitions]
    tasks = (*groups, *(Task(name, definition) for name, definition in definitions.items()))
    layer = Layer(Owner(Level.CLUSTER, run.cluster_id), tasks)
    return Side(f"run:{run_id}/{child.graph_type}", replace(current, layers=(layer,)), alone=True, masked=True)


def _child(run: Run, graph_type: str) -> Run:
    children = run.children or (run,)
    types = list(dict.fromkeys(child.graph_type for child in children))
    if not graph_type and len(types) > 1:
        raise UsageError(f"Run {run.id} had several graphs.", hint=f"Add the type: run:{run.id}/{types[0]}.")
    for child in children:
        if child.graph_type == (graph_type or types[0]):
            return child
    raise NotFound("graph type", f"{graph_type} of run {run.id}", known=types)


def _tasks(snapshot: Snapshot) -> Iterable[Task]:
    from fuelclient.graph.merge import merge_layers

    return (merged.task for merged in merge_layers(snapshot.layers, keep_partial=True).tasks)


def _roles_of(tasks: Iterable[Task]) -> dict[str, Role]:
    """A role for each name in `roles` and `tags` of tasks, so that layers without an environment can be placed."""
    from fuelclient.model.release import Role

    names = {name for task in tasks for attribute in ("roles", "tags") for name in task.names(attribute)}
    return {name: Role(name, (name,)) for name in sorted(names - {"master"}) if not name.startswith(("/", "*"))}


def _added(backend: Backend, environment: Environment, snapshot: Snapshot, number: int, kind: str, what: Any) -> Added:
    if kind != "package":
        from fuelclient.backends.plugins import installed_addition

        return installed_addition(backend, environment, snapshot, what)
    from fuelclient.plugins.checks.in_environment import check_enabled

    package = package_at(Path(what))
    layers: dict[str, Sequence[Layer]] = {snapshot.graph_type: snapshot.layers}
    report(finding for finding in check_enabled(package, environment, layers) if finding.code.startswith("P07"))
    return package_addition(package, environment, snapshot, number)


def package_at(path: Path) -> Package:
    """Read a package from a directory or an archive. Raise `NotFound`, or `InvalidDocument` if it is unusable."""
    from fuelclient.plugins.archive import opened_package
    from fuelclient.plugins.load import load_package

    with opened_package(path) as (directory, shown_as):
        return load_package(directory, shown_as=shown_as)


def package_addition(package: Package, environment: Environment, snapshot: Snapshot, number: int = 1) -> Added:
    """The plugin that enabling a package would add; several packages need different numbers."""
    from fuelclient.environment.layers import Added
    from fuelclient.plugins.load import plugin_of
    from fuelclient.plugins.select import select

    contents = select(package, environment.release).contents
    plugin = replace(plugin_of(replace(package, contents=contents)), id=-number)
    return Added(plugin, contents.graphs.get(snapshot.graph_type))

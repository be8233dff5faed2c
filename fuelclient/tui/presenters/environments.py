"""The list of environments, the details of an environment, and how to create the first one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import GraphSummary, Level
from fuelclient.model.node import Node
from fuelclient.model.run import Run
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import count, fact, names, title
from fuelclient.tui.presenters.run import last_run
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.requests import Overview
from fuelclient.tui.routes import TABS

_COLUMNS = (
    Column("id", "id", least=2, right=True),
    Column("name", "environment", least=11, most=30),
    Column("status", "status", least=18, most=20),
    Column("release", "release", least=23, most=40, grows=True, rank=4),
    Column("run", "last run", least=20, most=20),
    Column("nodes", "nodes", least=5, right=True, rank=1),
    Column("plugins", "plugins", least=7, right=True, rank=2),
    Column("graphs", "graph types", least=11, most=60, rank=3, grows=True),
)

_NO_RELEASE = (
    "There are no environments yet, and no releases to create one from.",
    "",
    "fuel2 demo                       packaged examples, with nodes and plugins",
    "fuel2 plugins install PACKAGE    a release that comes as a plugin",
    "fuel2 release import FILE        a release from a fixture",
    "",
    "Then press ctrl+r here.",
)

_NO_ENVIRONMENT = (
    "There are no environments yet. Create one from a release:",
    "",
    "fuel2 release list",
    "fuel2 env create NAME --release ID",
    "",
    "Then press ctrl+r here.",
)

_VIEW_SUMMARIES = {
    "roles": "what each role brings, and who has it",
    "nodes": "the machines and their roles",
    "preview": "merged tasks in execution order, and who set what",
    "lanes": "the graph, one row for each task",
    "browse": "what comes before and after a task",
    "problems": "findings, with the line they are about",
    "plugins": "what each plugin adds and overrides",
    "history": "runs, and what happened to their tasks",
}


def table(overview: Overview, runs: Sequence[Run] | None, glyphs: Glyphs) -> Table:
    """All environments; `runs` is None until they have been read."""
    releases = {release.id: release for release in overview.releases}
    rows = []
    for cluster in overview.clusters:
        known = releases.get(cluster.release_id)
        release = f"{known.name} {known.version}" if known else str(cluster.release_id)
        run = "" if runs is None else last_run(runs, cluster.id, glyphs)
        nodes = sum(node.cluster_id == cluster.id for node in overview.nodes)
        plugins = sum(cluster.id in plugin.clusters for plugin in overview.plugins)
        graphs = names(sorted({graph.type for graph in overview.graphs if _belongs_to(graph, overview, cluster)}))
        about = (str(cluster.id), Cell(cluster.name, Tone.STRONG), str(cluster.status))
        rows.append((*about, release, run, str(nodes), str(plugins), graphs))
    return Table(_COLUMNS, rows, empty=_NO_ENVIRONMENT if overview.releases else _NO_RELEASE)


def detail(overview: Overview, row: int, glyphs: Glyphs) -> list[Line]:
    cluster = overview.clusters[row]
    release = next((each for each in overview.releases if each.id == cluster.release_id), None)
    nodes = [node for node in overview.nodes if node.cluster_id == cluster.id]
    plugins = [plugin for plugin in overview.plugins if cluster.id in plugin.clusters]
    roles = Counter(role for node in nodes for role in node.all_roles)
    lines = [title(f"environment {cluster.id} {cluster.name}")]
    if release is not None:
        system = f", {release.operating_system}" if release.operating_system else ""
        lines.append(fact("release", f"{release.id} {release.name} {release.version}{system}"))
    lines += [
        fact("status", str(cluster.status)),
        fact("networks", cluster.net_segment_type),
        fact("nodes", _nodes_by_status(nodes) or f"none {glyphs.arrow} fuel2 env add nodes"),
        *(fact(f"  {role}", count(number, "node")) for role, number in roles.items()),
        fact("plugins", names(plugin.label for plugin in plugins) or "none enabled"),
        *(fact("graph", text) for text in _graphs(overview, cluster)),
        (),
        title("Enter opens it; then"),
        *(
            (Cell(f"  {digit} ", Tone.ACCENT), f"{view:<9} ", Cell(_VIEW_SUMMARIES[view], Tone.DIM))
            for digit, view in enumerate(TABS, start=1)
        ),
    ]
    return lines


def _belongs_to(graph: GraphSummary, overview: Overview, cluster: Cluster) -> bool:
    level, owner = graph.owner.level, graph.owner.id
    if level is Level.PLUGIN:
        return any(plugin.id == owner and cluster.id in plugin.clusters for plugin in overview.plugins)
    return owner == (cluster.release_id if level is Level.RELEASE else cluster.id)


def _graphs(overview: Overview, cluster: Cluster) -> list[str]:
    layers_of: dict[str, list[str]] = {}
    for graph in overview.graphs:
        if graph.task_ids and _belongs_to(graph, overview, cluster):
            label = graph.owner.label.removeprefix("plugin ")
            layers_of.setdefault(graph.type, []).append(f"{label} {len(graph.task_ids)}")
    return [f"{graph_type}: {' + '.join(layers)}" for graph_type, layers in sorted(layers_of.items())]


def _nodes_by_status(nodes: list[Node]) -> str:
    counted = Counter(str(node.status) for node in nodes)
    statuses = names(f"{number} {status}" for status, number in sorted(counted.items()))
    offline = sum(not node.online for node in nodes)
    return f"{statuses}, {offline} offline" if offline else statuses

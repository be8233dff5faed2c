"""Plugins: installed and enabled ones, what each adds to the environment and what it overrides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.insight.blame import blame
from fuelclient.model.graph import Level
from fuelclient.model.plugin import Plugin
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import count, fact, finding_lines, names, stated_value, title, value_text
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.requests import GraphData

_COLUMNS = (
    Column("id", "id", least=2, right=True),
    Column("name", "plugin", least=20, most=34, grows=True),
    Column("version", "version", least=7, most=12),
    Column("here", "here", least=13, most=18),
    Column("adds", "adds", least=4, right=True),
    Column("overrides", "overrides", least=9, right=True),
    Column("roles", "roles", least=12, most=30, rank=2),
    Column("clashes", "clashes", least=7, right=True, rank=1),
)

_EMPTY = (
    "No plugin is installed.",
    "",
    "fuel2 plugins install PACKAGE     a directory, an .fp or an .rpm",
    "fuel2 plugins create              a plugin to start from",
    "",
    "Then press ctrl+r here.",
)


def table(data: GraphData, glyphs: Glyphs) -> Table:
    """Return all installed plugins by name and version, with what they do here."""
    rows = [_row(plugin, data, glyphs) for plugin in data.plugins]
    return Table(_COLUMNS, rows, [str(plugin.id) for plugin in data.plugins], _EMPTY)


def _row(plugin: Plugin, data: GraphData, glyphs: Glyphs) -> tuple[Cell | str, ...]:
    enabled = data.env in plugin.clusters
    added, overridden = _tasks(plugin, data)
    clashes = sum(finding.is_error for finding in (data.clashes or {}).get(plugin.id, ()))
    return (
        str(plugin.id),
        Cell(plugin.name, Tone.STRONG),
        plugin.version,
        Cell(*_state(plugin, data, glyphs)),
        str(len(added)) if enabled else "",
        str(len(overridden)) if enabled else "",
        names(plugin.metadata.get("roles_metadata") or {}),
        Cell(f"{glyphs.error} {clashes}", Tone.BAD) if clashes else "",
    )


def _state(plugin: Plugin, data: GraphData, glyphs: Glyphs) -> tuple[str, Tone]:
    if data.release.id in plugin.releases:
        return f"{glyphs.ok} its release", Tone.PLAIN
    if data.env in plugin.clusters:
        return f"{glyphs.ok} enabled", Tone.ACCENT
    return f"{glyphs.no} installed", Tone.DIM


def _tasks(plugin: Plugin, data: GraphData) -> tuple[list[str], list[str]]:
    """Return the tasks that a plugin's layer adds to the merged graph, and those that it overrides."""
    added: list[str] = []
    overridden: list[str] = []
    for task in data.study.merged.tasks:
        owners = (task.owner, *task.overrides)
        place = next((n for n, owner in enumerate(owners) if owner.level is Level.PLUGIN and owner.id == plugin.id), -1)
        if place >= 0:
            (overridden if owners[place + 1 :] else added).append(task.id)
    return added, overridden


def detail(data: GraphData, plugin: Plugin, glyphs: Glyphs) -> list[Line]:
    """Return one plugin: its description, what it brings, adds and overrides, and where it clashes."""
    metadata = plugin.metadata
    settings = metadata.get("attributes_metadata") or {}
    added, overridden = _tasks(plugin, data)
    lines = [title(f"{plugin.title or plugin.name} {plugin.version}")]
    if metadata.get("description"):
        lines += [(" ".join(str(metadata["description"]).split()),), ()]
    lines += [
        fact("here", *(Cell(text, tone) for text, tone in [_state(plugin, data, glyphs)])),
        fact("environments", names(plugin.clusters) or "none"),
        fact("package", plugin.package_version),
        fact("releases", names(_releases(metadata)) or "its own"),
        fact("roles", names(metadata.get("roles_metadata") or {}) or "none"),
        fact("volumes", names(_ids((metadata.get("volumes_metadata") or {}).get("volumes"))) or "none"),
        fact("settings", names(key for key in settings if key != "metadata") or "none"),
        *(fact("graph", f"{graph.type}: {count(len(graph.task_ids), 'task')}") for graph in data.graphs
          if graph.owner.level is Level.PLUGIN and graph.owner.id == plugin.id),
    ]  # fmt: skip
    for word, sign, tasks in (("adds", glyphs.added, added), ("overrides", glyphs.changed, overridden)):
        if tasks:
            lines += [(), title(f"{word} {count(len(tasks), 'task')}")]
            for task in tasks:
                lines.append((Cell(f"  {sign} {task}", Tone.ACCENT), Cell(_where(data, task), Tone.DIM)))
                lines += _set(data, plugin, task, glyphs) if tasks is overridden else []
    return [*lines, *_clashes(data, plugin, glyphs)]


def _where(data: GraphData, task: str) -> str:
    """Return on how many nodes a task runs; nothing for one that is not in the order."""
    row = data.study.named(task)
    if row is None:
        return ""
    nodes = data.study.rows[row].nodes
    return f"  {count(len(nodes), 'node')}" if nodes else "  on no node here"


def _set(data: GraphData, plugin: Plugin, task: str, glyphs: Glyphs) -> Iterator[Line]:
    """Return the attributes that a plugin changes in a task of a layer below, and what they were."""
    row = data.study.named(task)
    for blamed in blame(data.study.task(row)) if row is not None else ():
        owner = blamed.origin.owner
        if blamed.is_changed and owner.level is Level.PLUGIN and owner.id == plugin.id:
            was = value_text(blamed.replaced[0][0]) if blamed.replaced else ""
            yield (f"      {blamed.path}: {stated_value(blamed)}",)
            yield (Cell(f"        {glyphs.gone if blamed.dropped else glyphs.was} {was}", Tone.DIM),)


def _clashes(data: GraphData, plugin: Plugin, glyphs: Glyphs) -> Iterator[Line]:
    clashes = (data.clashes or {}).get(plugin.id, ())
    if clashes:
        yield ()
        yield title("clashes, and what to know")
    for finding in clashes:
        yield from finding_lines(finding, glyphs)


def _releases(metadata: Mapping[str, Any]) -> list[str]:
    return [
        f"{release.get('os', '')} {release.get('version', '')}".strip()
        for release in metadata.get("releases") or ()
        if isinstance(release, Mapping) and not release.get("is_release")
    ]


def _ids(records: Sequence[Any] | None) -> list[str]:
    return [str(record.get("id")) for record in records or () if isinstance(record, Mapping)]

"""Plugins: installed and enabled ones, what each adds and overrides, and what enabling one would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fuelclient.insight.blame import blame
from fuelclient.insight.comparison import Change, Comparison, OrderEffect, TaskChange, ValueChange
from fuelclient.model.graph import Level
from fuelclient.model.plugin import Plugin
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import (
    count,
    fact,
    finding_lines,
    names,
    replaced_sign,
    stated_value,
    title,
    value_text,
)
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
    return Table(_COLUMNS, [_row(plugin, data, glyphs) for plugin in data.plugins], empty=_EMPTY)


def _row(plugin: Plugin, data: GraphData, glyphs: Glyphs) -> tuple[Cell | str, ...]:
    enabled = data.env in plugin.clusters
    added, overridden = _tasks(plugin, data)
    clashes = sum(finding.is_error for finding in data.clashes.get(plugin.id, ()))
    return (
        str(plugin.id),
        Cell(plugin.name, Tone.STRONG),
        plugin.version,
        _state(plugin, data, glyphs),
        str(len(added)) if enabled else "",
        str(len(overridden)) if enabled else "",
        names(plugin.metadata.get("roles_metadata") or {}),
        Cell(f"{glyphs.error} {clashes}", Tone.BAD) if clashes else "",
    )


def _state(plugin: Plugin, data: GraphData, glyphs: Glyphs) -> Cell:
    if data.release.id in plugin.releases:
        return Cell(f"{glyphs.ok} its release")
    if data.env in plugin.clusters:
        return Cell(f"{glyphs.ok} enabled", Tone.ACCENT)
    return Cell(f"{glyphs.no} installed", Tone.DIM)


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
    releases = [
        f"{release.get('os', '')} {release.get('version', '')}".strip()
        for release in metadata.get("releases") or ()
        if isinstance(release, Mapping) and not release.get("is_release")
    ]
    volumes = (metadata.get("volumes_metadata") or {}).get("volumes") or ()
    added, overridden = _tasks(plugin, data)
    lines = [title(f"{plugin.title or plugin.name} {plugin.version}")]
    if metadata.get("description"):
        lines += [(" ".join(str(metadata["description"]).split()),), ()]
    lines += [
        fact("here", _state(plugin, data, glyphs)),
        fact("environments", names(plugin.clusters) or "none"),
        fact("package", plugin.package_version),
        fact("releases", names(releases) or "its own"),
        fact("roles", names(metadata.get("roles_metadata") or {}) or "none"),
        fact("volumes", names(record.get("id") for record in volumes if isinstance(record, Mapping)) or "none"),
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
    clashes = data.clashes.get(plugin.id, ())
    if clashes:
        lines += [(), title("clashes, and what to know"), *finding_lines(clashes, glyphs)]
    return lines


def _where(data: GraphData, task: str) -> str:
    """Return on how many nodes a task runs; nothing for one that is not in the order."""
    row = data.study.named(task)
    nodes = len(data.study.rows[row].nodes) if row is not None else 0
    return "" if row is None else f"  {count(nodes, 'node') if nodes else 'on no node here'}"


def _set(data: GraphData, plugin: Plugin, task: str, glyphs: Glyphs) -> Iterator[Line]:
    """Return the attributes that a plugin changes in a task of a layer below, and what they were."""
    row = data.study.named(task)
    for blamed in blame(data.study.task(row)) if row is not None else ():
        owner = blamed.origin.owner
        if blamed.is_changed and owner.level is Level.PLUGIN and owner.id == plugin.id:
            was = value_text(blamed.replaced[0][0]) if blamed.replaced else ""
            yield (f"      {blamed.path}: {stated_value(blamed)}",)
            yield (Cell(f"        {replaced_sign(blamed, glyphs)} {was}", Tone.DIM),)


MOST_PAIRS = 20
"""How many pairs of tasks are listed whose order is lost or gained; the command line has all."""

_CHANGE_TONES = {Change.ADDED: Tone.ACCENT, Change.CHANGED: Tone.ACCENT, Change.REMOVED: Tone.WARN}


def if_enabled(found: Comparison, name: str, glyphs: Glyphs) -> list[Line]:
    """Return what enabling the plugin of that name would change: tasks with their attributes, the order of task
    instances, and findings that the graph does not have now."""
    refused = [finding for finding in found.findings if finding.code.startswith("P07")]
    new = [finding for finding in found.findings if finding not in refused]
    said = [title(f"If {name} were enabled here"), ()]
    for finding in refused:
        why = replace(finding, message=f"It cannot be enabled here: {finding.message}.")
        said += [*finding_lines([why], glyphs), ()]
    if not found.is_different and not new:
        return [*said, ("Nothing would change in this graph.",)]
    changes = [task.change for task in found.tasks]
    figures = ", ".join(f"{changes.count(change)} {change}" for change in Change if change in changes)
    said += [title(f"tasks: {figures or 'no difference'}"), *_order_lines(found, glyphs), ()]
    said += [line for task in found.tasks for line in _changed_task(task, glyphs)]
    said += [line for value in found.metadata for line in _value(value, glyphs)]
    said += _pairs(found.order, glyphs) if found.order else ()
    if new:
        said += [(), title(count(len(new), "new finding")), *finding_lines(new, glyphs)]
    return said


def _changed_task(task: TaskChange, glyphs: Glyphs) -> Iterator[Line]:
    sign = {Change.ADDED: glyphs.added, Change.CHANGED: glyphs.changed, Change.REMOVED: "-"}[task.change]
    yield (Cell(f"  {sign} {task.task}", _CHANGE_TONES[task.change]),)
    for value in task.values if task.change is Change.CHANGED else ():
        yield from _value(value, glyphs)


def _value(value: ValueChange, glyphs: Glyphs) -> Iterator[Line]:
    before, after = ("not stated" if side is None else value_text(side) for side in (value.before, value.after))
    yield (f"      {value.path}: {after}",)
    yield (Cell(f"        {glyphs.was} {before}", Tone.DIM),)


def _order_lines(found: Comparison, glyphs: Glyphs) -> Iterator[Line]:
    order = found.order
    if order is None:
        yield title("order: cannot be compared")
        yield (Cell(f"  {glyphs.error} {found.problem}", Tone.BAD),)
        return
    yield title(f"order: {count(order.lost, 'ordering')} of {order.before} lost, {order.gained} gained")
    edges = f"{count(len(order.edges_removed), 'edge')} between tasks removed, {len(order.edges_added)} added"
    yield (Cell(f"  {edges}; {order.instances} task instances are in both", Tone.DIM),)


def _pairs(order: OrderEffect, glyphs: Glyphs) -> Iterator[Line]:
    if order.lost_pairs or order.gained_pairs:
        yield ()
    for word, tone, listed in (("lost", Tone.WARN, order.lost_pairs), ("gained", Tone.PLAIN, order.gained_pairs)):
        for pair in listed[:MOST_PAIRS]:
            yield (Cell(f"  {word:7} {pair.before} {glyphs.arrow} {pair.after}", tone),)
        if len(listed) > MOST_PAIRS:
            yield (Cell(f"  {word:7} and {len(listed) - MOST_PAIRS} more pairs of tasks", Tone.DIM),)

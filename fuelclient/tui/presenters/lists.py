"""The lists of roles, nodes and plugins with their details, and what enabling a plugin would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fuelclient.insight.blame import blame
from fuelclient.insight.comparison import Change, Comparison, OrderEffect, TaskChange, ValueChange
from fuelclient.insight.stats import Holders, holders
from fuelclient.model.graph import Level, MergedTask
from fuelclient.model.node import Node, NodeStatus
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Role
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.blame import changed_tone, given_value, layer_cell, replaced_sign, task_sign
from fuelclient.tui.presenters.formatting import count, fact, finding_lines, names, title, value_text
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone, Value
from fuelclient.tui.requests import GraphData


@dataclass(frozen=True, slots=True)
class Listing:
    """A list and the details of a row of it, with the titles of both."""

    name: str
    detail_title: str
    table: Callable[[GraphData, Glyphs], Table]
    detail: Callable[[GraphData, int, Glyphs], list[Line]]


_ROLES = (
    Column("role", "role", least=21, most=30),
    Column("tasks", "tasks", least=5, right=True),
    Column("deployed", "deployed", least=8, right=True),
    Column("pending", "pending", least=7, right=True),
    Column("limits", "limits", least=20, most=34, rank=2),
    Column("conflicts", "conflicts", least=14, most=30, rank=1),
    Column("from", "from", least=16, most=28, rank=3, grows=True),
)

_NO_ROLES = ("The release of this environment has no roles.", "", "fuel2 release show ID shows what it has.")


def _roles(data: GraphData, _: Glyphs) -> Table:
    holding = holders(data.study.snapshot.nodes)
    rows: list[tuple[Value, ...]] = []
    for role in data.study.snapshot.roles.values():
        holders_of_role = holding.get(role.name, Holders())
        counts = [str(len(nodes) or "") for nodes in (holders_of_role.deployed, holders_of_role.pending)]
        limits = _limits(role.metadata.get("limits"))
        tasks = str(len(data.tasks_of[role.name]))
        rows.append((Cell(role.name, Tone.STRONG), tasks, *counts, limits, _conflicts(role), layer_cell(role.owner)))
    return Table(_ROLES, rows, empty=_NO_ROLES)


def _limits(given: Any) -> str:
    """The limits of a role in a few words.

    >>> _limits({"min": 1, "max": 3, "recommended": 3, "overrides": []})
    'min 1, max 3, recommended 3'
    """
    if not isinstance(given, Mapping):
        return ""
    return names(f"{key} {value_text(value)}" for key, value in given.items() if value not in ([], {}, None)
                 and not isinstance(value, list))  # fmt: skip


def _conflicts(role: Role) -> str:
    """The names of the roles that cannot be on one node with `role`; a role may give them as `*` for all others."""
    given = role.metadata.get("conflicts")
    if isinstance(given, list | tuple):
        return names(given)
    return "every other (*)" if given == "*" else str(given or "")


def _role(data: GraphData, row: int, glyphs: Glyphs) -> list[Line]:
    role = list(data.study.snapshot.roles.values())[row]
    holders_of_role = holders(data.study.snapshot.nodes).get(role.name, Holders())
    by_id = {node.id: node.name for node in data.study.snapshot.nodes}
    metadata = role.metadata
    lines = [title(f"{role.name}" + (f": {metadata['name']}" if metadata.get("name") else ""))]
    if metadata.get("description"):
        lines += [(" ".join(str(metadata["description"]).split()),), ()]
    lines += [
        fact("from", role.owner),
        fact("tags", names(role.tags)),
        fact("primary", "one node of the role" if set(role.tags) & data.study.snapshot.primary_tags else "none"),
        fact("conflicts", _conflicts(role) or "none"),
        fact("limits", _limits(metadata.get("limits")) or "none"),
    ]
    restrictions = metadata.get("restrictions") or []
    listed = restrictions if isinstance(restrictions, list) else [restrictions]
    lines += [fact("restriction", _restriction(restriction)) for restriction in listed]
    lines += [fact("volume", _volume(volume)) for volume in role.volumes]
    lines += [
        fact(word, names(f"{by_id[node]} ({node})" for node in nodes))
        for word, nodes in (("deployed on", holders_of_role.deployed), ("pending on", holders_of_role.pending))
        if nodes
    ]
    if not holders_of_role.all:
        lines.append(fact("nodes", "no node has it"))
    return [*lines, (), *_tasks_of_role(data, role, glyphs)]


def _tasks_of_role(data: GraphData, role: Role, glyphs: Glyphs) -> list[Line]:
    study, own_tasks = data.study, data.tasks_of[role.name]
    lines = [title(f"{count(len(own_tasks), 'task')} in execution order")]
    rows = [row for row, index in enumerate(study.indices) if index in own_tasks]
    for row in rows:
        task = study.task(row)
        tone = changed_tone(study.rows[row].is_changed)
        where = (study.rows[row].stage or "no stage") if study.rows[row].nodes else "runs nowhere here"
        sign = f"{row + 1:>4} {task_sign(task, glyphs) or ' '} "
        lines.append((Cell(sign, tone), Cell(task.id, tone), Cell(f"  {where}", Tone.DIM)))
    if own_tasks and not rows:
        lines.append((Cell("The graph has no order: see 6 problems.", Tone.WARN),))
    return lines


def _volume(volume: Any) -> str:
    if not isinstance(volume, Mapping):
        return value_text(volume)
    size = volume.get("allocate_size")
    details = names(str(volume[key]) for key in ("label", "type") if volume.get(key))
    return f"{volume.get('id')}" + (f" ({size})" if size else "") + (f": {details}" if details else "")


def _restriction(given: Any) -> str:
    if not isinstance(given, Mapping):
        return f"not when {given}"
    condition, message = given.get("condition"), given.get("message")
    if condition is None and len(given) == 1:
        [(condition, message)] = given.items()
        return f"not when {condition}: {message}"
    return f"not when {condition}" + (f": {message}" if message else "")


_NODES = (
    Column("id", "id", least=2, right=True),
    Column("name", "node", least=8, most=30),
    Column("status", "status", least=8, most=16),
    Column("roles", "roles (+ pending)", least=12, most=60, grows=True),
    Column("online", "online", least=6, rank=2),
    Column("ip", "address", least=7, most=40, rank=3),
    Column("executor", "reached", least=7, most=10, rank=4),
)

_NO_NODES = (
    "The environment has no nodes; previews assume some.",
    "",
    "fuel2 node import FILE",
    "fuel2 env add nodes --env ID --nodes 1 2 --roles controller",
    "",
    "Then press ctrl+r here.",
)


def _nodes_by_id(data: GraphData) -> list[Node]:
    return sorted(data.study.snapshot.nodes, key=lambda node: node.id)


def _nodes(data: GraphData, glyphs: Glyphs) -> Table:
    """One row for each node, with its deployed roles, then its pending roles with a plus."""
    rows: list[tuple[Value, ...]] = []
    for node in _nodes_by_id(data):
        status = Cell(str(node.status), Tone.BAD if node.status == NodeStatus.ERROR else Tone.PLAIN)
        roles = names([*node.roles, *(f"+{role}" for role in node.pending_roles if role not in node.roles)])
        online = Cell(f"{glyphs.ok} yes", Tone.DIM) if node.online else Cell(f"{glyphs.error} no", Tone.BAD)
        reached_by = _reached_by(node, data)
        rows.append((str(node.id), Cell(node.name, Tone.STRONG), status, roles, online, node.ip, reached_by))
    return Table(_NODES, rows, empty=_NO_NODES)


def _reached_by(node: Node, data: GraphData) -> str:
    """How tasks reach a node: its executor, or the agents of a Fuel master."""
    return node.reached_by if data.abilities.executors else "master"


def _node(data: GraphData, row: int, glyphs: Glyphs) -> list[Line]:
    node, study = _nodes_by_id(data)[row], data.study
    fleet = study.expansion.fleet.nodes
    index = next((index for index, placed in enumerate(fleet) if placed.uid == node.id), None)
    lines = [
        title(f"node {node.id} {node.name}"),
        fact("status", str(node.status) + ("" if node.online else ", offline: runs leave it out")),
        fact("deployed", names(node.roles) or "nothing"),
        fact("pending", names(role for role in node.pending_roles if role not in node.roles) or "nothing"),
        fact("address", node.ip or "none"),
        fact("reached by", _reached_by(node, data) or "nothing: it has no address"),
    ]
    if index is not None:
        lines.append(fact("tags", names(fleet[index].tags)))
    lines += [fact(str(key), value_text(value)) for key, value in node.attributes.items()]
    own_tasks = [vertex for vertex in study.order if study.expansion.node_of[vertex] == index]
    lines += [(), title(f"{count(len(own_tasks), 'task instance')} in execution order")]
    for vertex in own_tasks:
        row = study.row_of[study.expansion.task_of[vertex]]
        task, tone = study.task(row), changed_tone(study.rows[row].is_changed)
        generation = Cell(f"{study.generation[vertex]:>4} ", Tone.DIM)
        lines.append((generation, Cell(f"{task_sign(task, glyphs) or ' '} {task.id}", tone)))
    return lines


_PLUGINS = (
    Column("id", "id", least=2, right=True),
    Column("name", "plugin", least=20, most=34, grows=True),
    Column("version", "version", least=7, most=12),
    Column("here", "here", least=13, most=18),
    Column("adds", "adds", least=4, right=True),
    Column("overrides", "overrides", least=9, right=True),
    Column("roles", "roles", least=12, most=30, rank=2),
    Column("clashes", "clashes", least=7, right=True, rank=1),
)

_NO_PLUGINS = (
    "No plugin is installed.",
    "",
    "fuel2 plugins install PACKAGE     a directory, an .fp or an .rpm",
    "fuel2 plugins create              a plugin to start from",
    "",
    "Then press ctrl+r here.",
)


def _plugins(data: GraphData, glyphs: Glyphs) -> Table:
    rows: list[tuple[Value, ...]] = []
    for plugin in data.plugins:
        counts = [str(len(tasks)) if data.env in plugin.clusters else "" for tasks in _tasks(plugin, data)]
        errors = sum(finding.is_error for finding in data.clashes.get(plugin.id, ()))
        clashes = Cell(f"{glyphs.error} {errors}", Tone.BAD) if errors else ""
        roles, state = names(plugin.metadata.get("roles_metadata") or {}), _state(plugin, data, glyphs)
        rows.append((str(plugin.id), Cell(plugin.name, Tone.STRONG), plugin.version, state, *counts, roles, clashes))
    return Table(_PLUGINS, rows, empty=_NO_PLUGINS)


def _state(plugin: Plugin, data: GraphData, glyphs: Glyphs) -> Cell:
    if data.release.id in plugin.releases:
        return Cell(f"{glyphs.ok} its release")
    if data.env in plugin.clusters:
        return Cell(f"{glyphs.ok} enabled", Tone.ACCENT)
    return Cell(f"{glyphs.no} installed", Tone.DIM)


def _tasks(plugin: Plugin, data: GraphData) -> tuple[list[str], list[str]]:
    """The tasks that a plugin's layer adds to the merged graph, and those that it overrides."""
    added: list[str] = []
    overridden: list[str] = []
    for task in data.study.merged.tasks:
        owners = (task.owner, *task.overrides)
        index = next((n for n, owner in enumerate(owners) if owner.level is Level.PLUGIN and owner.id == plugin.id), -1)
        if index >= 0:
            (overridden if owners[index + 1 :] else added).append(task.id)
    return added, overridden


def _plugin(data: GraphData, row: int, glyphs: Glyphs) -> list[Line]:
    plugin = data.plugins[row]
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
            for name in tasks:
                index, where = data.study.row_named(name), ""
                if index is not None:
                    nodes = len(data.study.rows[index].nodes)
                    where = f"  {count(nodes, 'node') if nodes else 'on no node here'}"
                lines.append((Cell(f"  {sign} {name}", Tone.ACCENT), Cell(where, Tone.DIM)))
                if index is not None and tasks is overridden:
                    lines += _overridden_attributes(data.study.task(index), plugin, glyphs)
    if clashes := data.clashes.get(plugin.id, ()):
        lines += [(), title("clashes, and what to know"), *finding_lines(clashes, glyphs)]
    return lines


def _overridden_attributes(task: MergedTask, plugin: Plugin, glyphs: Glyphs) -> Iterator[Line]:
    """The attributes that a plugin changes in a task of a lower layer, and the values that it replaces."""
    for blamed in blame(task):
        owner = blamed.origin.owner
        if blamed.changed and owner.level is Level.PLUGIN and owner.id == plugin.id:
            was = value_text(blamed.overrode[-1].value) if blamed.overrode else ""
            yield (f"      {blamed.attribute}: {given_value(blamed)}",)
            yield (Cell(f"        {replaced_sign(blamed, glyphs)} {was}", Tone.DIM),)


MAX_PAIRS = 20
"""The largest number of lost, and of gained, pairs of tasks that are listed; the command line lists all."""

_CHANGE_TONES = {Change.ADDED: Tone.ACCENT, Change.CHANGED: Tone.ACCENT, Change.REMOVED: Tone.WARN}


def if_enabled(comparison: Comparison, name: str, glyphs: Glyphs) -> list[Line]:
    """What enabling the plugin `name` would change: tasks, attributes, the order of instances, and new findings."""
    refused = [finding for finding in comparison.findings if finding.code.startswith("P07")]
    new = [finding for finding in comparison.findings if finding not in refused]
    lines = [title(f"If {name} were enabled here"), ()]
    for finding in refused:
        why = replace(finding, message=f"It cannot be enabled here: {finding.message}.")
        lines += [*finding_lines([why], glyphs), ()]
    if not comparison.is_different and not new:
        return [*lines, ("Nothing would change in this graph.",)]
    changes = [task.change for task in comparison.tasks]
    figures = ", ".join(f"{changes.count(change)} {change}" for change in Change if change in changes)
    lines += [title(f"tasks: {figures or 'no difference'}"), *_order_lines(comparison, glyphs), ()]
    lines += [line for task in comparison.tasks for line in _changed_task(task, glyphs)]
    lines += [line for value in comparison.metadata for line in _value(value, glyphs)]
    lines += _pairs(comparison.order, glyphs) if comparison.order else ()
    if new:
        lines += [(), title(count(len(new), "new finding")), *finding_lines(new, glyphs)]
    return lines


def _changed_task(task: TaskChange, glyphs: Glyphs) -> Iterator[Line]:
    sign = {Change.ADDED: glyphs.added, Change.CHANGED: glyphs.changed, Change.REMOVED: "-"}[task.change]
    yield (Cell(f"  {sign} {task.task}", _CHANGE_TONES[task.change]),)
    for value in task.attributes:
        yield from _value(value, glyphs)


def _value(value: ValueChange, glyphs: Glyphs) -> Iterator[Line]:
    before, after = ("not stated" if side is None else value_text(side) for side in (value.before, value.after))
    yield (f"      {value.attribute}: {after}",)
    yield (Cell(f"        {glyphs.was} {before}", Tone.DIM),)


def _order_lines(comparison: Comparison, glyphs: Glyphs) -> Iterator[Line]:
    if (order := comparison.order) is None:
        yield title("order: cannot be compared")
        yield (Cell(f"  {glyphs.error} {comparison.problem}", Tone.BAD),)
        return
    lost = count(order.orderings_lost, "ordering")
    yield title(f"order: {lost} of {order.orderings_before} lost, {order.orderings_gained} gained")
    edges = f"{count(len(order.edges_removed), 'edge')} between tasks removed, {len(order.edges_added)} added"
    yield (Cell(f"  {edges}; {order.instances} task instances are in both", Tone.DIM),)


def _pairs(order: OrderEffect, glyphs: Glyphs) -> Iterator[Line]:
    if order.lost or order.gained:
        yield ()
    for word, tone, listed in (("lost", Tone.WARN, order.lost), ("gained", Tone.PLAIN, order.gained)):
        for pair in listed[:MAX_PAIRS]:
            yield (Cell(f"  {word:7} {pair.before} {glyphs.arrow} {pair.after}", tone),)
        if len(listed) > MAX_PAIRS:
            yield (Cell(f"  {word:7} and more pairs of tasks: {len(listed) - MAX_PAIRS}", Tone.DIM),)


ROLES = Listing("roles", "this role", _roles, _role)
NODES = Listing("nodes", "this node", _nodes, _node)
PLUGINS = Listing("plugins", "this plugin", _plugins, _plugin)

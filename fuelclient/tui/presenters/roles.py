"""Roles: what each brings, which ones conflict, and which nodes have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.insight.stats import Holders, holders
from fuelclient.model.release import Role
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import changed_tone, count, fact, names, sigil, title, value_text
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.requests import GraphData

_COLUMNS = (
    Column("role", "role", least=21, most=30),
    Column("tasks", "tasks", least=5, right=True),
    Column("deployed", "deployed", least=8, right=True),
    Column("pending", "pending", least=7, right=True),
    Column("limits", "limits", least=20, most=34, rank=2),
    Column("conflicts", "conflicts", least=14, most=30, rank=1),
    Column("from", "from", least=16, most=28, rank=3, grows=True),
)

_EMPTY = ("The release of this environment has no roles.", "", "fuel2 release show ID shows what it has.")


def table(data: GraphData) -> Table:
    """Return all roles in the release's order, then those of plugins."""
    having = holders(data.study.snapshot.nodes)
    rows = [_row(role, data, having.get(role.name, Holders())) for role in data.study.snapshot.roles.values()]
    return Table(_COLUMNS, rows, empty=_EMPTY)


def _row(role: Role, data: GraphData, having: Holders) -> tuple[Cell | str, ...]:
    return (
        Cell(role.name, Tone.STRONG),
        str(len(data.tasks_of[role.name])),
        str(len(having.deployed) or ""),
        str(len(having.pending) or ""),
        limits(role.metadata.get("limits")),
        conflicting_roles(role),
        Cell(role.owner.removeprefix("plugin "), Tone.DIM if role.owner == "release" else Tone.ACCENT),
    )


def limits(stated: Any) -> str:
    """Return the limits of a role in a few words.

    >>> limits({"min": 1, "max": 3, "recommended": 3, "overrides": []})
    'min 1, max 3, recommended 3'
    """
    if not isinstance(stated, Mapping):
        return ""
    return names(f"{key} {value_text(value)}" for key, value in stated.items() if value not in ([], {}, None)
                 and not isinstance(value, list))  # fmt: skip


def conflicting_roles(role: Role) -> str:
    """Return the names of the roles that cannot be on one node with `role`, which may state `*` for all others."""
    stated = role.metadata.get("conflicts")
    if isinstance(stated, list | tuple):
        return names(stated)
    return "every other (*)" if stated == "*" else str(stated or "")


def detail(data: GraphData, role: Role, glyphs: Glyphs) -> list[Line]:
    """Return one role: its description, limits, volumes and nodes, and its tasks in execution order."""
    having = holders(data.study.snapshot.nodes).get(role.name, Holders())
    by_id = {node.id: node.name for node in data.study.snapshot.nodes}
    stated = role.metadata
    lines = [title(f"{role.name}" + (f": {stated['name']}" if stated.get("name") else ""))]
    if stated.get("description"):
        lines += [(" ".join(str(stated["description"]).split()),), ()]
    lines += [
        fact("from", role.owner),
        fact("tags", names(role.tags)),
        fact("primary", "one node of the role" if set(role.tags) & data.study.snapshot.primary_tags else "none"),
        fact("conflicts", conflicting_roles(role) or "none"),
        fact("limits", limits(stated.get("limits")) or "none"),
    ]
    restrictions = stated.get("restrictions") or []
    listed = restrictions if isinstance(restrictions, list) else [restrictions]
    lines += [fact("restriction", _restriction(restriction)) for restriction in listed]
    lines += [fact("volume", _volume(volume)) for volume in role.volumes]
    lines += [
        fact(word, names(f"{by_id[node]} ({node})" for node in nodes))
        for word, nodes in (("deployed on", having.deployed), ("pending on", having.pending))
        if nodes
    ]
    if not having.all:
        lines.append(fact("nodes", "no node has it"))
    return [*lines, (), *_tasks(data, role, glyphs)]


def _tasks(data: GraphData, role: Role, glyphs: Glyphs) -> list[Line]:
    study, mine = data.study, data.tasks_of[role.name]
    lines = [title(f"{count(len(mine), 'task')} in execution order")]
    rows = [row for row, index in enumerate(study.indices) if index in mine]
    for row in rows:
        task = study.task(row)
        tone = changed_tone(study.rows[row].is_changed)
        where = (study.rows[row].stage or "no stage") if study.rows[row].nodes else "runs nowhere here"
        sign = f"{row + 1:>4} {sigil(task, glyphs) or ' '} "
        lines.append((Cell(sign, tone), Cell(task.id, tone), Cell(f"  {where}", Tone.DIM)))
    if mine and not rows:
        lines.append((Cell("The graph has no order: see 6 problems.", Tone.WARN),))
    return lines


def _volume(volume: Any) -> str:
    if not isinstance(volume, Mapping):
        return value_text(volume)
    size = volume.get("allocate_size")
    details = names(str(volume[key]) for key in ("label", "type") if volume.get(key))
    return f"{volume.get('id')}" + (f" ({size})" if size else "") + (f": {details}" if details else "")


def _restriction(stated: Any) -> str:
    if not isinstance(stated, Mapping):
        return f"not when {stated}"
    condition, message = stated.get("condition"), stated.get("message")
    if condition is None and len(stated) == 1:
        [(condition, message)] = stated.items()
        return f"not when {condition}: {message}"
    return f"not when {condition}" + (f": {message}" if message else "")

"""Nodes: the machines of an environment, and what runs on each."""

from __future__ import annotations

from fuelclient.model.node import Node, NodeStatus
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import changed_tone, count, fact, names, sigil, title, value_text
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.requests import Abilities, GraphData

_COLUMNS = (
    Column("id", "id", least=2, right=True),
    Column("name", "node", least=8, most=30),
    Column("status", "status", least=8, most=16),
    Column("roles", "roles (+ pending)", least=12, most=60, grows=True),
    Column("online", "online", least=6, rank=2),
    Column("ip", "address", least=7, most=40, rank=3),
    Column("executor", "reached", least=7, most=10, rank=4),
)

_EMPTY = (
    "The environment has no nodes; previews assume some.",
    "",
    "fuel2 node import FILE",
    "fuel2 env add nodes --env ID --nodes 1 2 --roles controller",
    "",
    "Then press ctrl+r here.",
)


def ordered(data: GraphData) -> list[Node]:
    """Return all nodes by id."""
    return sorted(data.study.snapshot.nodes, key=lambda node: node.id)


def table(data: GraphData, glyphs: Glyphs) -> Table:
    """Return one row for each node."""
    return Table(_COLUMNS, [_row(node, glyphs, data.abilities) for node in ordered(data)], empty=_EMPTY)


def _row(node: Node, glyphs: Glyphs, can: Abilities) -> tuple[Cell | str, ...]:
    status = Tone.BAD if node.status == NodeStatus.ERROR else Tone.PLAIN
    online = Cell(f"{glyphs.ok} yes", Tone.DIM) if node.online else Cell(f"{glyphs.error} no", Tone.BAD)
    return (
        str(node.id), Cell(node.name, Tone.STRONG), Cell(str(node.status), status), roles(node), online, node.ip,
        _reached_by(node, can),
    )  # fmt: skip


def _reached_by(node: Node, can: Abilities) -> str:
    """Return how tasks reach a node: by its executor, or by the agents of a Fuel master."""
    return node.reached_by if can.executors else "master"


def roles(node: Node) -> str:
    """Return deployed roles, then pending ones with a plus."""
    return names([*node.roles, *(f"+{role}" for role in node.pending_roles if role not in node.roles)])


def detail(data: GraphData, node: Node, glyphs: Glyphs) -> list[Line]:
    """Return one node and its task instances in execution order."""
    study = data.study
    fleet = study.expansion.fleet.nodes
    place = next((place for place, placed in enumerate(fleet) if placed.uid == node.id), None)
    lines = [
        title(f"node {node.id} {node.name}"),
        fact("status", str(node.status) + ("" if node.online else ", offline: runs leave it out")),
        fact("deployed", names(node.roles) or "nothing"),
        fact("pending", names(role for role in node.pending_roles if role not in node.roles) or "nothing"),
        fact("address", node.ip or "none"),
        fact("reached by", _reached_by(node, data.abilities) or "nothing: it has no address"),
    ]
    if place is not None:
        lines.append(fact("tags", names(fleet[place].tags)))
    lines += [fact(str(key), value_text(value)) for key, value in node.attributes.items()]
    mine = [vertex for vertex in study.order if study.expansion.node_of[vertex] == place]
    lines += [(), title(f"{count(len(mine), 'task instance')} in execution order")]
    for vertex in mine:
        row = study.row_of[study.expansion.task_of[vertex]]
        task, tone = study.task(row), changed_tone(study.rows[row].is_changed)
        generation = Cell(f"{study.generation[vertex]:>4} ", Tone.DIM)
        lines.append((generation, Cell(f"{sigil(task, glyphs) or ' '} {task.id}", tone)))
    return lines

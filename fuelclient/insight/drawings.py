"""Pictures of graphs as text: for Graphviz, for Mermaid, and in lanes. The colours are those of Fuel."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from fuelclient.grouping import grouped
from fuelclient.insight.lanes import Ink, draw, lanes
from fuelclient.insight.picture import Picture, Vertex
from fuelclient.model.task import Task
from fuelclient.printing import one_line

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)")
_KEYWORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
_STYLES = {
    "stage": "color=red, shape=rect, style=filled",
    "group": 'color=lightskyblue, shape=box, style="filled, rounded"',
    "skipped": "color=gray95",
    "task": "color=yellowgreen, style=filled",
}
"""How Nailgun draws each kind of task."""

MERMAID_EDGES, MERMAID_LETTERS = 500, 50_000
"""What Mermaid draws unless its page allows more."""

_MOST_LANES = 24


def kind(task: Task, *, skipped: bool | None = None) -> str:
    """Return how a task is drawn: as a stage, a group, a skipped task or a task. `skipped` overrides what it states.

    >>> kind(Task("a", {"type": "stage"})), kind(Task("a", {"type": "puppet", "skipped": True}))
    ('stage', 'skipped')
    """
    if task.type in _STYLES:
        return task.type
    return "skipped" if (task.attributes.get("skipped") if skipped is None else skipped) else "task"


def style(kind: str) -> str:
    """Return the attributes with which Nailgun draws that kind of task in DOT."""
    return _STYLES[kind]


def quoted(name: str) -> str:
    """Return an id as DOT reads it.

    >>> quoted("web"), quoted("db-node"), quoted("node"), quoted('a"b')
    ('web', '"db-node"', '"node"', '"a\\\\"b"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def dot(drawn: Picture) -> str:
    """Return a picture in the language of Graphviz; each group is a cluster."""

    def vertex(number: int) -> str:
        shown = drawn.vertices[number]
        tooltip = quoted(f"{shown.row.layer} {shown.task.origin().place}".strip())
        return f"{quoted(shown.name)} [{style(kind(shown.task.task))}, tooltip={tooltip}];"

    lines = ["strict digraph G {", *_grouped(drawn, "subgraph cluster_{0} {{\n    label={1};", "}", vertex, quoted)]
    names = [quoted(vertex.name) for vertex in drawn.vertices]
    for edges, styles in ((drawn.edges, []), (drawn.back, ["style=dashed", "constraint=false"])):
        for before, after in edges:
            marks = ["color=red", "penwidth=2"] if (before, after) in drawn.cycle else []
            stated = ", ".join((*styles, *marks))
            lines.append(f"  {names[before]} -> {names[after]}{f' [{stated}]' if stated else ''};")
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(drawn: Picture, note: str = "") -> str:
    """Return a picture as a flowchart of Mermaid; each group is a subgraph. `note` becomes a comment."""

    def vertex(number: int) -> str:
        return f"t{number}[{_mermaid_text(drawn.vertices[number].name)}]"

    lines = [*([f"%% {one_line(note)}"] if note else []), "flowchart TB"]
    lines += _grouped(drawn, "subgraph g{0} [{1}]", "end", vertex, _mermaid_text)
    lines += [f"  t{before} --> t{after}" for before, after in drawn.edges]
    lines += [f"  t{before} -.-> t{after}" for before, after in drawn.back]
    in_cycle = [str(number) for number, edge in enumerate((*drawn.edges, *drawn.back)) if edge in drawn.cycle]
    if in_cycle:
        lines.append(f"  linkStyle {','.join(in_cycle)} stroke:red,stroke-width:3px")
    colours = {"stage": "red", "group": "lightskyblue", "skipped": "#f2f2f2", "task": "yellowgreen"}
    for word, colour in colours.items():
        members = [f"t{number}" for number, shown in enumerate(drawn.vertices) if kind(shown.task.task) == word]
        if members:
            lines += [f"  classDef {word} fill:{colour},color:#000", f"  class {','.join(members)} {word}"]
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Return a label of Mermaid.

    >>> _mermaid_text('a"<b>')
    '"a#34;#60;b#62;"'
    """
    return '"' + "".join(f"#{ord(letter)};" if letter in '"#<>&;`\\' else letter for letter in one_line(text)) + '"'


def _grouped(
    drawn: Picture, begin: str, end: str, vertex: Callable[[int], str], name: Callable[[str], str]
) -> Iterator[str]:
    """Yield the vertices, those of a named group between `begin` and `end`."""
    for number, (group, members) in enumerate(drawn.groups.items()):
        if group:
            yield "  " + begin.format(number, name(group))
        yield from (f"  {'  ' if group else ''}{vertex(member)}" for member in members)
        if group:
            yield f"  {end}"


def text(drawn: Picture, ink: Ink) -> Iterator[str]:
    """Yield a picture as lines, one for each task: lanes, the task, its group, and its layer if it is changed."""
    after = grouped(drawn.edges)
    rows = lanes([after.get(number, []) for number in range(len(drawn.vertices))])
    pictures = [draw(row, ink, _MOST_LANES) for row in rows]
    columns: Sequence[Sequence[str]] = [pictures, *zip(*map(_cells, drawn.vertices), strict=True)]
    widths = [max(map(len, column), default=0) for column in columns]
    for cells in zip(*columns, strict=True):
        yield "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
    names = {vertex.index: one_line(vertex.name) for vertex in drawn.vertices}
    for ring in drawn.study.cycles:
        if names.keys() >= set(ring):
            yield f"cycle: {' -> '.join(names[index] for index in (*ring, ring[0]))}"


def _cells(vertex: Vertex) -> tuple[str, str, str]:
    return one_line(vertex.name), one_line(vertex.group), vertex.row.layer if vertex.row.is_changed else ""

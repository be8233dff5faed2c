"""Pictures of an ordered graph: their tasks, groups and edges, their layout, and their text for Graphviz, for Mermaid,
and in lanes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, pairwise

from fuelclient.grouping import grouped
from fuelclient.insight.lanes import Ink, Reach, draw, lanes
from fuelclient.model.graph import MergedTask
from fuelclient.model.task import Task, TaskType
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plan.preview import PreviewRow
from fuelclient.plan.study import Study
from fuelclient.printing import one_line

_MAX_ROLES = 2
"""Tasks with more roles than this form one group, because nearly each of them has a list of its own."""


class Grouping(StrEnum):
    STAGE = "stage"
    ROLE = "role"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Vertex:
    """A task of a picture, with its preview row and merged task. `name` is its id, with the layer if the id is not
    unique."""

    row: PreviewRow
    task: MergedTask
    index: int
    name: str
    group: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The tasks in execution order, and the edges between them, by their numbers in `vertices`.

    `edges` lead forward; those in `back` lead to earlier tasks, since a task may wait for one whose first instance runs
    later. `cycle` has the edges on a shortest cycle; a task that waits for itself on other nodes has an edge to itself.
    `implied` is the number of edges that are not drawn because others imply them.
    """

    study: Study
    vertices: tuple[Vertex, ...]
    edges: tuple[tuple[int, int], ...]
    back: tuple[tuple[int, int], ...]
    implied: int
    grouping: Grouping
    cycle: frozenset[tuple[int, int]] = frozenset()

    @property
    def groups(self) -> dict[str, list[int]]:
        """The numbers of the vertices in each group, in execution order; one group without a name if there are none."""
        return grouped((vertex.group, number) for number, vertex in enumerate(self.vertices))


def picture(
    study: Study, selected: Collection[int] | None = None, *, grouping: Grouping = Grouping.STAGE, reduced: bool = True
) -> Picture:
    """Make a picture of an ordered study: of the merged tasks `selected`, or of all that run somewhere.

    `reduced` leaves out every edge that a longer path implies, and draws an edge between two tasks if the order between
    them runs only through tasks that are not drawn.
    """
    kept = [
        number
        for number, (row, index) in enumerate(zip(study.rows, study.indices, strict=True))
        if (row.nodes if selected is None else index in selected)
    ]
    rank = {row: number for number, row in enumerate(kept)}
    successors = [sorted(study.row_of[after] for after in study.after[index]) for index in study.indices]
    direct = [(row, after) for row in kept for after in successors[row] if after in rank]
    forward = [(row, after) for row, after in direct if row < after]
    rings = [[study.row_of[index] for index in ring] for ring in study.cycles]
    cycle = {edge for rows in rings for edge in pairwise((*rows, rows[0])) if edge[0] in rank and edge[1] in rank}
    drawn = forward
    if reduced:
        nearest = zip(kept, Reach(successors).reduced(kept), strict=True)
        drawn = [(row, after) for row, following in nearest for after in following]
    drawn += sorted({edge for edge in cycle if edge[0] < edge[1]} - set(drawn))
    back = sorted(
        {(row, after) for row, after in direct if row > after} | {edge for edge in cycle if edge[0] >= edge[1]}
    )
    ids = Counter(study.rows[row].task for row in kept)
    return Picture(
        study,
        tuple(_vertex(study, row, grouping, unique=ids[study.rows[row].task] == 1) for row in kept),
        tuple((rank[row], rank[after]) for row, after in drawn),
        tuple((rank[row], rank[after]) for row, after in back),
        len(set(forward) - set(drawn)),
        grouping,
        frozenset((rank[row], rank[after]) for row, after in cycle),
    )


def _vertex(study: Study, number: int, grouping: Grouping, *, unique: bool) -> Vertex:
    row, index = study.rows[number], study.indices[number]
    name = row.task if unique else f"{row.task} ({row.layer})"
    group = {Grouping.STAGE: row.stage or "", Grouping.ROLE: _roles(row), Grouping.NONE: ""}[grouping]
    return Vertex(row, study.merged.tasks[index], index, name, group)


def _roles(row: PreviewRow) -> str:
    if row.type == TaskType.STAGE:
        return "sync points"
    names = dict.fromkeys(role.removeprefix(PRIMARY) for role in row.roles)
    return "all nodes" if {"*", "/.*/"} & names.keys() else ", ".join(names) if len(names) <= _MAX_ROLES else "several"


def fewer(whole: Picture, max_edges: int) -> Picture:
    """Reduce a picture to its most important tasks and at most `max_edges` edges.

    Tasks that a plugin or the environment changes are the most important, then sync points, then those with the most
    edges.
    """
    degree = Counter(end for edge in whole.edges for end in edge)

    def importance(number: int) -> tuple[object, ...]:
        row = whole.vertices[number].row
        return not row.is_changed, row.type != TaskType.STAGE, -degree[number], number

    ranked = [whole.vertices[number].index for number in sorted(range(len(whole.vertices)), key=importance)]
    part = picture(whole.study, ranked, grouping=whole.grouping)
    while len(part.edges) + len(part.back) > max_edges:
        ranked = ranked[: len(ranked) * 9 // 10]
        part = picture(whole.study, set(ranked), grouping=whole.grouping)
    return part


_SWEEPS = 6
_BEND = 0.3
"""The height of a bend, in rows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The column and the row of each vertex; the rows at which each edge passes the columns between its ends; the first
    row and the height of each band."""

    columns: tuple[int, ...]
    rows: tuple[float, ...]
    bends: tuple[tuple[float, ...], ...]
    bands: tuple[tuple[float, float], ...]


def layout(edges: Sequence[tuple[int, int]], bands: Sequence[int]) -> Layout:
    """Place the vertices, whose bands are numbered from 0. Every edge must lead to a vertex with a higher number.

    >>> layout([(0, 1), (1, 2), (0, 2)], [0, 0, 0]).columns
    (0, 1, 2)
    """
    drawing = _Drawing(edges, bands)
    for sweep in range(_SWEEPS):
        drawing.order(forward=sweep % 2 == 0)
    count = max(bands, default=-1) + 1
    heights = [max(map(drawing.height, drawing.cells[band::count])) for band in range(count)]
    starts = [float(sum(heights[:band]) + band) for band in range(count)]
    for sweep in range(_SWEEPS):
        drawing.straighten(starts, heights, forward=sweep % 2 == 0)
    size = len(bands)
    return Layout(
        tuple(drawing.column[:size]),
        tuple(round(row, 2) for row in drawing.row[:size]),
        tuple(tuple(round(drawing.row[bend], 2) for bend in route) for route in drawing.routes),
        tuple(zip(starts, heights, strict=True)),
    )


class _Drawing:
    """The vertices, then the bends, by number. `cells` has those of each column and band, from top to bottom."""

    def __init__(self, edges: Sequence[tuple[int, int]], bands: Sequence[int]) -> None:
        size, self.band = len(bands), list(bands)
        self.column = [0] * size
        for before, after in sorted(edges):
            self.column[after] = max(self.column[after], self.column[before] + 1)
        self.heights = [1.0] * size
        self.before: list[list[int]] = [[] for _ in range(size)]
        self.after: list[list[int]] = [[] for _ in range(size)]
        self.routes = [self._route(*edge) for edge in edges]
        self.row = [0.0] * len(self.band)
        self.bands = max(self.band, default=-1) + 1
        self.cells: list[list[int]] = [[] for _ in range(self.bands * (max(self.column, default=-1) + 1))]
        for vertex in range(len(self.band)):
            self.cells[self.column[vertex] * self.bands + self.band[vertex]].append(vertex)
        for cell in self.cells:
            self._stack(cell)

    def _route(self, before: int, after: int) -> list[int]:
        bends = []
        last = before
        for column in range(self.column[before] + 1, self.column[after]):
            bends.append(len(self.band))
            self.band.append(self.band[before])
            self.column.append(column)
            self.heights.append(_BEND)
            self.before.append([last])
            self.after.append([])
            self.after[last].append(bends[-1])
            last = bends[-1]
        self.after[last].append(after)
        self.before[after].append(last)
        return bends

    def height(self, cell: Iterable[int]) -> float:
        return sum(self.heights[vertex] for vertex in cell)

    def _middles(self, cell: Sequence[int]) -> list[float]:
        """The rows of the vertices in a cell, stacked from its top."""
        tops = accumulate((self.heights[vertex] for vertex in cell), initial=0.0)
        return [top + self.heights[vertex] / 2 for vertex, top in zip(cell, tops, strict=False)]

    def _stack(self, cell: Sequence[int]) -> None:
        for vertex, row in zip(cell, self._middles(cell), strict=True):
            self.row[vertex] = row

    def _wanted(self, vertex: int, forward: bool) -> float:
        """The mean row of the neighbours on the side that is already placed, or else its own row."""
        placed = (self.before if forward else self.after)[vertex]
        return sum(self.row[other] for other in placed) / len(placed) if placed else self.row[vertex]

    def order(self, *, forward: bool) -> None:
        for cell in self.cells if forward else reversed(self.cells):
            wanted = {vertex: self._wanted(vertex, forward) for vertex in cell}
            cell.sort(key=wanted.__getitem__)
            self._stack(cell)

    def straighten(self, starts: Sequence[float], heights: Sequence[float], *, forward: bool) -> None:
        """Move the vertices of each cell as near to their neighbours as their order and band allow."""
        numbered = list(enumerate(self.cells))
        for number, cell in numbered if forward else reversed(numbered):
            start, room = starts[number % self.bands], heights[number % self.bands]
            offsets, height = self._middles(cell), self.height(cell)
            wanted = [self._wanted(vertex, forward) - offset for vertex, offset in zip(cell, offsets, strict=True)]
            for vertex, offset, moved in zip(cell, offsets, _ascending(wanted), strict=True):
                self.row[vertex] = offset + min(max(moved, start), start + room - height)


def _ascending(wanted: Sequence[float]) -> list[float]:
    """The nearest values (by least squares) that never descend.

    >>> _ascending([3.0, 1.0, 5.0])
    [2.0, 2.0, 5.0]
    """
    blocks: list[tuple[float, int]] = []
    for value in wanted:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, count), (next_mean, next_count) = blocks[-2:]
            blocks[-2:] = [((mean * count + next_mean * next_count) / (count + next_count), count + next_count)]
    return [mean for mean, count in blocks for _ in range(count)]


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)")
_KEYWORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
_STYLES = {
    "stage": "color=red, shape=rect, style=filled",
    "group": 'color=lightskyblue, shape=box, style="filled, rounded"',
    "skipped": "color=gray95",
    "task": "color=yellowgreen, style=filled",
}
"""How Nailgun draws each kind of task."""

MERMAID_EDGES, MERMAID_CHARS = 500, 50_000
"""The largest numbers of edges and characters that Mermaid draws, unless the page that embeds it allows more."""

_MAX_LANES = 24


def kind(task: Task, *, skipped: bool | None = None) -> str:
    """The kind of a task in a picture: stage, group, skipped or task. `skipped` overrides its own attribute.

    >>> kind(Task("a", {"type": "stage"})), kind(Task("a", {"type": "puppet", "skipped": True}))
    ('stage', 'skipped')
    """
    if task.type in _STYLES:
        return task.type
    return "skipped" if (task.attributes.get("skipped") if skipped is None else skipped) else "task"


def style(kind: str) -> str:
    return _STYLES[kind]


def quoted(name: str) -> str:
    """Quote an id for DOT.

    >>> quoted("web"), quoted("db-node"), quoted("node"), quoted('a"b')
    ('web', '"db-node"', '"node"', '"a\\\\"b"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def dot(drawn: Picture) -> str:
    """Write a picture for Graphviz. Each group is a cluster."""

    def vertex(number: int) -> str:
        shown = drawn.vertices[number]
        tooltip = quoted(f"{shown.row.layer} {shown.task.origin().place}".strip())
        return f"{quoted(shown.name)} [{style(kind(shown.task.task))}, tooltip={tooltip}];"

    lines = ["strict digraph G {", *_grouped(drawn, "subgraph cluster_{0} {{\n    label={1};", "}", vertex, quoted)]
    names = [quoted(vertex.name) for vertex in drawn.vertices]
    for edges, styles in ((drawn.edges, []), (drawn.back, ["style=dashed", "constraint=false"])):
        for before, after in edges:
            marks = ["color=red", "penwidth=2"] if (before, after) in drawn.cycle else []
            attributes = ", ".join((*styles, *marks))
            lines.append(f"  {names[before]} -> {names[after]}{f' [{attributes}]' if attributes else ''};")
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(drawn: Picture, note: str = "") -> str:
    """Write a picture for Mermaid. Each group is a subgraph, `note` a comment."""

    def vertex(number: int) -> str:
        return f"t{number}[{_mermaid_text(drawn.vertices[number].name)}]"

    lines = [*([f"%% {one_line(note)}"] if note else []), "flowchart TB"]
    lines += _grouped(drawn, "subgraph g{0} [{1}]", "end", vertex, _mermaid_text)
    lines += [f"  t{before} --> t{after}" for before, after in drawn.edges]
    lines += [f"  t{before} -.-> t{after}" for before, after in drawn.back]
    if in_cycle := [str(number) for number, edge in enumerate((*drawn.edges, *drawn.back)) if edge in drawn.cycle]:
        lines.append(f"  linkStyle {','.join(in_cycle)} stroke:red,stroke-width:3px")
    colours = {"stage": "red", "group": "lightskyblue", "skipped": "#f2f2f2", "task": "yellowgreen"}
    for name, colour in colours.items():
        if members := [f"t{number}" for number, shown in enumerate(drawn.vertices) if kind(shown.task.task) == name]:
            lines += [f"  classDef {name} fill:{colour},color:#000", f"  class {','.join(members)} {name}"]
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Quote a label for Mermaid.

    >>> _mermaid_text('a"<b>')
    '"a#34;#60;b#62;"'
    """
    return '"' + "".join(f"#{ord(char)};" if char in '"#<>&;`\\' else char for char in one_line(text)) + '"'


def _grouped(
    drawn: Picture, begin: str, end: str, vertex: Callable[[int], str], name: Callable[[str], str]
) -> Iterator[str]:
    """Yield the lines of the vertices, between `begin` and `end` for each named group."""
    for number, (group, members) in enumerate(drawn.groups.items()):
        if group:
            yield "  " + begin.format(number, name(group))
        yield from (f"  {'  ' if group else ''}{vertex(member)}" for member in members)
        if group:
            yield f"  {end}"


def text(drawn: Picture, ink: Ink) -> Iterator[str]:
    """Yield a line for each task: its lanes, name and group, and its layer if it is changed. Then the cycles."""
    after = grouped(drawn.edges)
    rows = lanes([after.get(number, []) for number in range(len(drawn.vertices))])
    pictures = [draw(row, ink, _MAX_LANES) for row in rows]
    shown_in = (
        (one_line(shown.name), one_line(shown.group), shown.row.layer if shown.row.is_changed else "")
        for shown in drawn.vertices
    )
    columns: Sequence[Sequence[str]] = [pictures, *zip(*shown_in, strict=True)]
    widths = [max(map(len, column), default=0) for column in columns]
    for cells in zip(*columns, strict=True):
        yield "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
    names = {vertex.index: one_line(vertex.name) for vertex in drawn.vertices}
    for ring in drawn.study.cycles:
        if names.keys() >= set(ring):
            yield f"cycle: {' -> '.join(names[index] for index in (*ring, ring[0]))}"

"""The view `lanes`: tasks in execution order, with lines for their edges. Tasks are filtered before the layout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fuelclient.insight.lanes import Lane, draw, lanes
from fuelclient.insight.query import Query
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.blame import changed_tone, layer_letters, task_sign
from fuelclient.tui.presenters.preview import empty
from fuelclient.tui.presenters.table import Cell, Column, Lazy, Table, Tone, Value
from fuelclient.tui.requests import GraphData

MAX_LANES = 14
"""The largest number of lanes that are drawn. A number replaces the others, so that task names stay visible."""

_COLUMNS = (
    Column("order", "#", least=3, right=True, rank=5),
    Column("stage", "stage", least=6, most=16, rank=1),
    Column("lanes", "lanes", least=5, most=2 * MAX_LANES + 4),
    Column("change", "", least=2, most=2),
    Column("task", "task", least=30, most=44, grows=True),
    Column("priority", "prio", least=6, most=8, rank=2, right=True),
    Column("band", "band", least=10, most=10, rank=3),
    Column("layers", "layers", least=6, most=12, rank=4),
    Column("nodes", "nodes", least=5, right=True, rank=6),
)

_SHORT = {"pre_deployment": "pre", "post_deployment": "post"}
"""Short names of stages, to save room for the lanes. The details and filters have the full names."""

FIELDS = Table([Column(field, field) for field in ("task", "type", "role", "stage", "band", "layer")], tasks=())
"""A table without rows whose columns are the fields of a query here: `role` is a role of the environment, `layer` the
name of a layer."""


def keep(data: GraphData, query: Query) -> list[int]:
    """The rows of the study that match `query`. Tasks that run on no node have no lane, and are left out."""
    study = data.study
    placed = [row for row, shown in enumerate(study.rows) if shown.nodes]
    roles: dict[int, list[str]] = {}
    for role, tasks in data.tasks_of.items():
        for index in tasks:
            roles.setdefault(index, []).append(role)
    indices = [study.indices[row] for row in placed]

    def fields(index: int) -> tuple[str, ...]:
        shown, roles_of_task = study.rows[placed[index]], ",".join(roles.get(indices[index], ()))
        layers = ",".join((shown.layer, *shown.overrides))
        return shown.task, shown.type, roles_of_task, shown.stage or "", shown.band or "", layers

    table = Table(FIELDS.columns, Lazy(len(placed), fields), (), (), indices)
    return [placed[index] for index in table.select(query)]


class Lanes(Table):
    """The kept rows of a graph. Those before and after the row given to `centre` have a sign, all others are dim."""

    def __init__(
        self, data: GraphData, kept: Sequence[int], columns: Sequence[Column], rows: Sequence[tuple[Value, ...]],
        empty_lines: Sequence[str], glyphs: Glyphs,
    ) -> None:  # fmt: skip
        self._data, self._kept, self._drawn, self._glyphs = data, kept, rows, glyphs
        self._change_column = next(index for index, column in enumerate(columns) if column.key == "change")
        self._signs: dict[int, str] = {}
        names = [data.study.rows[row].task for row in kept]
        super().__init__(columns, Lazy(len(kept), self._row), names, empty_lines)

    def centre(self, row: int) -> None:
        before, after = self._data.reach.around(row)
        self._signs = {row: " "}
        self._signs |= dict.fromkeys(before, self._glyphs.up) | dict.fromkeys(after, self._glyphs.down)

    def _row(self, index: int) -> tuple[Value, ...]:
        cells, position = self._drawn[index], self._change_column
        sign = self._signs.get(self._kept[index])
        if sign is None and self._signs:
            cells = tuple(Cell(str(cell), Tone.DIM) for cell in cells)
        changed = Cell(f"{sign or ' '}{cells[position]}", Tone.ACCENT if sign else Tone.DIM)
        return (*cells[:position], changed, *cells[position + 1 :])


def table(data: GraphData, kept: Sequence[int], glyphs: Glyphs) -> Lanes:
    """The kept rows with the lanes between them. The lanes include the order that hidden rows cause."""
    study = data.study
    rows: list[tuple[Value, ...]] = []
    band = None
    for line in _lanes(data, kept):
        row = kept[line.vertex]
        shown, task = study.rows[row], study.task(row)
        changed = changed_tone(shown.is_changed)
        stage = _SHORT.get(shown.stage or "", shown.stage or "") if shown.stage != band else ""
        band = shown.stage
        rows.append(
            (
                Cell(str(shown.order), Tone.DIM),
                Cell(stage, Tone.STRONG),
                Cell(draw(line, glyphs.ink, MAX_LANES), changed),
                Cell(task_sign(task, glyphs), Tone.ACCENT),
                Cell(shown.task, changed),
                "" if shown.priority is None else str(shown.priority),
                Cell(shown.band or "", Tone.DIM),
                Cell(layer_letters(task, study.snapshot.layers, glyphs), changed),
                str(len(shown.nodes)),
            )
        )
    widest = max((len(str(cells[2])) for cells in rows), default=5)
    columns = [replace(column, least=widest) if column.key == "lanes" else column for column in _COLUMNS]
    empty_lines = empty(data) if not study.rows else ("No task matches the filter.", "", "Esc clears it.")
    return Lanes(data, kept, columns, rows, empty_lines, glyphs)


def width(data: GraphData, kept: Sequence[int]) -> int:
    """The number of lanes that the kept rows need."""
    return max((line.width for line in _lanes(data, kept)), default=0)


def _lanes(data: GraphData, kept: Sequence[int]) -> Iterable[Lane]:
    number_of = {row: number for number, row in enumerate(kept)}
    return lanes([[number_of[after] for after in line] for line in data.reach.reduced(kept)])

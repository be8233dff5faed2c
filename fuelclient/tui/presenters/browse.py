"""The views `browse` (one task with the tasks before and after it) and `why` (the chain between two tasks)."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.insight.blame import blame as blame_of
from fuelclient.insight.relation import Step, chain, stated
from fuelclient.plan.expand import Statement
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters import blame
from fuelclient.tui.presenters.blame import changed_tone, layer_cell, layer_letters, layer_name, task_sign
from fuelclient.tui.presenters.formatting import count, short_place, title
from fuelclient.tui.presenters.preview import detail, empty
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone, Value
from fuelclient.tui.requests import GraphData

_NEIGHBOURS = (
    Column("change", "", least=1, most=1),
    Column("task", "task", least=10, most=36, grows=True),
    Column("because", "because of", least=8, most=26, rank=1),
)

_FURTHER = (
    Column("change", "", least=1, most=1),
    Column("steps", "edges", least=5, right=True),
    Column("task", "task", least=22, most=36, grows=True),
    Column("through", "through", least=14, most=30, rank=1),
)

LIMIT = 500
"""The largest number of tasks that are listed beyond the neighbours, the nearest first."""

_ATTRIBUTES = (
    Column("attribute", "attribute", least=26, most=34),
    Column("value", "value", least=8, most=60, grows=True),
    Column("by", "set by", least=7, most=22, rank=1),
)


class OneDirection:
    """The tasks before a row of the study, or those after it."""

    def __init__(self, data: GraphData, row: int, glyphs: Glyphs, *, following: bool) -> None:
        self._data, self._row, self._glyphs, self._follows = data, row, glyphs, following
        self._edges = data.study.after if following else data.study.before
        self._verb = "follows" if following else "precedes"

    def adjacent(self, row: int) -> list[int]:
        study = self._data.study
        return sorted(study.row_of[index] for index in self._edges[study.indices[row]])

    def neighbours(self, *, reduced: bool) -> Table:
        """The adjacent tasks, with the attributes that make the edges. `reduced` leaves out edges that a path through
        another task implies."""
        study, row = self._data.study, self._row
        rows = self.adjacent(row)
        if reduced:
            kept_after = self._data.reach.reduced()
            rows = kept_after[row] if self._follows else [other for other in range(row) if row in kept_after[other]]
        lines: list[tuple[Value, ...]] = []
        for other in rows:
            first, last = (row, other) if self._follows else (other, row)
            statements, own = stated(study.task(first), study.task(last)), study.rows[row].task
            because = dict.fromkeys(("" if cause.task == own else "its ") + cause.attribute for cause in statements)
            lines.append((*self._sign_and_name(other), Cell(", ".join(because), Tone.DIM)))
        return self._table(_NEIGHBOURS, lines, rows, f"Nothing {self._verb} it.")

    def further(self) -> Table:
        """The tasks beyond the neighbours, the nearest first, each with the task through which it is reached. There are
        at most `LIMIT`, to limit the time in large graphs."""
        beyond = self._beyond()
        lines: list[tuple[Value, ...]] = []
        for other, through, steps in beyond:
            sign, name = self._sign_and_name(other)
            lines.append((sign, str(steps), name, Cell(self._data.study.rows[through].task, Tone.DIM)))
        return self._table(_FURTHER, lines, [other for other, _, _ in beyond], f"Nothing {self._verb} those.")

    def _beyond(self) -> list[tuple[int, int, int]]:
        """Rows, each with the row through which it is reached and its distance in edges."""
        nearest = self.adjacent(self._row)
        seen = {self._row, *nearest}
        beyond: list[tuple[int, int, int]] = []
        steps = 1
        while nearest and len(beyond) < LIMIT:
            steps += 1
            reached: dict[int, int] = {}
            for through in nearest:
                for other in self.adjacent(through):
                    if other not in seen:
                        seen.add(other)
                        reached[other] = through
            nearest = sorted(reached)
            beyond += [(other, reached[other], steps) for other in nearest]
        return beyond[:LIMIT]

    def _table(
        self, columns: Sequence[Column], lines: Sequence[Sequence[Value]], rows: Sequence[int], empty_text: str
    ) -> Table:
        study = self._data.study
        ids, indices = [study.rows[row].task for row in rows], [study.indices[row] for row in rows]
        return Table(columns, lines, ids, (empty_text,), indices)

    def _sign_and_name(self, row: int) -> tuple[Cell, Cell]:
        study, shown = self._data.study, self._data.study.rows[row]
        sign = Cell(task_sign(study.task(row), self._glyphs), Tone.ACCENT)
        return sign, Cell(shown.task, changed_tone(shown.is_changed))


def task_table(data: GraphData, row: int, glyphs: Glyphs) -> Table:
    """The task itself: a few facts, then its attributes."""
    study = data.study
    shown, task = study.rows[row], study.task(row)
    rows: list[tuple[Value, ...]] = [
        (Cell("layers", Tone.DIM), layer_letters(task, study.snapshot.layers, glyphs), layer_name(task.owner)),
        (Cell("stage", Tone.DIM), shown.stage or "none", ""),
        (Cell("nodes", Tone.DIM), str(len(shown.nodes)), ""),
        (Cell("before", Tone.DIM), f"{count(data.reach.ancestors(row), 'task')} in all", ""),
        (Cell("after", Tone.DIM), f"{count(data.reach.descendants(row), 'task')} in all", ""),
    ]
    rows += blame.short_rows(task, glyphs)
    return Table(_ATTRIBUTES, rows, [str(cells[0]) for cells in rows])


_FACT_ROWS = 5
"""How many rows of `task_table` are above the attributes."""


def row_in_full(data: GraphData, row: int, index: int, glyphs: Glyphs) -> list[Line]:
    """Row `index` of `task_table` in full: an attribute with its value, layer, source line and replaced values; for the
    rows above the attributes, the details of the task."""
    attributes = blame_of(data.study.task(row))
    if not _FACT_ROWS <= index < _FACT_ROWS + len(attributes):
        return detail(data, row, glyphs)
    return list(blame.as_block(attributes[index - _FACT_ROWS], glyphs))


def empty_table(data: GraphData) -> Table:
    return Table(_NEIGHBOURS, (), (), empty(data))


_STEPS = (
    Column("step", "#", least=1, right=True),
    Column("before", "runs before", least=28, most=40),
    Column("after", "the next", least=30, most=40),
    Column("field", "because", least=24, most=60, grows=True, rank=1),
    Column("layer", "layer", least=7, most=26, rank=2),
    Column("place", "where", least=14, most=40, rank=3, tail=True),
)


def between(data: GraphData, row: int, other: int) -> tuple[tuple[Step, ...], bool]:
    """The shortest chain between two rows in either direction, and whether it begins at `row`."""
    study = data.study
    if steps := chain(study.expansion, study.indices[row], study.indices[other]):
        return steps, True
    return chain(study.expansion, study.indices[other], study.indices[row]), False


def steps(data: GraphData, row: int, other: int, glyphs: Glyphs) -> Table:
    """The chain as rows, one for each statement that makes an edge."""
    steps, _ = between(data, row, other)
    rows: list[tuple[Value, ...]] = []
    for number, step in enumerate(steps, start=1):
        edge = (str(number), Cell(step.before, Tone.STRONG), Cell(f"{glyphs.arrow} {step.after}", Tone.STRONG))
        for cause in step.statements:
            rows.append((*edge, _statement_text(step, cause), layer_cell(cause.place.layer), short_place(cause.place)))
            edge = ("", Cell("", Tone.STRONG), Cell("", Tone.STRONG))  # only the first row names it
    ids = [step.after for step in steps for _ in step.statements]
    names = (data.study.rows[row].task, data.study.rows[other].task)
    return Table(_STEPS, rows, ids, (f"Neither {names[0]} nor {names[1]} waits for the other.",
                                     "", "They may run at the same time."))  # fmt: skip


def _statement_text(step: Step, cause: Statement) -> str:
    """The statement that makes an edge. "its" marks a statement of the earlier task; most are of the later one."""
    before, after = step.before.partition("@")[0], step.after.partition("@")[0]
    return f"{'its ' if cause.task == before and cause.task != after else ''}{cause.attribute}: {cause.word}"


def sentence(data: GraphData, row: int, other: int, glyphs: Glyphs) -> list[Line]:
    """The chain in words: a summary, then the tasks on the path with the statements between them."""
    steps, forward = between(data, row, other)
    first, last = (row, other) if forward else (other, row)
    tasks = data.study.rows
    if not steps:
        return [title(f"{tasks[row].task} and {tasks[other].task} have no order")]
    lines = [
        title(f"{tasks[last].task} runs after {tasks[first].task}: {count(len(steps), 'edge')}, the fewest"),
        (),
        _task_line(data, steps[0].before, steps[0].before_task),
    ]
    for step in steps:
        for cause in step.statements:
            layer = layer_cell(cause.place.layer)
            lines.append((f"  {glyphs.ink.lane} {cause.task}.{cause.attribute}: {cause.word}",))
            lines.append((f"  {glyphs.ink.lane}   ", Cell(f"{layer}  {short_place(cause.place)}", layer.tone)))
        lines.append(_task_line(data, step.after, step.after_task))
    return lines


def both_tasks(data: GraphData, step: Step, glyphs: Glyphs) -> list[Line]:
    """Both tasks of a step with their attributes."""
    study = data.study
    lines: list[Line] = []
    for name, index in ((step.before, step.before_task), (step.after, step.after_task)):
        lines += [*([()] if lines else []), _task_line(data, name, index)]
        lines += blame.lines(study.merged.tasks[index], glyphs)
    return lines


def _task_line(data: GraphData, name: str, index: int) -> Line:
    """A task on the path: name, type, stage and nodes."""
    if (row := data.study.row_of.get(index)) is None:
        return (Cell(name, Tone.STRONG),)
    shown = data.study.rows[row]
    nodes = count(len(shown.nodes), "node") if None not in shown.nodes else "sync point"
    facts = [shown.type, *([shown.stage] if shown.stage else []), nodes]
    return (Cell(name, Tone.STRONG), Cell(f"  {', '.join(facts)}", Tone.DIM))

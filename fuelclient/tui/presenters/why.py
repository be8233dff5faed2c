"""Why: the chain between two tasks, as a table and in words."""

from __future__ import annotations

from fuelclient.insight.relation import Step, chain
from fuelclient.plan.expand import Word
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import count, short_place, title
from fuelclient.tui.presenters.preview import attribute_lines
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone, Value
from fuelclient.tui.requests import GraphData

_STEPS = (
    Column("step", "#", least=1, right=True),
    Column("before", "runs before", least=28, most=40),
    Column("after", "the next", least=30, most=40),
    Column("field", "because", least=24, most=60, grows=True, rank=1),
    Column("layer", "layer", least=7, most=26, rank=2),
    Column("place", "where", least=14, most=40, rank=3, tail=True),
)


def between(data: GraphData, row: int, other: int) -> tuple[tuple[Step, ...], bool]:
    """Return the shortest chain between two rows in either direction, and whether it begins at `row`."""
    study = data.study
    there = chain(study.expansion, study.indices[row], study.indices[other])
    if there:
        return there, True
    return chain(study.expansion, study.indices[other], study.indices[row]), False


def table(data: GraphData, row: int, other: int, glyphs: Glyphs) -> Table:
    """Return the chain as rows, one for each statement that makes an edge."""
    steps, _ = between(data, row, other)
    rows: list[tuple[Value, ...]] = []
    for number, step in enumerate(steps, start=1):
        edge = (str(number), Cell(step.before, Tone.STRONG), Cell(f"{glyphs.arrow} {step.after}", Tone.STRONG))
        for word in step.words:
            rows.append((*edge, _said(step, word), _layer(word), short_place(word.place)))
            edge = ("", Cell("", Tone.STRONG), Cell("", Tone.STRONG))  # it is named once
    ids = [step.after for step in steps for _ in step.words]
    names = (data.study.rows[row].task, data.study.rows[other].task)
    return Table(_STEPS, rows, ids, (f"Neither {names[0]} nor {names[1]} waits for the other.",
                                     "", "They may run at the same time."))  # fmt: skip


def _said(step: Step, word: Word) -> str:
    """Return what makes an edge. Usually the later task states it; "its" marks a statement of the earlier one."""
    before, after = step.before.partition("@")[0], step.after.partition("@")[0]
    return f"{'its ' if word.task == before and word.task != after else ''}{word.attribute}: {word.word}"


def _layer(word: Word) -> Cell:
    layer = word.place.layer
    return Cell(layer.removeprefix("plugin "), Tone.DIM if layer == "release" else Tone.ACCENT)


def sentence(data: GraphData, row: int, other: int, glyphs: Glyphs) -> list[Line]:
    """Return the chain in words: the answer in one line, then one line for each task on the path."""
    steps, forward = between(data, row, other)
    first, last = (row, other) if forward else (other, row)
    tasks = data.study.rows
    if not steps:
        return [title(f"{tasks[row].task} and {tasks[other].task} have no order")]
    lines = [
        title(f"{tasks[last].task} runs after {tasks[first].task}: {count(len(steps), 'edge')}, the fewest"),
        (),
        _stop(data, steps[0].before, steps[0].before_task),
    ]
    for step in steps:
        for word in step.words:
            layer = _layer(word)
            lines.append((f"  {glyphs.ink.lane} {word.task}.{word.attribute}: {word.word}",))
            lines.append((f"  {glyphs.ink.lane}   ", Cell(f"{layer}  {short_place(word.place)}", layer.tone)))
        lines.append(_stop(data, step.after, step.after_task))
    return lines


def both(data: GraphData, step: Step, glyphs: Glyphs) -> list[Line]:
    """Return the two tasks of an edge: what each is, where it runs, and who set its attributes."""
    study = data.study
    lines: list[Line] = []
    for name, index in ((step.before, step.before_task), (step.after, step.after_task)):
        lines += [*([()] if lines else []), _stop(data, name, index)]
        lines += attribute_lines(study.merged.tasks[index], glyphs)
    return lines


def _stop(data: GraphData, name: str, index: int) -> Line:
    """Return a task on the path: its name, what it is and where it runs."""
    row = data.study.row_of.get(index)
    if row is None:
        return (Cell(name, Tone.STRONG),)
    shown = data.study.rows[row]
    nodes = count(len(shown.nodes), "node") if None not in shown.nodes else "sync point"
    told_of = [shown.type, *([shown.stage] if shown.stage else []), nodes]
    return (Cell(name, Tone.STRONG), Cell(f"  {', '.join(told_of)}", Tone.DIM))

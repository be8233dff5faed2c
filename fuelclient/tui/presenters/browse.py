"""Browse: a task between what precedes and what follows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.insight.blame import Blame, blame
from fuelclient.insight.relation import stated
from fuelclient.plan.expand import Word
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import (
    chips,
    count,
    fact,
    layer_name,
    set_by,
    short_place,
    sigil,
    stated_value,
    title,
    value_text,
)
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

MOST = 500
"""How many tasks are listed beyond the neighbours: the nearest ones."""

_ATTRIBUTES = (
    Column("attribute", "attribute", least=26, most=34),
    Column("value", "value", least=8, most=60, grows=True),
    Column("by", "set by", least=7, most=22, rank=1),
)


def neighbours(data: GraphData, row: int, *, following: bool, reduced: bool, glyphs: Glyphs) -> tuple[Table, list[int]]:
    """Return a table of the tasks that directly precede (or follow) a task, with the words that say so, and their rows.

    `reduced` leaves out those that a path through another task implies anyway.
    """
    rows = _reduced(data, row, following) if reduced else _all(data, row, following)
    study = data.study
    lines: list[tuple[Value, ...]] = []
    for other in rows:
        pair = (study.task(row), study.task(other)) if following else (study.task(other), study.task(row))
        because = _because(stated(*pair), study.rows[row].task)
        lines.append((*_sign_and_name(data, other, glyphs), Cell(because, Tone.DIM)))
    word = "follows" if following else "precedes"
    names, indices = [study.rows[other].task for other in rows], [study.indices[other] for other in rows]
    return Table(_NEIGHBOURS, lines, names, (f"Nothing {word} it.",), indices), rows


def further(data: GraphData, row: int, *, following: bool, glyphs: Glyphs) -> tuple[Table, list[int]]:
    """Return a table of the tasks beyond the neighbours, the nearest first, each with the task through which it is
    reached, and their rows. There are at most `MOST`, so that this costs the same in a graph of any size.
    """
    study = data.study
    beyond = _beyond(data, row, following)
    lines: list[tuple[Value, ...]] = []
    for other, through, steps in beyond:
        sign, name = _sign_and_name(data, other, glyphs)
        lines.append((sign, str(steps), name, Cell(study.rows[through].task, Tone.DIM)))
    rows = [other for other, _, _ in beyond]
    word = "follows" if following else "precedes"
    return Table(_FURTHER, lines, [study.rows[other].task for other in rows], (f"Nothing {word} those.",)), rows


def _sign_and_name(data: GraphData, row: int, glyphs: Glyphs) -> tuple[Cell, Cell]:
    shown = data.study.rows[row]
    name = Cell(shown.task, Tone.ACCENT if shown.is_changed else Tone.PLAIN)
    return Cell(sigil(data.study.task(row), glyphs), Tone.ACCENT), name


def _beyond(data: GraphData, row: int, following: bool) -> list[tuple[int, int, int]]:
    """Return rows with the row through which each is reached, and the number of edges between it and `row`."""
    near = _all(data, row, following)
    seen = {row, *near}
    beyond: list[tuple[int, int, int]] = []
    ring, steps = near, 1
    while ring and len(beyond) < MOST:
        steps += 1
        reached: dict[int, int] = {}
        for through in ring:
            for other in _all(data, through, following):
                if other not in seen:
                    seen.add(other)
                    reached[other] = through
        beyond += [(other, reached[other], steps) for other in sorted(reached)]
        ring = sorted(reached)
    return beyond[:MOST]


def _all(data: GraphData, row: int, following: bool) -> list[int]:
    study = data.study
    indices = (study.after if following else study.before)[study.indices[row]]
    return sorted(study.row_of[index] for index in indices)


def _reduced(data: GraphData, row: int, following: bool) -> list[int]:
    every = data.reach.reduced()
    if following:
        return every[row]
    return [other for other in range(row) if row in every[other]]


def _because(words: Sequence[Word], centre: str) -> str:
    """Return the attributes that make the edge; those of the other task are "its"."""
    attributes = dict.fromkeys(("" if word.task == centre else "its ") + word.attribute for word in words)
    return ", ".join(attributes)


def total(data: GraphData, row: int, *, following: bool) -> int:
    """Return how many tasks precede or follow directly, reduced or not."""
    return len(_all(data, row, following))


def centre(data: GraphData, row: int, glyphs: Glyphs) -> Table:
    """Return the task in the middle: what it is, and its attributes."""
    study = data.study
    shown, task = study.rows[row], study.task(row)
    rows: list[tuple[Value, ...]] = [
        (Cell("layers", Tone.DIM), chips(task, study.snapshot.layers, glyphs), layer_name(task.owner)),
        (Cell("stage", Tone.DIM), shown.stage or "none", ""),
        (Cell("nodes", Tone.DIM), str(len(shown.nodes)), ""),
        (Cell("before", Tone.DIM), f"{count(data.reach.ancestors(row), 'task')} in all", ""),
        (Cell("after", Tone.DIM), f"{count(data.reach.descendants(row), 'task')} in all", ""),
    ]
    for blamed in blame(task):
        tone = Tone.ACCENT if blamed.is_changed else Tone.PLAIN
        mark = f"{glyphs.changed} " if blamed.is_changed else ""
        by = Cell(layer_name(blamed.origin.owner), Tone.DIM)
        rows.append((Cell(f"{mark}{blamed.path}", tone), Cell(stated_value(blamed), tone), by))
    return Table(_ATTRIBUTES, rows, [str(cells[0]) for cells in rows])


_FACTS = 5
"""How many rows of the middle stand above the attributes."""


def in_full(data: GraphData, row: int, place: int, glyphs: Glyphs) -> list[Line]:
    """Return a row of the middle in full: an attribute with its whole value, who set it where, and what that replaced;
    for the rows above the attributes, where the task stands and runs, and its findings."""
    attributes = blame(data.study.task(row))
    if not _FACTS <= place < _FACTS + len(attributes):
        return detail(data, row, glyphs)
    blamed = attributes[place - _FACTS]
    origin = blamed.origin
    lines = [title(blamed.path), fact("set by", set_by(origin)), fact("where", short_place(origin.place)), ()]
    lines += [(stated_value(blamed),)] if blamed.dropped else [(line,) for line in _block(blamed.value)]
    return [*lines, *_replaced(blamed, glyphs)]


def _replaced(blamed: Blame, glyphs: Glyphs) -> Iterator[Line]:
    for value, origin in blamed.replaced:
        yield ()
        sign = glyphs.gone if blamed.dropped else glyphs.was
        yield (Cell(f"{sign}  ", Tone.DIM), set_by(origin), Cell(f"  {short_place(origin.place)}", Tone.DIM))
        if value == blamed.value and not blamed.dropped:
            yield (Cell("the same", Tone.DIM),)
        else:
            yield from ((Cell(line, Tone.DIM),) for line in _block(value))


def _block(value: Any) -> list[str]:
    """Return a value in as many lines as it has entries.

    >>> _block({"name": "a", "policy": ["b", "c"]}), _block(["x", {"y": 1}]), _block("one\\ntwo")
    (['name: a', 'policy: [b, c]'], ['- x', '- {y: 1}'], ['one', 'two'])
    """
    if isinstance(value, Mapping) and set(value) != {"yaql_exp"}:
        return [f"{key}: {value_text(item)}" for key, item in value.items()]
    if isinstance(value, list | tuple) and value:
        return [f"- {value_text(item)}" for item in value]
    if isinstance(value, str) and "\n" in value:
        return value.rstrip("\n").split("\n")
    return [value_text(value)]


def nothing(data: GraphData) -> Table:
    """Return the table of a graph that has no order."""
    return Table(_NEIGHBOURS, (), (), empty(data))


def lost(why: str) -> Table:
    """Return what stands instead of a task that the graph has lost."""
    return Table((), empty=(why, "", "[ goes back, 3 shows the tasks.") if why else ("",))

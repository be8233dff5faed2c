"""Browse: a task between what precedes and what follows it; and the chain between two tasks."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.insight.blame import blame
from fuelclient.insight.why import Step, Word, chain, stated
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.preview import empty
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone, Value
from fuelclient.tui.presenters.words import chips, count, layer_name, short_place, sigil, title, value_text
from fuelclient.tui.subject import Subject

_NEIGHBOURS = (
    Column("change", "", least=1, most=1),
    Column("task", "task", least=10, most=36, grows=True),
    Column("because", "because of", least=8, most=26, rank=1),
)

_ATTRIBUTES = (
    Column("attribute", "attribute", least=8, most=24),
    Column("value", "value", least=8, most=60, grows=True),
    Column("by", "set by", least=7, most=22, rank=1),
)

_STEPS = (
    Column("step", "#", least=1, right=True),
    Column("before", "runs before", least=12, most=40),
    Column("after", "the next", least=12, most=40),
    Column("field", "because", least=14, most=60, grows=True),
    Column("layer", "layer", least=7, most=26, rank=1),
    Column("place", "where", least=14, most=40, rank=2, tail=True),
)


def neighbours(
    subject: Subject, row: int, *, following: bool, reduced: bool, glyphs: Glyphs
) -> tuple[Table, list[int]]:
    """The rows that directly precede (or follow) a task, with the words that say so, and which rows these are.

    With `reduced` those are left out between which and the task another task stands anyway.
    """
    rows = _reduced(subject, row, following) if reduced else _all(subject, row, following)
    study = subject.study
    lines: list[tuple[Value, ...]] = []
    for other in rows:
        pair = (study.task(row), study.task(other)) if following else (study.task(other), study.task(row))
        words = stated(*pair)
        tone = Tone.ACCENT if study.rows[other].is_changed else Tone.PLAIN
        lines.append(
            (
                Cell(sigil(study.task(other), glyphs), Tone.ACCENT),
                Cell(study.rows[other].task, tone),
                Cell(_because(words, study.rows[row].task), Tone.DIM),
            )
        )
    word = "follows" if following else "precedes"
    return Table(_NEIGHBOURS, lines, [study.rows[other].task for other in rows], (f"Nothing {word} it.",)), rows


def _all(subject: Subject, row: int, following: bool) -> list[int]:
    study = subject.study
    found = (study.after if following else study.before)[study.indices[row]]
    return sorted(study.row_of[index] for index in found)


def _reduced(subject: Subject, row: int, following: bool) -> list[int]:
    every = subject.reach.reduced()
    if following:
        return every[row]
    return [other for other in range(row) if row in every[other]]


def _because(words: Sequence[Word], centre: str) -> str:
    """Which attribute of which of the two makes the edge: the other one's is "its"."""
    told = dict.fromkeys(("" if word.task == centre else "its ") + word.attribute for word in words)
    return ", ".join(told)


def total(subject: Subject, row: int, *, following: bool) -> int:
    """How many tasks precede or follow directly, reduced or not."""
    return len(_all(subject, row, following))


def centre(subject: Subject, row: int, glyphs: Glyphs) -> Table:
    """The task in the middle: what it is, and its attributes."""
    study = subject.study
    shown, task = study.rows[row], study.task(row)
    rows: list[tuple[Value, ...]] = [
        (Cell("layers", Tone.DIM), chips(task, study.snapshot.layers, glyphs), layer_name(task.owner)),
        (Cell("stage", Tone.DIM), shown.stage or "none", ""),
        (Cell("nodes", Tone.DIM), str(len(shown.nodes)), ""),
        (Cell("before", Tone.DIM), f"{count(subject.reach.ancestors(row), 'task')} in all", ""),
        (Cell("after", Tone.DIM), f"{count(subject.reach.descendants(row), 'task')} in all", ""),
    ]
    for one in blame(task):
        tone = Tone.ACCENT if one.is_changed else Tone.PLAIN
        mark = f"{glyphs.changed} " if one.is_changed else ""
        value = "not stated any more" if one.dropped else value_text(one.value)
        rows.append((Cell(f"{mark}{one.path}", tone), Cell(value, tone), Cell(layer_name(one.origin.owner), Tone.DIM)))
    return Table(_ATTRIBUTES, rows, [str(cells[0]) for cells in rows])


def between(subject: Subject, one: int, other: int) -> tuple[tuple[Step, ...], bool]:
    """The shortest chain between two rows, in whichever direction there is one; whether it begins at `one`."""
    study = subject.study
    there = chain(study.expansion, study.indices[one], study.indices[other])
    if there:
        return there, True
    return chain(study.expansion, study.indices[other], study.indices[one]), False


def why(subject: Subject, one: int, other: int, glyphs: Glyphs) -> Table:
    """The chain as rows, one for each statement that makes an edge."""
    steps, _ = between(subject, one, other)
    rows: list[tuple[Value, ...]] = []
    ids: list[str] = []
    for number, step in enumerate(steps, start=1):
        for place, word in enumerate(step.words):
            first = place == 0
            rows.append(
                (
                    str(number) if first else "",
                    Cell(step.before if first else "", Tone.STRONG),
                    Cell(f"{glyphs.arrow} {step.after}" if first else "", Tone.STRONG),
                    f"{word.task} says {word.attribute}: {word.word}",
                    Cell(word.place.layer.removeprefix("plugin "), _tone(word)),
                    short_place(word.place),
                )
            )
            ids.append(step.after)
    names = (subject.study.rows[one].task, subject.study.rows[other].task)
    return Table(_STEPS, rows, ids, (f"Nothing makes {names[0]} wait for {names[1]}, nor the other way round.",
                                     "", "They may run at the same time."))  # fmt: skip


def _tone(word: Word) -> Tone:
    return Tone.DIM if word.place.layer == "release" else Tone.ACCENT


def sentence(subject: Subject, one: int, other: int, glyphs: Glyphs) -> list[Line]:
    """The chain in words: the answer in one line, then one line for each task on the way."""
    steps, forward = between(subject, one, other)
    first, last = (one, other) if forward else (other, one)
    rows = subject.study.rows
    if not steps:
        return [title(f"{rows[one].task} and {rows[other].task} are in no order")]
    lines = [
        title(f"{rows[last].task} runs after {rows[first].task}: {count(len(steps), 'edge')}, the fewest there are"),
        (),
        (Cell(steps[0].before, Tone.STRONG),),
    ]
    for step in steps:
        for word in step.words:
            layer = word.place.layer.removeprefix("plugin ")
            where = short_place(word.place)
            lines.append((f"  {glyphs.ink.lane} {word.task}.{word.attribute}: {word.word}  ",
                          Cell(f"{layer}  {where}", _tone(word))))  # fmt: skip
        lines.append((Cell(step.after, Tone.STRONG),))
    return lines


def nothing(subject: Subject) -> Table:
    """The table of a graph that has no order."""
    return Table(_NEIGHBOURS, (), (), empty(subject))

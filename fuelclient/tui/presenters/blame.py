"""Format layers, and the attributes of a task with their values, the layers that set them, and their source lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuelclient.insight.blame import Blame, blame
from fuelclient.model.graph import Layer, Level, MergedTask, Origin, Owner
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import fact, short_place, title, value_text
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone, Value

_LETTERS = {Level.RELEASE: "R", Level.PLUGIN: "P", Level.CLUSTER: "C"}


def letter(owner: Owner) -> str:
    return _LETTERS[owner.level]


def layer_name(owner: Owner) -> str:
    return owner.label.removeprefix("plugin ")


def layer_letters(task: MergedTask, layers: Sequence[Layer], glyphs: Glyphs) -> str:
    """One sign for each layer of the environment: its letter if it defines or changes the task, else a dot."""
    involved = {task.owner.order, *(owner.order for owner in task.overrides)}
    return "".join(letter(layer.owner) if layer.owner.order in involved else glyphs.dot for layer in layers)


def task_sign(task: MergedTask, glyphs: Glyphs) -> str:
    """A sign for a task that a layer above the release changes or adds; else empty."""
    if task.overrides:
        return glyphs.changed
    return "" if task.owner.level is Level.RELEASE else glyphs.added


def layer_cell(label: str) -> Cell:
    """The name of a layer, dim for the release because most attributes are from it."""
    return Cell(label.removeprefix("plugin "), Tone.DIM if label == Level.RELEASE else Tone.ACCENT)


def set_by(origin: Origin) -> Cell:
    return layer_cell(origin.owner.label)


def changed_tone(is_changed: bool) -> Tone:
    """The tone of a task or attribute, depending on whether a layer above the release adds or changes it."""
    return Tone.ACCENT if is_changed else Tone.PLAIN


def changed_sign(blamed: Blame, glyphs: Glyphs) -> str:
    """A sign for an attribute that an upper layer changes, or blanks of the same width."""
    return f"{glyphs.changed if blamed.changed else ' '} "


def replaced_sign(blamed: Blame, glyphs: Glyphs) -> str:
    return glyphs.gone if blamed.removed else glyphs.was


def given_value(blamed: Blame) -> str:
    return "not stated" if blamed.removed else value_text(blamed.value)


_COLUMNS = (
    Column("attribute", "attribute", least=19, most=32, tail=True),
    Column("value", "value", least=12, most=60, grows=True),
    Column("by", "set by", least=7, most=28),
    Column("place", "where", least=14, most=40, rank=1, tail=True),
)


def table(task: MergedTask, glyphs: Glyphs) -> Table:
    """The value and layer of each attribute of a task, and the values that it replaced. Entries of a mapping are listed
    below its name, because their full paths would be too wide."""
    rows: list[tuple[Value, ...]] = []
    ids: list[str] = []
    mapping = ""
    for blamed in blame(task):
        name, dot, inner = blamed.attribute.partition(".")
        if dot and name != mapping:
            rows.append((f"  {name}", "", "", ""))
            ids.append(name)
        mapping = name if dot else ""
        tone = changed_tone(blamed.changed)
        shown = Cell(given_value(blamed), Tone.WARN if blamed.removed else tone)
        label = Cell(changed_sign(blamed, glyphs) + (f"  {inner}" if inner else name), tone)
        rows.append((label, shown, set_by(blamed.origin), short_place(blamed.origin.place)))
        for lower in reversed(blamed.overrode):
            text = "the same" if lower.value == blamed.value and not blamed.removed else value_text(lower.value)
            before = (Cell(f"  {replaced_sign(blamed, glyphs)}", Tone.DIM), Cell(text, Tone.DIM))
            rows.append((*before, set_by(lower.origin), short_place(lower.origin.place)))
        ids += [blamed.attribute] * (1 + len(blamed.overrode))
    return Table(_COLUMNS, rows, ids)


def in_full(task: MergedTask, path: str, glyphs: Glyphs) -> list[Line]:
    """An attribute of a task as lines that wrap: its value, layer and source line, and the values that it replaced."""
    shown: list[Line] = []
    for blamed in blame(task):
        if blamed.attribute == path:
            shown += [title(path), (given_value(blamed),), _source(blamed.origin)]
            for lower in reversed(blamed.overrode):
                sign = Cell(f"{replaced_sign(blamed, glyphs)} ", Tone.DIM)
                shown += [(sign, value_text(lower.value)), _source(lower.origin)]
    return shown


def _source(origin: Origin) -> Line:
    place = origin.place
    where = f"  {place.file}:{place.line}" if place.file else ""
    return (Cell("  set by ", Tone.DIM), set_by(origin), Cell(where, Tone.DIM))


def lines(task: MergedTask, glyphs: Glyphs) -> Iterator[Line]:
    """The attributes of a task with their values and layers, as lines that wrap."""
    for blamed in blame(task):
        value = Cell(given_value(blamed), Tone.WARN if blamed.removed else Tone.PLAIN)
        by = set_by(blamed.origin)
        yield (Cell(f"{changed_sign(blamed, glyphs)}{blamed.attribute}: ", Tone.DIM), value, Cell(f"  {by}", by.tone))


def short_rows(task: MergedTask, glyphs: Glyphs) -> Iterator[tuple[Value, ...]]:
    """The attributes of a task with their values and layers, for a narrow table."""
    for blamed in blame(task):
        tone, by = changed_tone(blamed.changed), Cell(layer_name(blamed.origin.owner), Tone.DIM)
        yield Cell(changed_sign(blamed, glyphs).lstrip() + blamed.attribute, tone), Cell(given_value(blamed), tone), by


def as_block(blamed: Blame, glyphs: Glyphs) -> Iterator[Line]:
    """An attribute with its value and the values that it replaced, each with one line per entry."""
    yield title(blamed.attribute)
    yield fact("set by", set_by(blamed.origin))
    yield fact("where", short_place(blamed.origin.place))
    yield ()
    yield from ((line,) for line in ([given_value(blamed)] if blamed.removed else _block(blamed.value)))
    for lower in reversed(blamed.overrode):
        yield ()
        sign, where = f"{replaced_sign(blamed, glyphs)}  ", f"  {short_place(lower.origin.place)}"
        yield (Cell(sign, Tone.DIM), set_by(lower.origin), Cell(where, Tone.DIM))
        if lower.value == blamed.value and not blamed.removed:
            yield (Cell("the same", Tone.DIM),)
        else:
            yield from ((Cell(line, Tone.DIM),) for line in _block(lower.value))


def _block(value: Any) -> list[str]:
    """A value with one line per entry.

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

"""What enabling a plugin would change in a graph, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuelclient.insight.comparison import Change, Comparison, TaskChange, ValueChange
from fuelclient.insight.order_effect import OrderEffect
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import count, finding_lines, title, value_text
from fuelclient.tui.presenters.table import Cell, Line, Tone

MOST_PAIRS = 20
"""How many pairs of tasks are listed whose order is lost or gained; the command line has all."""

_TONES = {Change.ADDED: Tone.ACCENT, Change.CHANGED: Tone.ACCENT, Change.REMOVED: Tone.WARN}


def lines(found: Comparison, name: str, glyphs: Glyphs) -> list[Line]:
    """Return what enabling the plugin of that name would change: tasks with their attributes, the order of task
    instances, and findings that the graph does not have now."""
    refused = [finding for finding in found.findings if finding.code.startswith("P07")]
    new = [finding for finding in found.findings if finding not in refused]
    said = [title(f"If {name} were enabled here"), ()]
    for finding in refused:
        said += [*finding_lines(replace(finding, message=f"It cannot be enabled here: {finding.message}."), glyphs), ()]
    if not found.is_different and not new:
        return [*said, ("Nothing would change in this graph.",)]
    said += [title(_figures(found)), *_order(found, glyphs), ()]
    for task in found.tasks:
        said += _task(task, glyphs)
    said += [line for value in found.metadata for line in _value(value, glyphs)]
    said += _pairs(found.order, glyphs) if found.order else ()
    if new:
        said += [(), title(count(len(new), "new finding"))]
        for finding in new:
            said += finding_lines(finding, glyphs)
    return said


def _figures(found: Comparison) -> str:
    changes = [task.change for task in found.tasks]
    figures = [f"{changes.count(change)} {change}" for change in Change if change in changes]
    return f"tasks: {', '.join(figures) or 'no difference'}"


def _task(task: TaskChange, glyphs: Glyphs) -> Iterator[Line]:
    sign = {Change.ADDED: glyphs.added, Change.CHANGED: glyphs.changed, Change.REMOVED: "-"}[task.change]
    yield (Cell(f"  {sign} {task.task}", _TONES[task.change]),)
    for value in task.values if task.change is Change.CHANGED else ():
        yield from _value(value, glyphs)


def _value(value: ValueChange, glyphs: Glyphs) -> Iterator[Line]:
    before, after = ("not stated" if side is None else value_text(side) for side in (value.before, value.after))
    yield (f"      {value.path}: {after}",)
    yield (Cell(f"        {glyphs.was} {before}", Tone.DIM),)


def _order(found: Comparison, glyphs: Glyphs) -> Iterator[Line]:
    order = found.order
    if order is None:
        yield title("order: cannot be compared")
        yield (Cell(f"  {glyphs.error} {found.problem}", Tone.BAD),)
        return
    yield title(f"order: {count(order.lost, 'ordering')} of {order.before} lost, {order.gained} gained")
    edges = f"{count(len(order.edges_removed), 'edge')} between tasks removed, {len(order.edges_added)} added"
    yield (Cell(f"  {edges}; {order.instances} task instances are in both", Tone.DIM),)


def _pairs(order: OrderEffect, glyphs: Glyphs) -> Iterator[Line]:
    if order.lost_pairs or order.gained_pairs:
        yield ()
    for word, tone, listed in (("lost", Tone.WARN, order.lost_pairs), ("gained", Tone.PLAIN, order.gained_pairs)):
        for pair in listed[:MOST_PAIRS]:
            yield (Cell(f"  {word:7} {pair.before} {glyphs.arrow} {pair.after}", tone),)
        if len(listed) > MOST_PAIRS:
            yield (Cell(f"  {word:7} and {len(listed) - MOST_PAIRS} more pairs of tasks", Tone.DIM),)

"""Preview: merged tasks in execution order; who set each attribute of a task; where it runs, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from fuelclient.insight.blame import Blame, blame
from fuelclient.model.graph import MergedTask
from fuelclient.plan.preview import PreviewRow
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone, Value
from fuelclient.tui.presenters.words import (
    chips,
    count,
    fact,
    layer_name,
    names,
    severity,
    short_place,
    sigil,
    title,
    told,
    value_text,
    worst,
)  # fmt: skip
from fuelclient.tui.subject import Subject

_TASKS = (
    Column("order", "#", least=3, right=True),
    Column("found", "", least=1, most=1),
    Column("change", "", least=1, most=1),
    Column("task", "task", least=31, most=44, grows=True),
    Column("type", "type", least=11, most=13, rank=2),
    Column("layers", "layers", least=6, most=12),
    Column("generation", "gen", least=5, most=9, rank=4, right=True),
    Column("stage", "stage", least=15, most=16, rank=3),
    Column("priority", "prio", least=6, most=8, rank=5, right=True),
    Column("nodes", "nodes", least=5, right=True, rank=1),
    Column("role", "roles", least=14, most=30, rank=8),
    Column("layer", "from", least=12, most=26, rank=7),
)

_BLAME = (
    Column("attribute", "attribute", least=19, most=32, tail=True),
    Column("value", "value", least=12, most=60, grows=True),
    Column("by", "set by", least=7, most=28),
    Column("place", "where", least=14, most=40, rank=1, tail=True),
)


def empty(subject: Subject) -> tuple[str, ...]:
    """What to say and do where there is no row."""
    if subject.study.problem:
        return (subject.study.problem, "", "6 shows what is wrong, and where.")
    return (
        f"No layer has a task of type {subject.study.snapshot.graph_type}.",
        "",
        f"fuel2 graph upload --env {subject.env} --type {subject.study.snapshot.graph_type} --file FILE",
    )


def tasks(subject: Subject, glyphs: Glyphs) -> Table:
    """One row for each merged task."""
    study = subject.study
    rows = [_task(row, study.task(place), subject, glyphs) for place, row in enumerate(study.rows)]
    return Table(_TASKS, rows, [row.task for row in study.rows], empty(subject))


def _task(row: PreviewRow, task: MergedTask, subject: Subject, glyphs: Glyphs) -> tuple[Value, ...]:
    changed = Tone.ACCENT if row.is_changed else Tone.PLAIN
    nowhere = not row.nodes
    return (
        str(row.order),
        worst(row.findings, glyphs),
        Cell(sigil(task, glyphs), Tone.ACCENT),
        Cell(row.task, Tone.DIM if nowhere else changed),
        Cell(row.type, Tone.DIM),
        Cell(chips(task, subject.study.snapshot.layers, glyphs), changed),
        generations(row),
        Cell(row.stage or "", Tone.DIM),
        "" if row.priority is None else str(row.priority),
        Cell(glyphs.no, Tone.DIM) if nowhere else str(len(row.nodes)),
        Cell(names(row.roles), Tone.DIM),
        Cell(row.layer.removeprefix("plugin "), changed),
    )


def generations(row: PreviewRow) -> str:
    """The first and the last generation of a task's instances."""
    if row.first_generation is None:
        return ""
    if row.first_generation == row.last_generation:
        return str(row.first_generation)
    return f"{row.first_generation}-{row.last_generation}"


def attributes(task: MergedTask, glyphs: Glyphs) -> Table:
    """Who set each attribute of a task, where, and what that replaced; what stands in a mapping stands below its name,
    since a path would leave no room for the rest."""
    rows: list[tuple[Value, ...]] = []
    ids: list[str] = []
    mapping = ""
    for one in blame(task):
        name, dot, _ = one.path.partition(".")
        if dot and name != mapping:
            rows.append((f"  {name}", "", "", ""))
            ids.append(name)
        mapping = name if dot else ""
        for row in _attribute(one, glyphs):
            rows.append(row)
            ids.append(one.path)
    return Table(_BLAME, rows, ids)


def _attribute(one: Blame, glyphs: Glyphs) -> Iterator[tuple[Value, ...]]:
    name, _, below = one.path.partition(".")
    mark = f"{glyphs.changed} " if one.is_changed else "  "
    tone = Tone.ACCENT if one.is_changed else Tone.PLAIN
    shown = Cell("not stated any more", Tone.WARN) if one.dropped else Cell(value_text(one.value), tone)
    yield Cell(mark + (f"  {below}" if below else name), tone), shown, told(one.origin), short_place(one.origin.place)
    for value, origin in one.replaced:
        if value == one.value and not one.dropped:
            yield Cell(f"  {glyphs.was}", Tone.DIM), Cell("the same", Tone.DIM), told(origin), short_place(origin.place)
        else:
            yield (
                Cell(f"  {glyphs.gone if one.dropped else glyphs.was}", Tone.DIM), Cell(value_text(value), Tone.DIM),
                told(origin), short_place(origin.place),
            )  # fmt: skip


def attribute_lines(task: MergedTask, glyphs: Glyphs) -> Iterator[Line]:
    """Who set each attribute of a task, as lines that wrap."""
    for one in blame(task):
        mark = f"{glyphs.changed} " if one.is_changed else "  "
        value = Cell("not stated any more", Tone.WARN) if one.dropped else value_text(one.value)
        by = told(one.origin)
        yield (Cell(f"{mark}{one.path}: ", Tone.DIM), value, Cell(f"  {by}", by.tone))


def detail(subject: Subject, row: int, glyphs: Glyphs) -> list[Line]:
    """Where a task stands and runs, and its findings."""
    study, shown, task = subject.study, subject.study.rows[row], subject.study.task(row)
    by_id = {node.id: node.name for node in study.snapshot.nodes}
    stage = shown.stage or "none"
    band = f" {shown.priority}" + (f" ({shown.band})" if shown.band else "") if shown.priority is not None else ""
    lines = [
        title(f"{shown.task}"),
        fact("type", shown.type),
        fact("layers", names(layer_name(owner) for owner in (task.owner, *task.overrides))),
        fact("stage", stage + band),
        fact("generation", generations(shown) or "none: it runs nowhere here"),
        fact("nodes", names("sync point" if uid is None else by_id.get(uid, f"node {uid}") if isinstance(uid, int)
                            else uid for uid in shown.nodes) or "none"),
        fact("before it", f"{count(len(study.before[study.indices[row]]), 'task')} directly,"
                          f" {subject.reach.ancestors(row)} in all"),
        fact("after it", f"{count(len(study.after[study.indices[row]]), 'task')} directly,"
                         f" {subject.reach.descendants(row)} in all"),
    ]  # fmt: skip
    if shown.findings:
        lines += [(), title(count(len(shown.findings), "finding"))]
        for finding in shown.findings:
            lines.append((severity(finding, glyphs), f" {finding.message} ", Cell(finding.code, Tone.DIM)))
            lines += [(Cell(f"  {finding.hint}", Tone.DIM),)] if finding.hint else []
    return lines

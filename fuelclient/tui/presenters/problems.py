"""The view `problems`: all findings, and their source lines."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from fuelclient.model.finding import Finding, Severity
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import fact, severity, short_place
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.requests import GraphData

_COLUMNS = (
    Column("severity", "severity", least=7, most=10),
    Column("code", "code", least=4, most=5),
    Column("task", "task", least=22, most=34, rank=1),
    Column("message", "finding", least=34, most=200, grows=True),
    Column("place", "where", least=26, most=40, rank=2, tail=True),
)

_NOTHING = ("Nothing is wrong with this graph.", "", "3 shows in which order it runs.")


def sorted_findings(data: GraphData) -> list[Finding]:
    """All findings by severity (errors first), file and line."""
    ranks = list(Severity)
    return sorted(
        data.study.findings,
        key=lambda finding: (
            ranks.index(finding.severity), finding.place.file, finding.place.line, finding.code, finding.message
        ),
    )  # fmt: skip


def row_of(findings: Sequence[Finding], wanted: Finding | None, old_row: int) -> int:
    """The row of a finding, or the nearest row to `old_row` if it is gone. Code, task and message identify a finding:
    its line number may have changed."""
    if wanted is None:
        return 0
    identity = attrgetter("code", "task", "message")
    same = (number for number, finding in enumerate(findings) if identity(finding) == identity(wanted))
    return next(same, max(0, min(old_row, len(findings) - 1)))


def table(data: GraphData, glyphs: Glyphs) -> Table:
    findings = sorted_findings(data)
    rows = [
        (
            severity(finding, glyphs), finding.code, finding.task,
            finding.message.removeprefix(f"task {finding.task}: "),
            Cell(short_place(finding.place) or finding.place.layer, Tone.DIM),
        )
        for finding in findings
    ]  # fmt: skip
    study = data.study
    task_rows = [study.row_named(finding.task) for finding in findings]
    indices = [-1 if row is None else study.indices[row] for row in task_rows]
    ids = [finding.task or finding.code for finding in findings]
    return Table(_COLUMNS, rows, ids, _NOTHING, indices, are_tasks=False)


def detail(
    finding: Finding, source: Sequence[tuple[int, str]] | None, glyphs: Glyphs, directory: str = ""
) -> list[Line]:
    """A finding with its source lines, and a caret below the line. `source` is None while it is being read. The path of
    a file in `directory` is shown relative to it."""
    file = finding.place.file.removeprefix(f"{directory}/") if directory else finding.place.file
    lines: list[Line] = [
        (severity(finding, glyphs), " ", Cell(finding.code, Tone.DIM), f" {finding.message}"),
        *([(Cell(f"{glyphs.arrow} {finding.hint}", Tone.STRONG),)] if finding.hint else []),
        (),
        fact("layer", finding.place.layer),
        fact("file", f"{file}:{finding.place.line}" if finding.place.file else "not from a file"),
    ]
    if source:
        lines += [(), *_excerpt(finding, source, glyphs)]
    elif finding.place.file and source is not None:
        lines += [(), (Cell("The file cannot be read on this machine.", Tone.DIM),)]
    return lines


def _excerpt(finding: Finding, source: Sequence[tuple[int, str]], glyphs: Glyphs) -> list[Line]:
    lines: list[Line] = []
    for number, text in source:
        here = number == finding.place.line
        lines.append((Cell(f"{number:>5} {glyphs.ink.lane} ", Tone.DIM), Cell(text, Tone.ACCENT if here else Tone.DIM)))
        if here:
            start, length = span(text, finding)
            lines.append((Cell(f"{'':>5} {glyphs.ink.lane} ", Tone.DIM), Cell(" " * start + glyphs.caret * length,
                                                                               Tone.ACCENT)))  # fmt: skip
    return lines


def span(text: str, finding: Finding) -> tuple[int, int]:
    """The column and length of the carets below a finding's line. They mark the longest word of the message that occurs
    in the line, or else the whole line.

    >>> span("  requires: [netcnfig]", Finding(Severity.WARNING, "G030", "requires names netcnfig, which no layer"))
    (13, 8)
    """
    words = sorted(
        set(finding.message.replace(",", " ").replace("'", " ").split()), key=lambda word: (-len(word), word)
    )
    skip = {"requires", "required_for", f"{finding.task}:"}
    for word in words:
        if len(word) > 3 and word not in skip and word in text:
            return text.index(word), len(word)
    stripped = text.strip()
    return (text.index(stripped) if stripped else 0), max(1, len(stripped))

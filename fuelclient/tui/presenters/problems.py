"""Problems: every finding, and the source line that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from fuelclient.model.finding import Finding, Severity
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.presenters.words import fact, severity, short_place
from fuelclient.tui.requests import GraphData

_COLUMNS = (
    Column("severity", "severity", least=7, most=10),
    Column("code", "code", least=4, most=5),
    Column("task", "task", least=22, most=34, rank=1),
    Column("message", "finding", least=34, most=200, grows=True),
    Column("place", "where", least=26, most=40, rank=2, tail=True),
)

_NOTHING = ("Nothing is wrong with this graph.", "", "3 shows in which order it runs.")


def ordered(data: GraphData) -> list[Finding]:
    """All findings: the worst first, then by file and line."""
    ranks = list(Severity)
    return sorted(
        data.study.findings,
        key=lambda one: (ranks.index(one.severity), one.place.file, one.place.line, one.code, one.message),
    )


def place_of(found: Sequence[Finding], wanted: Finding | None, place: int) -> int:
    """Where a finding stands now: it is known by its code, its task and what it says, since lines above it may have
    come or gone; its old place where it is gone."""
    if wanted is None:
        return 0
    same = (n for n, one in enumerate(found) if _name(one) == _name(wanted))
    return next(same, max(0, min(place, len(found) - 1)))


def _name(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.task, finding.message


def table(data: GraphData, glyphs: Glyphs) -> Table:
    """One row for each finding."""
    found = ordered(data)
    rows = [
        (
            severity(one, glyphs), one.code, one.task, one.message.removeprefix(f"task {one.task}: "),
            Cell(short_place(one.place) or one.place.layer, Tone.DIM),
        )
        for one in found
    ]  # fmt: skip
    return Table(_COLUMNS, rows, [one.task or one.code for one in found], _NOTHING)


def detail(
    finding: Finding, source: Sequence[tuple[int, str]] | None, glyphs: Glyphs, directory: str = ""
) -> list[Line]:
    """A finding in full, and its source with a caret below the line; None means that it is still being read. The
    file is named as seen from `directory`, when it lies below."""
    file = finding.place.file.removeprefix(f"{directory}/") if directory else finding.place.file
    lines: list[Line] = [
        (severity(finding, glyphs), " ", Cell(finding.code, Tone.DIM), f" {finding.message}"),
        *([(Cell(f"{glyphs.arrow} {finding.hint}", Tone.STRONG),)] if finding.hint else []),
        (),
        fact("layer", finding.place.layer),
        fact("file", f"{file}:{finding.place.line}" if finding.place.file else "it came from no file"),
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
        tone = Tone.ACCENT if here else Tone.DIM
        lines.append((Cell(f"{number:>5} {glyphs.ink.lane} ", Tone.DIM), Cell(text, tone)))
        if here:
            start, length = span(text, finding)
            lines.append((Cell(f"{'':>5} {glyphs.ink.lane} ", Tone.DIM), Cell(" " * start + glyphs.caret * length,
                                                                               Tone.ACCENT)))  # fmt: skip
    return lines


def span(text: str, finding: Finding) -> tuple[int, int]:
    """Where a finding points in its line: at the longest word of its message that stands there, else at the whole
    line.

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

"""Format places, layers, values, counts and times, short enough for a cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.printing import count as count
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Line, Tone


def short_place(place: Place) -> str:
    """The last two parts of a path, which differ between plugins and modules, and the line.

    >>> short_place(Place("/a/b/netconfig/tasks.yaml", 12))
    'netconfig/tasks.yaml:12'
    """
    if not place.file:
        return ""
    name = "/".join(place.file.rsplit("/", 2)[-2:])
    return f"{name}:{place.line}" if place.line else name


def value_text(value: Any) -> str:
    """A value on one line, as in YAML's flow style.

    >>> value_text(["a", 1]), value_text({"yaql_exp": "$.x"}), value_text(None)
    ('[a, 1]', 'yaql: $.x', 'null')
    """
    if isinstance(value, Mapping):
        if set(value) == {"yaql_exp"}:
            return f"yaql: {' '.join(str(value['yaql_exp']).split())}"
        return "{" + ", ".join(f"{key}: {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    if isinstance(value, str):
        return " ".join(value.split()) if value else '""'
    return json.dumps(value, default=str)


def names(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)


def severity(finding: Finding, glyphs: Glyphs) -> Cell:
    sign = worst([finding], glyphs)
    return Cell(f"{sign} {finding.severity}", sign.tone)


def worst(findings: Iterable[Finding], glyphs: Glyphs) -> Cell:
    """The sign of the most severe finding; an empty cell if there are none."""
    severities = {finding.severity for finding in findings}
    signs = ((Severity.ERROR, glyphs.error, Tone.BAD), (Severity.WARNING, glyphs.warning, Tone.WARN),
             (Severity.INFO, glyphs.info, Tone.DIM))  # fmt: skip
    return next((Cell(sign, tone) for severity, sign, tone in signs if severity in severities), Cell("", Tone.DIM))


def finding_lines(findings: Iterable[Finding], glyphs: Glyphs) -> Iterator[Line]:
    for finding in findings:
        yield (severity(finding, glyphs), f" {finding.message} ", Cell(finding.code, Tone.DIM))
        if finding.hint:
            yield (Cell(f"  {finding.hint}", Tone.DIM),)


def node_name(node: int | str | None, names_of: Mapping[int, str]) -> str:
    if node is None:
        return "sync point"
    return f"{node} {names_of[node]}" if isinstance(node, int) and node in names_of else str(node)


def node_words(node: int | str | None, names_of: Mapping[int, str]) -> str:
    """The texts that a filter compares with, separated by commas: the id, and the name unless it looks like an id.

    >>> node_words(1, {1: "Rack, one"}), node_words(1, {1: "2"}), node_words(None, {})
    ('1,rack  one', '1', 'sync point')
    """
    if node is None:
        return "sync point"
    name = names_of.get(node, "") if isinstance(node, int) else ""
    return str(node) if not name or name.strip().isdigit() else f"{node},{name.replace(',', ' ')}".lower()


def fact(name: str, *value: Cell | str) -> Line:
    """A line `name  value` of a detail pane."""
    return (Cell(f"{name:<14}", Tone.DIM), *value)


def title(text: str) -> Line:
    return (Cell(text, Tone.STRONG),)

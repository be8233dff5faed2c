"""Format places, layers, values, counts and times, short enough for a cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fuelclient.insight.blame import Blame
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Layer, Level, MergedTask, Origin, Owner
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Line, Tone

_LETTERS = {Level.RELEASE: "R", Level.PLUGIN: "P", Level.CLUSTER: "C"}


def short_place(place: Place) -> str:
    """A place by the last two parts of its path, which differ between plugins and modules.

    >>> short_place(Place("/a/b/netconfig/tasks.yaml", 12))
    'netconfig/tasks.yaml:12'
    """
    if not place.file:
        return ""
    name = "/".join(place.file.rsplit("/", 2)[-2:])
    return f"{name}:{place.line}" if place.line else name


def letter(owner: Owner) -> str:
    return _LETTERS[owner.level]


def layer_name(owner: Owner) -> str:
    """The name of a layer; plugins have theirs and their version."""
    return owner.label.removeprefix("plugin ")


def chips(task: MergedTask, layers: Sequence[Layer], glyphs: Glyphs) -> str:
    """One sign for each layer of the environment: its letter if it sets something in the task."""
    involved = {task.owner.order, *(owner.order for owner in task.overrides)}
    return "".join(letter(layer.owner) if layer.owner.order in involved else glyphs.dot for layer in layers)


def sigil(task: MergedTask, glyphs: Glyphs) -> str:
    """A sign for a task that a layer above the release changes or adds."""
    if task.overrides:
        return glyphs.changed
    return "" if task.owner.level is Level.RELEASE else glyphs.added


def set_by(origin: Origin) -> Cell:
    """The layer that set a value, dim if that is the release, the ordinary case."""
    tone = Tone.DIM if origin.owner.level is Level.RELEASE else Tone.ACCENT
    return Cell(layer_name(origin.owner), tone)


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


def mark(blamed: Blame, glyphs: Glyphs) -> str:
    """A sign for an attribute that a layer above changes, or as much room."""
    return f"{glyphs.changed if blamed.changed else ' '} "


def replaced_sign(blamed: Blame, glyphs: Glyphs) -> str:
    return glyphs.gone if blamed.removed else glyphs.was


def given_value(blamed: Blame) -> str:
    return "not stated" if blamed.removed else value_text(blamed.value)


def names(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "node"), count(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def severity(finding: Finding, glyphs: Glyphs) -> Cell:
    sign = worst([finding], glyphs)
    return Cell(f"{sign} {finding.severity}", sign.tone)


def worst(findings: Iterable[Finding], glyphs: Glyphs) -> Cell:
    """The sign of the worst of some findings; of none, an empty cell."""
    severities = {finding.severity for finding in findings}
    signs = ((Severity.ERROR, glyphs.error, Tone.BAD), (Severity.WARNING, glyphs.warning, Tone.WARN),
             (Severity.INFO, glyphs.info, Tone.DIM))  # fmt: skip
    return next((Cell(sign, tone) for severity, sign, tone in signs if severity in severities), Cell("", Tone.DIM))


def finding_lines(findings: Iterable[Finding], glyphs: Glyphs) -> Iterator[Line]:
    """Findings with their hints as lines of a detail pane."""
    for finding in findings:
        yield (severity(finding, glyphs), f" {finding.message} ", Cell(finding.code, Tone.DIM))
        if finding.hint:
            yield (Cell(f"  {finding.hint}", Tone.DIM),)


def changed_tone(is_changed: bool) -> Tone:
    """Marks tasks and attributes that a layer above the release adds or changes."""
    return Tone.ACCENT if is_changed else Tone.PLAIN


def node_name(node: int | str | None, names_of: Mapping[int, str]) -> str:
    """A node by its id and its name, if that is known."""
    if node is None:
        return "sync point"
    return f"{node} {names_of[node]}" if isinstance(node, int) and node in names_of else str(node)


def node_words(node: int | str | None, names_of: Mapping[int, str]) -> str:
    """The words of a filter that match a node, with commas between: its id and its name, unless that looks like an id.

    >>> node_words(1, {1: "Rack, one"}), node_words(1, {1: "2"}), node_words(None, {})
    ('1,rack  one', '1', 'sync point')
    """
    if node is None:
        return "sync point"
    name = names_of.get(node, "") if isinstance(node, int) else ""
    return str(node) if not name or name.strip().isdigit() else f"{node},{name.replace(',', ' ')}".lower()


def fact(name: str, *value: Cell | str, width: int = 14) -> Line:
    """A line `name  value` of a detail pane."""
    return (Cell(f"{name:<{width}}", Tone.DIM), *value)


def title(text: str) -> Line:
    return (Cell(text, Tone.STRONG),)

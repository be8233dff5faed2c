"""Words that several screens use: places, layers, values and counts, short enough for a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Layer, Level, MergedTask, Origin, Owner
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Line, Tone

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[^\[]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LETTERS = {Level.RELEASE: "R", Level.PLUGIN: "P", Level.CLUSTER: "C"}


def short_place(place: Place) -> str:
    """A place by the last two parts of its path, which tell files of plugins and modules apart.

    >>> short_place(Place("/a/b/netconfig/tasks.yaml", 12))
    'netconfig/tasks.yaml:12'
    """
    if not place.file:
        return ""
    name = "/".join(place.file.rsplit("/", 2)[-2:])
    return f"{name}:{place.line}" if place.line else name


def letter(owner: Owner) -> str:
    """The letter of a layer: R, P or C."""
    return _LETTERS[owner.level]


def layer_name(owner: Owner) -> str:
    """A layer as a cell names it: plugins by name and version, without the word."""
    return owner.label.removeprefix("plugin ")


def chips(task: MergedTask, layers: Sequence[Layer], glyphs: Glyphs) -> str:
    """The layers of the environment as one sign each: its letter where it has a say in the task."""
    involved = {task.owner.order, *(owner.order for owner in task.overrides)}
    return "".join(letter(layer.owner) if layer.owner.order in involved else glyphs.dot for layer in layers)


def sigil(task: MergedTask, glyphs: Glyphs) -> str:
    """How a task came to be: changed by a layer above, added by one, or nothing for the release's own."""
    if task.overrides:
        return glyphs.changed
    return "" if task.owner.level is Level.RELEASE else glyphs.added


def told(origin: Origin) -> Cell:
    """Who set something; what the release says is the ordinary case."""
    tone = Tone.DIM if origin.owner.level is Level.RELEASE else Tone.ACCENT
    return Cell(layer_name(origin.owner), tone)


def value_text(value: Any) -> str:
    """A value on one line, as YAML's flow style would have it.

    >>> value_text(["a", 1]), value_text({"yaql_exp": "$.x"}), value_text(None)
    ('[a, 1]', 'yaql: $.x', 'null')
    """
    if isinstance(value, Mapping):
        if set(value) == {"yaql_exp"}:
            return f"yaql: {_one_line(str(value['yaql_exp']))}"
        return "{" + ", ".join(f"{key}: {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    if isinstance(value, str):
        return _one_line(value) if value else '""'
    return json.dumps(value, default=str)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def names(values: Iterable[object]) -> str:
    """Names joined by commas."""
    return ", ".join(str(value) for value in values)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "node"), count(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def severity(finding: Finding, glyphs: Glyphs) -> Cell:
    """The sign and the word of a severity."""
    signs = {
        Severity.ERROR: Cell(f"{glyphs.error} error", Tone.BAD),
        Severity.WARNING: Cell(f"{glyphs.warning} warning", Tone.WARN),
        Severity.INFO: Cell(f"{glyphs.info} info", Tone.DIM),
    }
    return signs[finding.severity]


def worst(findings: Iterable[Finding], glyphs: Glyphs) -> Cell:
    """The sign of the worst of some findings, and nothing for none."""
    found = list(findings)
    if any(one.severity is Severity.ERROR for one in found):
        return Cell(glyphs.error, Tone.BAD)
    if any(one.severity is Severity.WARNING for one in found):
        return Cell(glyphs.warning, Tone.WARN)
    return Cell(glyphs.info if found else "", Tone.DIM)


def node_words(node: int | str | None, names_of: Mapping[int, str]) -> str:
    """What a filter calls a node, separated by commas: its id, which is no name of another one here, and its name.

    >>> node_words(1, {1: "Rack, one"}), node_words(1, {1: "2"}), node_words(None, {})
    ('1,rack  one', '1', 'sync point')
    """
    if node is None:
        return "sync point"
    name = names_of.get(node, "") if isinstance(node, int) else ""
    return str(node) if not name or name.strip().isdigit() else f"{node},{name.replace(',', ' ')}".lower()


def fact(name: str, *value: Cell | str, width: int = 14) -> Line:
    """A line `name  value` of a detail pane; nothing is said of what has no value."""
    return (Cell(f"{name:<{width}}", Tone.DIM), *value)


def title(text: str) -> Line:
    """A heading of a detail pane."""
    return (Cell(text, Tone.STRONG),)


def printable(text: str) -> list[str]:
    """The lines of an output without what would move the cursor of a terminal: colours go, and so does what a
    carriage return writes over.

    >>> printable("a\\x1b[31mred\\x1b[0m\\n10 %\\r20 %\\n")
    ['ared', '20 %']
    """
    plain = _ESCAPES.sub("", text).removesuffix("\n")
    lines = plain.split("\n") if plain else []
    return [_CONTROLS.sub(" ", line.rstrip("\r").rpartition("\r")[2]) for line in lines]


def sentence(text: str) -> str:
    """A message of somebody else on one line.

    >>> sentence("no such\\n\\tfile")
    'no such file'
    """
    return " ".join(" ".join(printable(text)).split())


def length(seconds: float) -> str:
    """A duration as clocks show it: `0:07`, `12:03`, `1:02:03`.

    >>> length(7.4), length(723), length(3723)
    ('0:07', '12:03', '1:02:03')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(time: str | None) -> str:
    """A time in ISO 8601 as people read it, without the fraction of its second; nothing for none.

    >>> moment("2026-01-02T03:04:05.678901"), moment(None)
    ('2026-01-02 03:04:05', '')
    """
    return time.partition(".")[0].removesuffix("Z").partition("+")[0].replace("T", " ") if time else ""

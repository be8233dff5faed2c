"""Find the layer and the place that set each attribute of a merged task, and the values that it replaced; warn about
lost attributes, overrides without effect, shortened lists, and ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from fuelclient.errors import NotFound
from fuelclient.graph.stage import chains
from fuelclient.insight.differences import is_equal
from fuelclient.insight.relation import Because, stage_rule
from fuelclient.model.finding import NO_PLACE, Finding, Place, Severity
from fuelclient.model.graph import Layer, MergedGraph, MergedTask, Origin, Owner

_FIRST_ATTRIBUTES = ("type", "version", "stage", "tags", "roles", "groups", "tasks", "requires", "required_for")
"""Attributes that come first, in this order. All others follow in the author's order."""


@dataclass(frozen=True, slots=True)
class ReplacedValue:
    value: Any
    origin: Origin


@dataclass(frozen=True, slots=True)
class Blame:
    """One attribute (inside a mapping, `parameters.timeout`): its value, its origin, and the values that it overrode,
    from the least important layer to the most. A `removed` attribute has no value any more: `origin` defines the task
    without it. If both are lists, `elements_added` and `elements_removed` compare it with the last of `overrode`.
    """

    attribute: str
    value: Any
    removed: bool
    changed: bool
    origin: Origin
    overrode: tuple[ReplacedValue, ...] = ()
    elements_added: tuple[Any, ...] = ()
    elements_removed: tuple[Any, ...] = ()


def blame(task: MergedTask, layers: Iterable[Layer] = ()) -> tuple[Blame, ...]:
    """Blame every attribute of a merged task, including those that a layer removed.

    A merge records the places of whole mappings. With the `layers`, values inside them get their own places.
    """
    records = {layer.owner: record for layer in layers for record in reversed(layer.tasks) if record.id == task.id}

    def placed(origin: Origin, path: str) -> Origin:
        record = records.get(origin.owner) if origin.place.line > 0 else None
        return Origin(origin.owner, record.source.place(path)) if record else origin

    leaves = dict(_leaves(task.task.attributes))
    history = {path: list(_history(task, path)) for path in leaves}
    for path, setting in task.settings.items():
        for value, _ in setting.replaced:
            for inner, _ in _leaves({path: value}):
                history.setdefault(inner, list(_history(task, inner)))
    rows = []
    for path, replaced in history.items():
        removed, value = path not in leaves, leaves.get(path)
        if removed and any(leaf.startswith(f"{path}.") for leaf in leaves):
            continue  # the value has become a mapping, whose values have rows of their own
        overrode = tuple(ReplacedValue(value, placed(origin, path)) for value, origin in reversed(replaced))
        changed = removed or any(earlier.value != value for earlier in overrode)
        added: tuple[Any, ...] = ()
        lost: tuple[Any, ...] = ()
        if overrode and isinstance(value, list) and isinstance(earlier := overrode[-1].value, list):
            added = tuple(item for item in value if item not in earlier)
            lost = tuple(item for item in earlier if item not in value)
        origin = task.origin(_recorded(task, path) if removed else path)
        rows.append(Blame(path, value, removed, changed, origin, overrode, added, lost))
    rank = {name: number for number, name in enumerate(_FIRST_ATTRIBUTES)}
    return tuple(sorted(rows, key=lambda row: rank.get(row.attribute.partition(".")[0], len(rank))))


def blame_of(task: MergedTask, attribute: str, layers: Iterable[Layer] = ()) -> tuple[Blame, ...]:
    """The rows of one attribute, and of all attributes inside it: `parameters` includes `parameters.timeout`.

    Fuel's spelling with dashes (`cross-depends`) works too. Raise `NotFound` if no layer has the attribute.
    """
    rows = blame(task, layers)
    top, dot, rest = attribute.partition(".")
    for path in (attribute, f"{top.replace('-', '_')}{dot}{rest}"):
        if kept := tuple(row for row in rows if f"{row.attribute}.".startswith(f"{path}.")):
            return kept
    raise NotFound("attribute", f"{attribute} of task {task.id}", known=[row.attribute for row in rows])


class Effect(StrEnum):
    """The effect of a layer on an attribute of a task."""

    SETS = "sets"
    """The task has the value of the layer."""
    OVERRIDDEN = "overridden"
    """The layer has a value, and a more important layer has another one, or the same."""
    REMOVES = "removes"
    """The layer defines the whole task without the attribute, so that earlier values are lost."""
    SILENT = "silent"
    """The layer has the task, but not the attribute."""
    APART = "apart"
    """The layer defines another variant of the task."""
    ABSENT = "absent"
    """The layer does not have the task."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The contribution of one layer to one attribute. If `value` is None, `effect` is the reason."""

    layer: Owner
    effect: Effect
    value: Any = None
    place: Place = NO_PLACE


def statements(task: MergedTask, row: Blame, layers: Iterable[Layer]) -> tuple[Statement, ...]:
    """The contribution of each layer to the attribute of `row`, from the least important layer to the most."""
    return tuple(_statement(task, row, layer) for layer in sorted(layers, key=lambda layer: layer.owner.order))


def _statement(task: MergedTask, row: Blame, layer: Layer) -> Statement:
    owner = layer.owner
    if (record := next((record for record in layer.tasks if record.id == task.id), None)) is None:
        return Statement(owner, Effect.ABSENT)
    if owner not in (task.owner, *task.overrides):
        return Statement(owner, Effect.APART, place=record.source.place())
    place = record.source.place(row.attribute)
    values = dict(_leaves(record.attributes))
    sets = row.origin.owner == owner
    if row.attribute in values:
        return Statement(owner, Effect.SETS if sets else Effect.OVERRIDDEN, values[row.attribute], place)
    if sets and row.removed:
        return Statement(owner, Effect.REMOVES, place=row.origin.place)
    if sets:  # a default that the layer adds to its own tasks, or a part of its value
        return Statement(owner, Effect.SETS, row.value, row.origin.place)
    removes = not record.is_partial and owner.order != min(layer.order for layer in (task.owner, *task.overrides))
    return Statement(owner, Effect.REMOVES if removes else Effect.SILENT, place=record.source.place())


def _leaves(attributes: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each leaf. Expressions and empty mappings are leaves."""
    for key, value in attributes.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value and "yaql_exp" not in value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _history(task: MergedTask, path: str) -> Iterator[tuple[Any, Origin]]:
    """Yield the replaced values of `path`, from its own record or from that of a mapping around it."""
    recorded = _recorded(task, path)
    if (setting := task.settings.get(recorded)) is None:
        return
    rest = path[len(recorded) + 1 :]
    for value, origin in setting.replaced:
        if not rest:
            yield value, origin
        elif isinstance(value, Mapping):
            inner = dict(_leaves(value))
            if rest in inner:
                yield inner[rest], origin


def _recorded(task: MergedTask, path: str) -> str:
    """The nearest path at or above `path` whose origin the merge recorded, or an empty string."""
    while path and path not in task.settings:
        path = path.rpartition(".")[0]
    return path


OVERRIDES = ("G060", "G061", "G062", "G063")
"""The codes of these warnings."""


def override_findings(merged: MergedGraph) -> Iterator[Finding]:
    """The warnings task by task, then those about ties."""
    for task in merged.tasks:
        if task.overrides:
            yield from _override_warnings(task)
    yield from _ties(merged.tasks)


def _override_warnings(task: MergedTask) -> Iterator[Finding]:
    rows = blame(task)
    setting = task.settings.get("type")
    definer = setting.origin.owner if setting is not None and setting.replaced else None
    for row in rows:
        if not row.overrode:
            continue
        earlier, path = row.overrode[-1], row.attribute
        owner = earlier.origin.owner.label
        is_default = path in ("parameters.cwd", "fault_tolerance") and not earlier.origin.place.file
        if row.removed and not is_default:  # a layer adds such values to its own tasks
            hint = "The whole task is replaced: leave its type out to override single attributes, or repeat this one."
            yield _warning("G060", task, row.origin, f"{path} of {owner} is lost", hint)
        elif not row.removed and is_equal(row.value, earlier.value):
            if row.origin.owner != definer:  # a whole definition has to repeat what stays
                text = f"the override of {path} states what {owner} says already"
                yield _warning("G061", task, row.origin, text, "Leave the attribute out of the override.")
        elif isinstance(earlier.value, list) and isinstance(row.value, list) and len(row.value) < len(earlier.value):
            lost = row.elements_removed
            names = f", without {', '.join(lost)}" if lost and all(isinstance(item, str) for item in lost) else ""
            text = f"{path} has {len(row.value)} of the {len(earlier.value)} elements of {owner}{names}"
            hint = "A list replaces the one below it as a whole: state everything that shall stay."
            yield _warning("G062", task, row.origin, text, hint)
    if definer == task.owner and not any(row.changed for row in rows) and all(row.overrode for row in rows):
        text = f"{task.owner.label} states the task as {task.overrides[0].label} does"
        yield _warning("G061", task, task.origin("type"), text, "Leave it out, so that later changes below count.")


def _ties(tasks: Sequence[MergedTask]) -> Iterator[Finding]:
    for chain in chains(tasks):
        for before, after in pairwise(tasks[index] for index in chain.entries):
            if stage_rule(before, after) is Because.PLUGIN:
                yield _warning(
                    "G063", after, after.origin("stage"),
                    f"only the names of the plugins put it after {before.id}: both are in stage {after.task.stage}",
                    "Give the tasks different numbers after the stage, if their order matters.",
                )  # fmt: skip


def _warning(code: str, task: MergedTask, origin: Origin, message: str, hint: str) -> Finding:
    place = Place(origin.place.file, origin.place.line, origin.owner.label)
    return Finding(Severity.WARNING, code, f"task {task.id}: {message}", place, task.id, hint)

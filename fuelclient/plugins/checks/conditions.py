"""P062: conditions that cannot be read, or ask for what no model has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument, nearest
from fuelclient.expressions.legacy import parse
from fuelclient.expressions.restrictions import expand_restrictions
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.checks.subject import Subject
from fuelclient.serializers.values import items_of, line_of

MODELS = frozenset(
    {"settings", "cluster", "version", "networking_parameters", "interface", "nic_attributes", "release", "default",
     "current_vcenter", "glance"}
)  # fmt: skip
"""The models that Nailgun and its user interface evaluate expressions on."""

_KINDS = (
    "node_roles", "environment_config", "node_config", "nic_config", "bond_config", "components", "release_components"
)  # fmt: skip
_TASKS = ("deployment_tasks", "release_tasks")
_BOUNDS = ("min", "max", "recommended")
_MAX_EXPRESSIONS = 5000
"""Different expressions of one package that are parsed, in about a second; a release of Fuel has 200."""


def check(subject: Subject) -> Iterator[Finding]:
    """A warning for every restriction, limit and condition of a task that cannot be understood."""
    answers: dict[str, tuple[str, str]] = {}
    for text, place, task in _expressions(subject):
        if isinstance(text, InvalidDocument):
            yield Finding(Severity.WARNING, "P062", text.message.rstrip("."), place, task, text.hint)
            continue
        if text not in answers and len(answers) < _MAX_EXPRESSIONS:
            answers[text] = _problem(text)
        message, hint = answers.get(text, ("", ""))
        if message:
            yield Finding(Severity.WARNING, "P062", message.rstrip("."), place, task, hint)


def _problem(text: str) -> tuple[str, str]:
    """What is wrong with an expression, and what to do about it; two empty texts for a good one."""
    try:
        paths = parse(text).paths()
    except InvalidDocument as error:
        return error.message, error.hint or "Correct the expression."
    for path in sorted(paths):
        model = path.partition(":")[0]
        if model not in MODELS:
            close = nearest(model, MODELS)
            hint = f"Did you mean {close}?" if close else f"Known are {', '.join(sorted(MODELS))}."
            return f"{path} asks for the model {model!r}, and there is none", hint
    return "", ""


_Found = tuple[str | InvalidDocument, Place, str]


def _expressions(subject: Subject) -> Iterator[_Found]:
    for data in subject.of(*_KINDS):
        for document in data.documents:
            seen: set[int] = set()
            yield from _below(document.data, document.file, seen)
    for task in subject.records(*_TASKS):
        condition = task.data.get("condition")
        if isinstance(condition, str):
            yield condition, task.place("condition"), task.name


def _below(data: Any, file: str, seen: set[int]) -> Iterator[_Found]:
    """The expressions in restrictions and limits at any depth; what aliases share is looked at once."""
    if not isinstance(data, Mapping | list | tuple) or id(data) in seen:
        return
    seen.add(id(data))
    if not isinstance(data, Mapping):
        for item in data:
            yield from _below(item, file, seen)
        return
    for key, value in data.items():
        if key == "restrictions" and isinstance(value, list):
            yield from _restrictions(value, file, line_of(data, "restrictions"))
        elif key == "limits" and isinstance(value, Mapping):
            yield from _limits(value, file, line_of(data, "limits"))
        else:
            yield from _below(value, file, seen)


def _restrictions(listed: list[Any], file: str, line: int) -> Iterator[_Found]:
    for item, at in items_of(listed, line):
        place = Place(file, line_of(item, "condition") or at)
        try:
            [restriction] = expand_restrictions([item])
        except InvalidDocument as error:
            yield error, place, ""
        else:
            yield restriction.condition, place, ""


def _limits(limits: Mapping[str, Any], file: str, line: int) -> Iterator[_Found]:
    overrides = limits.get("overrides")
    holders = [limits, *(one for one in (overrides if isinstance(overrides, list) else []) if isinstance(one, Mapping))]
    for holder in holders:
        for key in ("condition", *_BOUNDS):
            if isinstance(holder.get(key), str):
                yield holder[key], Place(file, line_of(holder, key) or line), ""

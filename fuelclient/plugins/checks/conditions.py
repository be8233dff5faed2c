"""P062: conditions that cannot be read, or that refer to an unknown model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fuelclient.errors import InvalidDocument, nearest
from fuelclient.expressions.legacy import parse
from fuelclient.expressions.restrictions import expand_restrictions
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.reading import Reading
from fuelclient.serializers.values import items_of, line_of, mappings

_MODELS = frozenset(
    {"settings", "cluster", "version", "networking_parameters", "interface", "nic_attributes", "release", "default",
     "current_vcenter", "glance"}
)  # fmt: skip
"""The models on which Nailgun and its user interface evaluate expressions."""

_DATA = (
    "node_roles", "environment_config", "node_config", "nic_config", "bond_config", "components", "release_components"
)  # fmt: skip
_MAX_EXPRESSIONS = 5000
"""The most different expressions of one package that are parsed, in about a second. A release of Fuel has 200."""


def check(package: Reading) -> Iterator[Finding]:
    """Yield a warning for every restriction, limit and task condition that cannot be understood."""
    problems: dict[str, tuple[str, str]] = {}
    for text, place, task in _expressions(package):
        if isinstance(text, InvalidDocument):
            message, hint = text.message, text.hint
        else:
            if text not in problems and len(problems) < _MAX_EXPRESSIONS:
                problems[text] = _problem(text)
            message, hint = problems.get(text, ("", ""))
        if message:
            yield Finding(Severity.WARNING, "P062", message.rstrip("."), place, task, hint)


def _problem(text: str) -> tuple[str, str]:
    """Return what is wrong with an expression, and a hint; two empty strings if nothing is."""
    try:
        paths = parse(text).paths()
    except InvalidDocument as error:
        return error.message, error.hint or "Correct the expression."
    for path in sorted(paths):
        model = path.partition(":")[0]
        if model not in _MODELS:
            close = nearest(model, _MODELS)
            hint = f"Did you mean {close}?" if close else f"Known: {', '.join(sorted(_MODELS))}."
            return f"{path} refers to the unknown model {model!r}", hint
    return "", ""


_Expression = tuple[str | InvalidDocument, Place, str]


def _expressions(package: Reading) -> Iterator[_Expression]:
    """Yield all expressions, or the errors for those that cannot be read, with their places and tasks."""
    for data in package.of(*_DATA):
        for document in data.documents:
            yield from _below(document.data, document.file, set())
    for task in package.records("deployment_tasks", "release_tasks"):
        condition = task.data.get("condition")
        if isinstance(condition, str):
            yield condition, task.place("condition"), task.name


def _below(data: Any, file: str, seen: set[int]) -> Iterator[_Expression]:
    """Yield the expressions in restrictions and limits at any depth. What YAML aliases share is visited once."""
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


def _restrictions(listed: list[Any], file: str, line: int) -> Iterator[_Expression]:
    for item, at in items_of(listed, line):
        place = Place(file, line_of(item, "condition") or at)
        try:
            [restriction] = expand_restrictions([item])
        except InvalidDocument as error:
            yield error, place, ""
        else:
            yield restriction.condition, place, ""


def _limits(limits: Mapping[str, Any], file: str, line: int) -> Iterator[_Expression]:
    return (
        (holder[key], Place(file, line_of(holder, key) or line), "")
        for holder in (limits, *mappings(limits.get("overrides")))
        for key in ("condition", "min", "max", "recommended")
        if isinstance(holder.get(key), str)
    )

"""The shape of a task's attributes: what Nailgun's schema asks for, and what Fuel's expander relies on.

Only shapes are checked. Whether names exist, and what a task needs in its place of the graph, is the business
of `graph.validate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fuelclient.model.task import NAME_LISTS, RELATION_LISTS, TaskType
from fuelclient.serializers.values import Report, did_you_mean, items_of, kind, line_of, plain

_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_WITH_EXPRESSIONS = ("requires", "required_for")
"""Name lists in which a YAQL expression may stand, whole or as an item."""

Lines = Callable[[str], int]


def check(values: Mapping[str, Any], line_of_key: Lines, report: Report) -> dict[str, Any]:
    """The attributes in plain types, names as texts; what does not fit is reported to `report`."""
    attributes: dict[str, Any] = {}
    for key, value in values.items():
        line = line_of_key(key)
        if key in NAME_LISTS:
            attributes[key] = plain(_names(key, value, line, report))
        elif key in RELATION_LISTS:
            attributes[key] = plain(_relations(key, value, line, report))
        else:
            attributes[key] = plain(value)
        if key in _CHECKS:
            _CHECKS[key](value, line_of_key, report)
    if "type" in values:
        _strategy_type(values.get("parameters"), line_of_key, report)
    return attributes


def is_expression(value: Any) -> bool:
    """Whether a YAQL expression stands where a value could."""
    return isinstance(value, Mapping) and isinstance(value.get("yaql_exp"), str)


def _names(key: str, value: Any, line: int, report: Report) -> Any:
    expressions = key in _WITH_EXPRESSIONS
    if expressions and is_expression(value):
        return value
    if not isinstance(value, list | tuple):
        report.error("G006", line, f"{key} must be a list of names, not {kind(value)}", f"Write {key}: [name].")
        return value
    names: list[Any] = []
    for item, at in items_of(value, line):
        if isinstance(item, int) and not isinstance(item, bool):
            names.append(str(item))
            continue
        if not isinstance(item, str) and not (expressions and is_expression(item)):
            message = f"an item of {key} is {kind(item)}, not a name"
            report.error("G006", at, message, "List the names of tasks." if expressions else "List names.")
        names.append(item)
    return names


def _relations(key: str, value: Any, line: int, report: Report) -> Any:
    shown = key.replace("_", "-")
    if is_expression(value):
        return value
    if not isinstance(value, list):
        hint = f"Write {shown}: [{{name: task, role: role}}]."
        report.error("G006", line, f"{shown} must be a list of mappings, not {kind(value)}", hint)
        return value
    return [_relation(shown, item, at, report) for item, at in items_of(value, line)]


def _relation(shown: str, item: Any, line: int, report: Report) -> Any:
    if is_expression(item):
        return item
    line = line_of(item) or line
    if not isinstance(item, Mapping):
        hint = "Write {name: task, role: role}."
        report.error("G006", line, f"an entry of {shown} is {kind(item)}, not a mapping", hint)
        return item
    entry = dict(item)
    if "name" not in entry:
        report.error(
            "G006", line, f"an entry of {shown} has no name", "Add the `name:` of the task on the other nodes."
        )
    else:
        entry["name"] = _text(entry["name"])
        if not (entry["name"] and isinstance(entry["name"], str)) and not is_expression(entry["name"]):
            message = f"name in {shown} must be the name of a task, not {kind(entry['name'])}"
            report.error("G006", line_of(item, "name") or line, message, "Write the id of a task.")
    for word in ("role", "tags"):
        if word in entry:
            entry[word] = _holders(shown, word, entry[word], line_of(item, word) or line, report)
    policy = entry.get("policy", "all")
    if policy not in ("all", "any"):
        message = f"policy in {shown} must be all or any, not {kind(policy)}"
        report.error("G006", line_of(item, "policy") or line, message, "Write all or any.")
    return entry


def _holders(shown: str, word: str, value: Any, line: int, report: Report) -> Any:
    """The roles of a relation: a name, names, an expression, or null for the synchronisation points."""
    if value is None or isinstance(value, str) or is_expression(value):
        return value
    names = [_text(item) for item in value] if isinstance(value, list | tuple) else [_text(value)]
    if all(isinstance(name, str) for name in names):
        return names if isinstance(value, list | tuple) else names[0]
    report.error("G006", line, f"{word} in {shown} must be a role or a list of roles, not {kind(value)}", "List names.")
    return value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _type(value: Any, lines: Lines, report: Report) -> None:
    known = tuple(TaskType)
    if not isinstance(value, str):
        message = f"type must be a text, not {kind(value)}"
        report.error(
            "G006", lines("type"), message, "State the type, or remove the key to override another layer's task."
        )
    elif value not in known:
        hint = f"{did_you_mean(value, known)} " if not did_you_mean(value, known).startswith("Known") else ""
        report.error("G004", lines("type"), f"unknown type {value!r}", f"{hint}Types: {', '.join(known)}.")


def _version(value: Any, lines: Lines, report: Report) -> None:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        message = f"version must be three numbers like 2.1.0, not {kind(value)}"
        report.error("G006", lines("version"), message, "Write for example version: 2.1.0.")


def _parameters(value: Any, lines: Lines, report: Report) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        message = f"parameters must be a mapping, not {kind(value)}"
        report.error("G006", lines("parameters"), message, "Write its keys below it, indented.")
        return
    strategy = value.get("strategy")
    if strategy is None or is_expression(strategy):
        return
    if not isinstance(strategy, Mapping):
        message = f"parameters.strategy must be a mapping, not {kind(strategy)}"
        report.error("G006", lines("parameters.strategy"), message, "Write {type: parallel, amount: 10}.")
        return
    way = strategy.get("type")
    if "type" in strategy and way not in ("parallel", "one_by_one") and not is_expression(way):
        message = f"the type of parameters.strategy must be parallel or one_by_one, not {kind(way)}"
        report.error("G006", lines("parameters.strategy.type"), message, "Write parallel or one_by_one.")
    if "amount" in strategy:
        _amount(strategy["amount"], lines("parameters.strategy.amount"), report)


def _strategy_type(parameters: Any, lines: Lines, report: Report) -> None:
    """A whole definition says which strategy it means; a partial one may change only its amount."""
    strategy = parameters.get("strategy") if isinstance(parameters, Mapping) else None
    if isinstance(strategy, Mapping) and "type" not in strategy and not is_expression(strategy):
        message = "parameters.strategy has no type"
        report.error("G006", lines("parameters.strategy"), message, "Add type: parallel, or type: one_by_one.")


def _amount(value: Any, line: int, report: Report) -> None:
    if (isinstance(value, int) and not isinstance(value, bool)) or is_expression(value):
        return
    message = f"parameters.strategy.amount must be a whole number, not {kind(value)}"
    report.error("G006", line, message, "Write a number without quotes, or {yaql_exp: ...}.")


_CHECKS: dict[str, Callable[[Any, Lines, Report], None]] = {
    "type": _type,
    "version": _version,
    "parameters": _parameters,
}

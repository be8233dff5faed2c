"""Read records of Nailgun and of task files to `model.task.Task`, and write them.

Only this module handles aliases of attributes. Reading reports all errors of a record, by the shapes that Nailgun's
schema and Fuel's expander require; `graph.validate` checks whether names exist. Writing uses the spellings that Fuel
documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fuelclient.errors import did_you_mean
from fuelclient.model.document import Marked
from fuelclient.model.finding import Finding
from fuelclient.model.task import DEFAULT_VERSION, NAME_LISTS, NOT_OF_LEGACY, RELATION_LISTS, Source, Task, TaskType
from fuelclient.serializers.report import Report
from fuelclient.serializers.values import in_words, items_of, key_text, line_of, plain

_CANONICAL = {
    "task_name": "id",
    "role": "roles",
    "cross-depends": "cross_depends",
    "cross-depended-by": "cross_depended_by",
}
_FUEL_SPELLINGS = {"cross_depends": "cross-depends", "cross_depended_by": "cross-depended-by"}
_SECOND_NAMES = {"roles": "role", "cross-depends": "cross_depends", "cross-depended-by": "cross_depended_by"}
"""Attributes that Nailgun's answers have under two names."""

_STRING_ROLES = (["*"], ["master"])
"""Lists of one role that are strings in Nailgun's answers."""

_CUSTOM = "_custom"
_STRATEGIES = ("parallel", "one_by_one")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_WITH_EXPRESSIONS = ("requires", "required_for")
"""Lists of names that may be a YAQL expression, or contain one."""

Lines = Callable[[str], int]


def task_from(
    record: Any, *, file: str, owner_label: str, position: int, line: int = 0
) -> tuple[Task | None, list[Finding]]:
    """Read a task and all findings about it. The task is None if there are findings.

    `file` names the document in messages; if it is empty, `owner_label` is the place. An entry with a stage but no id
    comes from a plugin's `tasks.yaml`, and is named after `owner_label`, its stage and its `position` in the document.
    `line` is used if the record has no line of its own.
    """
    line = line_of(record) or line
    report = Report(file, owner_label)
    if not isinstance(record, Mapping):
        report.error(
            "G006", line, f"entry {position} is {in_words(record)}, not a task", "A task is a mapping with an id."
        )
        return None, report.findings
    given = _Attributes(line)
    given.read(record)
    name, legacy = _identity(given, report, owner_label, position)
    report.subject = f"task {name}" if name else f"entry {position}"
    report.task = name
    for code, at, message, hint in given.problems:
        report.error(code, at, message, hint)
    attributes = _plain_attributes(given.values, given.line_of, report)
    if report.findings:
        return None, report.findings
    return Task(name, attributes, Source(file, line, given.lines, frozenset(given.lone)), legacy), []


def task_to(task: Task, *, known: str = "") -> dict[str, Any]:
    """Write the record of a task: its id, unless it is the `known` one that a reader gives a legacy entry at this
    place, and its attributes in the author's order."""
    record: dict[str, Any] = {} if task.legacy and task.id == known else {"id": task.id}
    for attribute, value in task.attributes.items():
        record[_FUEL_SPELLINGS.get(attribute, attribute)] = value
    return record


def nailgun_task_to(task: Task) -> dict[str, Any]:
    return nailgun_record({**task_to(task), "task_name": task.id})


def nailgun_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Add the second spellings and the default version of Nailgun's answers to the record of a task.

    A lone `*` or `master` is a string there. A record without type, which Nailgun does not have, gets no version,
    because that would override the version of the task in the layer below.

    >>> nailgun_record({"type": "skipped", "roles": ["*"]})
    {'type': 'skipped', 'roles': '*', 'role': '*', 'version': '1.0.0'}
    """
    spelled: dict[str, Any] = {}
    for attribute, value in record.items():
        name = _FUEL_SPELLINGS.get(attribute, attribute)
        spelled[name] = value[0] if name == "roles" and value in _STRING_ROLES else value
    spelled |= {other: spelled[name] for name, other in _SECOND_NAMES.items() if name in spelled}
    if "type" in spelled:
        spelled.setdefault("version", DEFAULT_VERSION)
    return spelled


class _Attributes:
    """The attributes of a record under their canonical names, normalised, with their lines."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.lone = set[str]()
        self.problems: list[tuple[str, int, str, str]] = []

    def read(self, record: Mapping[Any, Any]) -> None:
        """Add the attributes of `record`, and those that older clients nest in `_custom`."""
        for raw_key, value in record.items():
            key = key_text(raw_key)
            line = line_of(record, str(raw_key)) or self.line
            if key == _CUSTOM and isinstance(value, Mapping):
                self.read(value)
            elif key == _CUSTOM and value is not None:
                message = f"_custom must be a mapping, not {in_words(value)}"
                self.problems.append(("G006", line, message, "Write its keys directly."))
            elif key != _CUSTOM:
                self._add(_CANONICAL.get(key, key), value, line)

    def _add(self, key: str, value: Any, line: int) -> None:
        if value is None and key in (*NAME_LISTS, *RELATION_LISTS):
            return
        lines = {key: line} if line else {}
        _collect_lines(value, key, lines)
        normalised = value if key in (*NAME_LISTS, *RELATION_LISTS) else plain(value)
        if key in NAME_LISTS and isinstance(value, str) and (key, value) != ("tags", "*"):
            self.lone.add(key)
            normalised = [value]  # a lone name is a list of one; but the tags `*` mean every node, and `[*]` none
        if key not in self.values:
            self.values[key] = normalised
            self.lines.update(lines)
        elif plain(self.values[key]) != plain(normalised):
            other = f" (the other one is on line {self.line_of(key)})" if line else ""
            message = f"{key} is stated in two spellings with different values{other}"
            self.problems.append(("G007", line, message, "Keep one of the two."))

    def line_of(self, key: str) -> int:
        return self.lines.get(key, 0) or self.lines.get(key.partition(".")[0], 0) or self.line


def _collect_lines(value: Any, path: str, lines: dict[str, int]) -> None:
    if not isinstance(value, Marked):
        return
    for key, item in value.items():
        below = f"{path}.{key_text(key)}"
        lines[below] = line_of(value, str(key))
        _collect_lines(item, below, lines)


def _identity(given: _Attributes, report: Report, owner_label: str, position: int) -> tuple[str, bool]:
    """The task's id, and whether it was generated for a legacy entry. The id is empty after an error."""
    line = given.line_of("id")
    report.subject = f"entry {position}"
    if "id" in given.values:
        name = given.values.pop("id")
        if isinstance(name, str) and name.strip():
            return name, is_generated(name, given.values)
        hint = "Write it in quotes." if isinstance(name, int | float) else "Give the task an id."
        report.error("G002", line, f"the id of a task must be a string, not {in_words(name)}", hint)
        return "", False
    stage = given.values.get("stage")
    if isinstance(stage, str) and stage:
        return generated_id(owner_label, stage, position), True
    if stage is not None:
        hint = "Write for example post_deployment/100."
        report.misshapen(given.line_of("stage"), "stage must be the name of a stage", stage, hint)
    else:
        report.error("G002", line, "the task has no id", "Add `id:` with a name that no other task has.")
    return "", False


def generated_id(owner_label: str, stage: Any, position: int) -> str:
    """The id of the legacy entry at a `position` of a document, counted from 1."""
    return f"{owner_label}:{str(stage).partition('/')[0].strip()}#{position}"


def is_generated(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether `name` is an id of `generated_id`, as merges that were downloaded have it, and not an author's own.

    >>> staged = {"stage": "pre_deployment/5"}
    >>> [is_generated(name, staged) for name in ("lma:pre_deployment#1", "lma", "lma:pre_deployment#b")]
    [True, False, False]
    >>> is_generated("lma:pre_deployment#1", {**staged, "requires": ["a"]})  # which an old task cannot have
    False
    >>> is_generated("cluster:None#2", {}), is_generated("a:s#" + "9" * 5000, {"stage": "s"})
    (False, True)
    """
    stage, (place, _, number) = attributes.get("stage"), name.rpartition("#")
    is_stage = isinstance(stage, str) and bool(stage) and NOT_OF_LEGACY.isdisjoint(attributes)
    return is_stage and number.isdecimal() and place == generated_id(place.rpartition(":")[0], stage, 0)[:-2]


def _plain_attributes(values: Mapping[str, Any], line_of_key: Lines, report: Report) -> dict[str, Any]:
    """Convert the attributes to plain types, with names as strings. Only shapes are checked."""
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
        _check_strategy_type(values.get("parameters"), line_of_key, report)
    return attributes


def _is_expression(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("yaql_exp"), str)


def _names(key: str, value: Any, line: int, report: Report) -> Any:
    may_be_expressions = key in _WITH_EXPRESSIONS
    if (may_be_expressions and _is_expression(value)) or (key, value) == ("tags", "*"):
        return value
    if not isinstance(value, list | tuple):
        report.misshapen(line, f"{key} must be a list of names", value, f"Write {key}: [name].")
        return value
    for item, at in items_of(value, line):
        if not isinstance(_text(item), str) and not (may_be_expressions and _is_expression(item)):
            message = f"an item of {key} is {in_words(item)}, not a name"
            report.error("G006", at, message, "List the names of tasks." if may_be_expressions else "List names.")
    return list(map(_text, value))


def _relations(key: str, value: Any, line: int, report: Report) -> Any:
    shown = key.replace("_", "-")
    if _is_expression(value):
        return value
    if not isinstance(value, list):
        hint = f"Write {shown}: [{{name: task, role: role}}]."
        report.misshapen(line, f"{shown} must be a list of mappings", value, hint)
        return value
    return [_relation(shown, item, at, report) for item, at in items_of(value, line)]


def _relation(shown: str, item: Any, line: int, report: Report) -> Any:
    if _is_expression(item):
        return item
    line = line_of(item) or line
    if not isinstance(item, Mapping):
        hint = "Write {name: task, role: role}."
        report.error("G006", line, f"an entry of {shown} is {in_words(item)}, not a mapping", hint)
        return item
    entry = dict(item)
    if "name" not in entry:
        hint = "Add the `name:` of the task on the other nodes."
        report.error("G006", line, f"an entry of {shown} has no name", hint)
    else:
        entry["name"] = _text(entry["name"])
        if not (entry["name"] and isinstance(entry["name"], str)) and not _is_expression(entry["name"]):
            rule = f"name in {shown} must be the name of a task"
            report.misshapen(line_of(item, "name") or line, rule, entry["name"], "Write the id of a task.")
    for word in ("role", "tags"):
        if word in entry:
            entry[word] = _relation_roles(shown, word, entry[word], line_of(item, word) or line, report)
    if (policy := entry.get("policy", "all")) not in ("all", "any"):
        rule = f"policy in {shown} must be all or any"
        report.misshapen(line_of(item, "policy") or line, rule, policy, "Write all or any.")
    return entry


def _relation_roles(shown: str, word: str, value: Any, line: int, report: Report) -> Any:
    """The roles of a relation: a name, names, an expression, or null for the sync points."""
    if value is None or isinstance(value, str) or _is_expression(value):
        return value
    names = [_text(item) for item in value] if isinstance(value, list | tuple) else [_text(value)]
    if all(isinstance(name, str) for name in names):
        return names if isinstance(value, list | tuple) else names[0]
    report.misshapen(line, f"{word} in {shown} must be a role or a list of roles", value, "List names.")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Any) -> Any:
    return str(value) if _is_number(value) else value


def _check_type(value: Any, lines: Lines, report: Report) -> None:
    known = tuple(TaskType)
    if not isinstance(value, str):
        hint = "Write a type, or remove the key to override a task of another layer."
        report.misshapen(lines("type"), "type must be a string", value, hint)
    elif value not in known:
        hint = f"{did_you_mean(value, known, '')} Types: {', '.join(known)}.".lstrip()
        report.error("G004", lines("type"), f"unknown type {value!r}", hint)


def _check_version(value: Any, lines: Lines, report: Report) -> None:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        hint = "Write for example version: 2.1.0."
        report.misshapen(lines("version"), "version must be three numbers like 2.1.0", value, hint)


def _check_parameters(value: Any, lines: Lines, report: Report) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        hint = "Write its keys below it, indented."
        report.misshapen(lines("parameters"), "parameters must be a mapping", value, hint)
        return
    strategy = value.get("strategy")
    if strategy is None or _is_expression(strategy):
        return
    if not isinstance(strategy, Mapping):
        hint = "Write {type: parallel, amount: 10}."
        report.misshapen(lines("parameters.strategy"), "parameters.strategy must be a mapping", strategy, hint)
        return
    strategy_type = strategy.get("type")
    if "type" in strategy and strategy_type not in _STRATEGIES and not _is_expression(strategy_type):
        rule = "the type of parameters.strategy must be parallel or one_by_one"
        report.misshapen(lines("parameters.strategy.type"), rule, strategy_type, "Write parallel or one_by_one.")
    amount = strategy.get("amount", 0)
    if not _is_number(amount) and not _is_expression(amount):
        hint = "Write a number without quotes, or {yaql_exp: ...}."
        where = "parameters.strategy.amount"
        report.misshapen(lines(where), f"{where} must be a whole number", amount, hint)


def _check_strategy_type(parameters: Any, lines: Lines, report: Report) -> None:
    """Check that the strategy of a whole definition has a type; a partial one may change only the amount."""
    strategy = parameters.get("strategy") if isinstance(parameters, Mapping) else None
    if isinstance(strategy, Mapping) and "type" not in strategy and not _is_expression(strategy):
        message = "parameters.strategy has no type"
        report.error("G006", lines("parameters.strategy"), message, "Add type: parallel, or type: one_by_one.")


_CHECKS: dict[str, Callable[[Any, Lines, Report], None]] = {
    "type": _check_type,
    "version": _check_version,
    "parameters": _check_parameters,
}

"""Tasks: records of Nailgun and of task files to `model.task.Task`, and back.

Every alias dies here. Reading collects all that is wrong with a record; writing gives the spellings that Fuel
documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.model.document import Marked
from fuelclient.model.finding import Finding
from fuelclient.model.task import NAME_LISTS, RELATION_LISTS, Source, Task
from fuelclient.serializers.task_checks import check
from fuelclient.serializers.values import Report, key_text, kind, line_of, plain

_CANONICAL = {
    "task_name": "id",
    "role": "roles",
    "cross-depends": "cross_depends",
    "cross-depended-by": "cross_depended_by",
}
_WRITTEN = {"cross_depends": "cross-depends", "cross_depended_by": "cross-depended-by"}
_CUSTOM = "_custom"


def task_from(
    record: Any, *, file: str, owner_label: str, position: int, line: int = 0
) -> tuple[Task | None, list[Finding]]:
    """The task that `record` states, and everything that is wrong with it; no task when an error is.

    `file` names the document in messages, or is empty for a record that came from elsewhere: then
    `owner_label` says where it stands. An entry without id that states a stage is one of a plugin's
    `tasks.yaml`, and is named after `owner_label`, its stage and its `position` in the document.
    `line` is the record's, where the record itself does not know.
    """
    line = line_of(record) or line
    report = Report(file, owner_label)
    if not isinstance(record, Mapping):
        report.error("G006", line, f"entry {position} is {kind(record)}, not a task", "A task is a mapping with an id.")
        return None, report.findings
    stated = _Stated(line)
    stated.read(record)
    name, legacy = _identity(stated, report, owner_label, position)
    report.subject = f"task {name}" if name else f"entry {position}"
    report.task = name
    for code, at, message, hint in stated.problems:
        report.error(code, at, message, hint)
    attributes = check(stated.values, stated.line_of, report)
    if report.findings:
        return None, report.findings
    return Task(name, attributes, Source(file, line, stated.lines), legacy), []


def task_to(task: Task, *, with_id: bool = True) -> dict[str, Any]:
    """The record of `task`: its id, then what it states in the order in which it was stated.

    Without `with_id` a legacy entry is written as its author wrote it; other tasks have no identity but
    their id, which is written always.
    """
    record: dict[str, Any] = {"id": task.id} if with_id or not task.legacy else {}
    for attribute, value in task.attributes.items():
        record[_WRITTEN.get(attribute, attribute)] = value
    return record


class _Stated:
    """The attributes of a record under their canonical names, normalised, with the line of each."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.problems: list[tuple[str, int, str, str]] = []

    def read(self, record: Mapping[Any, Any]) -> None:
        """Take in `record`, and what older clients nested below `_custom`."""
        for stated_key, value in record.items():
            key = key_text(stated_key)
            line = line_of(record, str(stated_key)) or self.line
            if key == _CUSTOM and isinstance(value, Mapping):
                self.read(value)
            elif key == _CUSTOM and value is not None:
                message = f"_custom must be a mapping, not {kind(value)}"
                self.problems.append(("G006", line, message, "Write its keys directly."))
            elif key != _CUSTOM:
                self._take(_CANONICAL.get(key, key), value, line)

    def _take(self, key: str, value: Any, line: int) -> None:
        if value is None and key in (*NAME_LISTS, *RELATION_LISTS):
            return
        lines = {key: line} if line else {}
        _mark(value, key, lines)
        normal = value if key in RELATION_LISTS else _listed(value) if key in NAME_LISTS else plain(value)
        if key not in self.values:
            self.values[key] = normal
            self.lines.update(lines)
        elif plain(self.values[key]) != plain(normal):
            other = f" (the other one is on line {self.line_of(key)})" if line else ""
            message = f"{key} is stated in two spellings with different values{other}"
            self.problems.append(("G007", line, message, "Keep one of the two."))

    def line_of(self, key: str) -> int:
        return self.lines.get(key, 0) or self.lines.get(key.partition(".")[0], 0) or self.line


def _listed(value: Any) -> Any:
    """A lone name as a list of one, `*` included."""
    return [value] if isinstance(value, str) else value


def _mark(value: Any, path: str, lines: dict[str, int]) -> None:
    """Note the lines of the keys below `path`."""
    if not isinstance(value, Marked):
        return
    for key, item in value.items():
        below = f"{path}.{key_text(key)}"
        lines[below] = line_of(value, str(key))
        _mark(item, below, lines)


def _identity(stated: _Stated, report: Report, owner_label: str, position: int) -> tuple[str, bool]:
    """The task's id, and whether it was made up for a legacy entry; an empty id after an error."""
    line = stated.line_of("id")
    report.subject = f"entry {position}"
    if "id" in stated.values:
        name = stated.values.pop("id")
        if isinstance(name, str) and name.strip():
            return name, False
        hint = "Write it in quotes." if isinstance(name, int | float) else "Give the task an id."
        report.error("G002", line, f"the id of a task must be a text, not {kind(name)}", hint)
        return "", False
    stage = stated.values.get("stage")
    if isinstance(stage, str) and stage:
        return f"{owner_label}:{stage.partition('/')[0].strip()}#{position}", True
    if stage is not None:
        message = f"stage must be the name of a stage, not {kind(stage)}"
        report.error("G006", stated.line_of("stage"), message, "Write for example post_deployment/100.")
    else:
        report.error("G002", line, "the task has no id", "Add `id:` with a name that no other task has.")
    return "", False

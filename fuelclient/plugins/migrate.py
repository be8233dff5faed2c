"""Migrate a package of version 3 or 4 to version 5: make the changes that the checks ask for in the texts of its files,
and keep the comments, the order and the layout of all other lines.

Source: the lists in the specification "plugins-v5".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher, unified_diff
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark, YAMLError
from ruamel.yaml.tokens import CommentToken

from fuelclient import files
from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.files.writing import permitted
from fuelclient.graph.stage import parse_stage
from fuelclient.model.task import NOT_OF_LEGACY, TaskType
from fuelclient.plan.fleet import PRIMARY
from fuelclient.plugins.parts import has_version_2

__all__ = ["JOURNAL", "TARGET", "FileChange", "Migration", "apply", "finish", "migration_of"]

JOURNAL = ".fuel-migration.json"
"""The file that holds the new texts while they are written. Its name is hidden, so no built package contains it."""

TARGET = 5
_OLDEST_SOURCE = 3
_METADATA, _TASKS, _LEGACY, _ROLES = "metadata.yaml", "deployment_tasks.yaml", "tasks.yaml", "node_roles.yaml"
_OLDEST_FUEL = 8
_FUEL = "9.0"
_CHECK_FIRST = "Correct it first: fuel2 plugins check lists what is wrong."


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of a package before and after; an empty text means that there is no such file."""

    path: Path
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Migration:
    """The changes of a package, and notes for its author about what to look at."""

    changes: tuple[FileChange, ...]
    notes: tuple[str, ...]

    def diff(self) -> str:
        lines: list[str] = []
        for change in self.changes:
            before, after = change.before.splitlines(keepends=True), change.after.splitlines(keepends=True)
            new = str(change.path) if change.after else "/dev/null"
            lines += unified_diff(before, after, str(change.path) if change.before else "/dev/null", new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def apply(migration: Migration) -> None:
    """Write the changes: each file whole, and all of them or none.

    Raise what `files.write` raises, after the files that were already written have been restored. If this process
    is killed, `finish` writes the rest.
    """
    if not migration.changes:
        return
    directory = migration.changes[0].path.parent
    journal = directory / JOURNAL
    after = {str(change.path.relative_to(directory)): change.after for change in migration.changes}
    _put(journal, json.dumps(after))
    done: list[FileChange] = []
    try:
        for change in migration.changes:
            _put(change.path, change.after)
            done.append(change)
    except BaseException:
        for change in reversed(done):
            _put(change.path, change.before)
        raise
    finally:
        _put(journal, "")


def finish(directory: Path) -> bool:
    """Write the rest of a migration that was killed. Return false if there was none."""
    journal = directory / JOURNAL
    try:
        changes: dict[str, str] = json.loads(journal.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    for name, text in changes.items():
        if text or (directory / name).exists():
            _put(directory / name, text)
    _put(journal, "")
    return True


def _put(path: Path, text: str) -> None:
    if text:
        files.write(str(path), text, force=True, shared=True)
    else:
        with permitted(str(path), to="removed"):
            path.unlink()


def migration_of(directory: Path, *, fix: bool = False) -> Migration:
    """Compute the changes that bring the package in `directory` to version 5; nothing is written.

    With `fix`, the package must have version 5 or later, and keeps its version. Raise `UsageError` for another version,
    and `InvalidDocument` for a file that cannot be read or is not the list or mapping that it should be.
    """
    editors: dict[Path, Editor] = {}

    def open_file(name: str, shape: type | None, empty: str = "") -> Any:
        """Read a file whose data may be changed in place. `empty` stands for a file that is missing or has no data."""
        path = directory / name
        try:
            editors[path] = Editor(path.read_text(encoding="utf-8") if path.exists() else "", empty)
        except (OSError, ValueError) as error:
            hint = f"Run fuel2 plugins check {directory}."
            raise InvalidDocument(f"{path} cannot be read, so it is not changed.", hint=hint) from error
        data = editors[path].data
        return data if shape is None else _require_shape(data, shape, path)

    metadata = open_file(_METADATA, None)
    if not isinstance(metadata, Mapping):
        raise InvalidDocument(f"{directory / _METADATA} is not a mapping.", hint="Name the directory of a package.")
    _require_version(str(metadata.get("package_version")), fix=fix)
    notes: list[str] = []
    if not fix:
        _migrate_version(metadata, notes)
    tasks, roles = open_file(_TASKS, list, "[]\n"), open_file(_ROLES, dict, "{}\n")
    graph = Graph(str(metadata.get("name")), tasks, roles, [] if fix else open_file(_LEGACY, list, "[]\n"))
    graph.migrate()
    changes = []
    for path, editor in editors.items():
        after = "" if path.name == _LEGACY else editor.text()
        if after.strip() not in ("[]", "{}") and after != editor.written:
            changes.append(FileChange(path, editor.written, after))
    return Migration(tuple(changes), (*notes, *graph.notes))


def _require_version(given: str, *, fix: bool) -> None:
    major = _major(given)
    if fix and major < TARGET:
        hint = "Migrate it: fuel2 plugins migrate DIR --to 5."
        raise UsageError(f"Only packages of version {TARGET} or later are fixed, and this one has {given}.", hint=hint)
    if not fix and not _OLDEST_SOURCE <= major < TARGET:
        hint = "For packages of version 5, use: fuel2 plugins check DIR --fix."
        raise UsageError(f"A package of version {given} cannot be migrated, only one of version 3 or 4.", hint=hint)


def _major(version: Any) -> int:
    """The first number of a version, or -1 if it does not begin with a number."""
    number = str(version).partition(".")[0]
    return int(number) if number.isdecimal() else -1


def _require_shape(data: Any, shape: type, path: Path) -> Any:
    if not isinstance(data, shape):
        message = f"{path} is not a {'list' if shape is list else 'mapping'}, and so nothing is changed."
        raise InvalidDocument(message, hint=_CHECK_FIRST)
    for record in data if isinstance(data, list) else ():
        if getattr(record, "merge", None):  # it has keys of another task, and these may be changed
            message = f"{path}: a task takes keys from another one with <<, so nothing is changed."
            raise InvalidDocument(message, hint="Write its keys out first.")
        if isinstance(record, Mapping) and isinstance(record.get("id"), list | Mapping):
            message = f"{path}: the id of a task is not a string, so nothing is changed."
            raise InvalidDocument(message, hint=_CHECK_FIRST)
    return data


def _migrate_version(metadata: Any, notes: list[str]) -> None:
    """Change the package version, and remove the versions of Fuel that the new one does not support."""
    metadata["package_version"] = type(metadata["package_version"])("5.0.0")
    metadata.setdefault("is_hotpluggable", False)
    fuel = metadata.get("fuel_version")
    if not isinstance(fuel, list):
        return
    old = [version for version in fuel if 0 <= _major(version) < _OLDEST_FUEL]
    for version in old:
        fuel.remove(version)
    if old:
        left = f"fuel_version is now {_FUEL}; try the package there" if not fuel else "it was removed from fuel_version"
        notes.append(f"Packages of version 5 do not run on Fuel {', '.join(map(str, old))}: {left}.")
    if not fuel:
        fuel.append(_FUEL)


_INTERNAL = (TaskType.GROUP.value, TaskType.STAGE.value, TaskType.SKIPPED.value)
_VERSION = "2.0.0"
_NEXT_SYNC_POINTS = {"pre_deployment": "deploy_start"}
"""For a stage, the sync point after its tasks, which every release has."""

_SYNC_POINTS = frozenset({"deploy_start", "deploy_end"})
"""Nearly every group depends on these, so such a dependency needs no note."""


@dataclass(slots=True)
class Graph:
    """The tasks, roles and legacy entries of a package, which `migrate` changes in place.

    `notes` are sentences about what cannot be carried over.
    """

    name: str
    tasks: Any
    roles: Any
    legacy: Any
    notes: list[str] = field(default_factory=list)

    def migrate(self) -> None:
        moved = self._move_legacy()
        for task in self._mappings():
            self._name_roles(task)
        self._dissolve_groups([task for task in self._mappings() if task.get("type") == TaskType.GROUP])
        self._order_stages(first=moved)
        for task in self._mappings():
            if task.get("type") and task.get("type") not in _INTERNAL and not has_version_2(task):
                if "version" not in task:
                    task.insert([*task].index("type") + 1, "version", _VERSION)
                task["version"] = _VERSION

    def _mappings(self) -> list[Any]:
        return [task for task in self.tasks if isinstance(task, Mapping)]

    def _move_legacy(self) -> set[str]:
        """Turn the entries of `tasks.yaml`, most of which have no ids, into tasks at the end, and return their ids."""
        known = {task.get("id") for task in self._mappings()}
        moved = []
        for number, entry in enumerate((entry for entry in self.legacy if isinstance(entry, Mapping)), 1):
            task_id = entry.get("id") or f"{self.name}-{number}"
            while task_id in known:
                task_id = f"{task_id}-legacy"
            known.add(task_id)
            ignored = [] if has_version_2(entry) else [k for k in entry if str(k).replace("-", "_") in NOT_OF_LEGACY]
            moved.append(
                CommentedMap({"id": task_id, **{key: entry[key] for key in entry if key not in ("id", *ignored)}})
            )
            if ignored:
                self.notes.append(f"{', '.join(ignored)} of {task_id} had no effect in tasks.yaml, and is left out.")
        self.tasks.extend(moved)
        if moved:
            self.notes.append(f"The entries of tasks.yaml are now tasks ({len(moved)}), and the file is removed.")
        return {task["id"] for task in moved}

    def _name_roles(self, task: Any) -> None:
        """Turn `role` and `groups` into `roles`. Groups count only for a task without roles, and a record that
        overrides a task of the release does not show whether that has roles."""
        for old in ("role", "groups"):
            if old not in task or (old == "groups" and not task.get("type")):
                continue
            if old == "groups" and any(_names(task.get(key)) for key in ("roles", "tags")):
                self.notes.append(f"groups of {task.get('id')} had no effect beside its roles, and is left out.")
                del task[old]
            elif _names(task.get("roles")):
                del task[old]
            else:
                task.pop("roles", None)
                position, comment = [*task].index(old), task.ca.items.pop(old, None)
                task.insert(position, "roles", task.pop(old))
                if comment is not None:  # beside the key
                    task.ca.items["roles"] = comment
        if task.get("roles") in ("*", ["*"]):
            task["roles"] = "*"
        elif "roles" in task and not isinstance(task["roles"], list):
            task["roles"] = [task["roles"]]

    def _dissolve_groups(self, groups: list[Any]) -> None:
        """Replace the groups by the `tasks` of roles, or by the roles of tasks if that would not be equivalent."""
        placed: dict[str, list[str]] = {}
        for group in groups:
            for name in _names(group.get("tasks")):
                placed.setdefault(str(name), []).extend(map(str, _names(group.get("roles"))))
            if set(_names(group.get("requires")) + _names(group.get("required_for"))) - _SYNC_POINTS:
                self.notes.append(f"The group {group.get('id')} had dependencies of its own; check the order.")
            remove_item(self.tasks, group)
        tasks = {task.get("id"): task for task in self._mappings()}
        for name, words in placed.items():
            left = self._place_by_roles(name, list(dict.fromkeys(words)), is_own=name in tasks)
            if left and name in tasks:
                key = "tags" if _names(tasks[name].get("tags")) else "roles"
                listed = _names(tasks[name].get(key))
                tasks[name][key] = "*" if "*" in (*listed, *left) else _flow(list(dict.fromkeys((*listed, *left))))
            elif left:
                self.notes.append(
                    f"A group placed the task {name} of the release on {', '.join(left)}; nothing does now."
                )

    def _place_by_roles(self, name: str, words: list[str], *, is_own: bool) -> list[str]:
        """List a task under the roles that it is placed on, and return the words that this does not cover.

        A role places its tasks on its primary node and on the others. A task of the package that runs on only one of
        these keeps its own roles; a task of the release runs on both from now on.
        """
        left = list(words)
        for role in dict.fromkeys(word.removeprefix(PRIMARY) for word in words):
            given = self.roles.get(role)
            if not isinstance(given, Mapping):
                continue
            nested = given.get("metadata")
            has_primary = given.get("has_primary", isinstance(nested, Mapping) and nested.get("has_primary"))
            all_words = [f"{PRIMARY}{role}", role] if has_primary else [role]
            missing = [word for word in all_words if word not in words]
            if missing and is_own:
                continue
            if missing:
                self.notes.append(f"The task {name} of the release now runs on {' and '.join(all_words)}.")
            listed = _names(given.get("tasks"))
            if name not in listed:
                self.roles[role]["tasks"] = CommentedSeq([*listed, name])
            left = [word for word in left if word.removeprefix(PRIMARY) != role]
        return left

    def _order_stages(self, first: Collection[str]) -> None:
        """Turn the order of stages into a chain of dependencies, because version 2.0.0 has no stages.

        Each task waits for the one before on all nodes, as legacy tasks do; `requires` only orders tasks of one node.
        Of the tasks with one stage and priority, those of `first` come before the others, as the entries of
        `tasks.yaml` did.
        """
        legacy_tasks = []
        for index, task in enumerate(self._mappings()):
            if isinstance(task.get("stage"), str) and task.get("type") not in _INTERNAL and not has_version_2(task):
                stage = parse_stage(task["stage"])
                legacy_tasks.append((stage.name, stage.priority, (task.get("id") not in first, index), task))
        previous: dict[str, str] = {}
        for name, _, _, task in sorted(legacy_tasks, key=lambda item: item[:3]):
            del task["stage"]
            if name in previous:
                dependencies = task.setdefault("cross-depends", CommentedSeq())
                if not any(isinstance(each, Mapping) and each.get("name") == previous[name] for each in dependencies):
                    dependencies.append(CommentedMap({"name": previous[name]}))
            else:
                _add(task, "requires", f"{name}_end")
            if name in _NEXT_SYNC_POINTS:
                _add(task, "required_for", _NEXT_SYNC_POINTS[name])
            previous[name] = str(task.get("id"))


def _names(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _add(task: Any, key: str, name: str) -> None:
    listed = _names(task.get(key))
    if name not in listed:
        task[key] = _flow([*listed, name])


def _flow(names: list[Any]) -> CommentedSeq:
    """Make a list that is written on one line."""
    listed = CommentedSeq(names)
    listed.fa.set_flow_style()
    return listed


_WIDTH = 2**16
_LIST_ITEM = re.compile(
    r"^(?P<key> *)[^\s#-][^:]*:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*(?P<item> *)-(?P<gap> +)", re.MULTILINE
)


class Editor:
    """A YAML text, as `written`, whose `data` may be changed in place. `text()` returns the text with the changes.

    Raise `ValueError` if the text cannot be read.
    """

    def __init__(self, text: str, empty: str = "") -> None:
        """`empty` is the YAML of the data for a text without data."""
        self.written = self._before = text
        self.data: Any = self._loaded(text)
        if self.data is None and empty:
            self._before = f"{text}{empty}"
            self.data = self._loaded(self._before)
            self.data.fa.set_block_style()

    def text(self) -> str:
        """Write the changes of `data` into the text, with the layout of all other lines."""
        if (unchanged := self._loaded(self._before)) == self.data:
            return self._before
        after = self._dumped(self.data)
        kept = with_layout(self._before, self._dumped(unchanged), after) if unchanged else after
        return kept if _plain(kept) == _plain(after) else after

    def _loaded(self, text: str) -> Any:
        try:
            return self._yaml.load(text)
        except YAMLError as error:
            raise ValueError(str(error)) from error

    @cached_property
    def _yaml(self) -> YAML:
        """A reader and printer with the indentation of the text."""
        printer = YAML()
        printer.preserve_quotes = True
        printer.width = _WIDTH
        printer.allow_duplicate_keys = True
        printer.explicit_start = self._before.lstrip().startswith("---")
        item = _LIST_ITEM.search(self._before)
        offset = max(len(item["item"]) - len(item["key"]), 0) if item else 0
        printer.indent(mapping=2, sequence=offset + 2, offset=offset)
        return printer

    def _dumped(self, data: Any) -> str:
        stream = StringIO()
        self._yaml.dump(data, stream)
        dumped = stream.getvalue()
        if isinstance(data, list):  # its items are never indented, unlike those of lists below keys
            margin = " " * self._yaml.sequence_dash_offset
            return "".join(line.removeprefix(margin) for line in dumped.splitlines(keepends=True))
        return dumped


def remove_item(items: Any, item: Any) -> None:
    """Remove an item from a list, and keep the comments between it and the next one."""
    index = next(number for number, other in enumerate(items) if other is item)
    last = max(_comments(item), key=lambda token: token.start_mark.line, default=None)
    between = last.value.partition("\n")[2] if last is not None else ""
    del items[index]
    if between.strip() and index < len(items):
        token = CommentToken(between, CommentMark(0), None)
        given = items.ca.items.setdefault(index, [None, None, None, None])
        given[1] = [token, *(given[1] or [])]


def _comments(data: Any) -> Iterator[Any]:
    """Yield all comments in a list or mapping that end a line."""
    if not isinstance(data, CommentedMap | CommentedSeq):
        return
    for tokens in data.ca.items.values():
        yield from (token for token in tokens if isinstance(token, CommentToken))
    for value in data.values() if isinstance(data, CommentedMap) else data:
        yield from _comments(value)


def with_layout(written: str, rendered: str, changed: str) -> str:
    """Return `changed`, with the layout of `written` for all lines that it shares with `rendered`.

    `rendered` and `changed` come from one printer, before and after a change; `written` is the author's text.

    >>> with_layout("a:   1\\n\\nb: 2\\n", "a: 1\\nb: 2\\n", "a: 1\\nb: 3\\n")
    'a:   1\\n\\nb: 3\\n'
    """
    theirs, ours, after = (text.splitlines(keepends=True) for text in (written, rendered, changed))
    layout = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    lines: list[str] = []
    for tag, start, end, new_start, new_end in SequenceMatcher(None, ours, after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += after[new_start:new_end]
            continue
        for kind, first, last, their_first, their_last in layout:
            is_inside = start <= first and last <= end and (first < end or end == len(ours))
            is_theirs = is_inside and kind != "equal"
            lines += theirs[their_first:their_last] if is_theirs else ours[max(first, start) : min(last, end)]
    return "".join(lines)


def _plain(text: str) -> Any:
    """Read a text without comments and layout; None if that is impossible."""
    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        return reader.load(text)
    except YAMLError:
        return None

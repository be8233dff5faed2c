"""Bring a package of version 3 or 4 to version 5: the changes that the checks ask for, as new texts of its files.

Source: the lists in the specification "plugins-v5".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from fuelclient import files
from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.files.writing import permitted
from fuelclient.plugins.migrate.round_trip import Editor
from fuelclient.plugins.migrate.tasks import Graph

__all__ = ["JOURNAL", "TARGET", "Change", "Migration", "apply", "finish", "migrated"]

JOURNAL = ".fuel-migration.json"
"""The file that has the new texts while they are written. Its name is hidden, so no built package contains it."""

TARGET = 5
_OLDEST_SOURCE = 3
_METADATA, _TASKS, _LEGACY, _ROLES = "metadata.yaml", "deployment_tasks.yaml", "tasks.yaml", "node_roles.yaml"
_OLDEST_FUEL = 8
_FUEL = "9.0"
_CHECK_FIRST = "Correct it first: fuel2 plugins check lists what is wrong."


@dataclass(frozen=True, slots=True)
class Change:
    """A file of a package before and after; an empty text means that there is no such file."""

    path: Path
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Migration:
    """The changes of a package, and what its author has to look at, in sentences."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        lines: list[str] = []
        for change in self.changes:
            before, after = change.before.splitlines(keepends=True), change.after.splitlines(keepends=True)
            new = str(change.path) if change.after else "/dev/null"
            lines += unified_diff(before, after, str(change.path) if change.before else "/dev/null", new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def apply(migration: Migration) -> None:
    """Write the changes: each file whole, and all of them or none.

    Raise what `files.write` raises, after the files that were written before have their old texts again. If this
    process is killed, `finish` writes the rest.
    """
    if not migration.changes:
        return
    directory = migration.changes[0].path.parent
    journal = directory / JOURNAL
    after = {str(change.path.relative_to(directory)): change.after for change in migration.changes}
    _put(journal, json.dumps(after))
    done: list[Change] = []
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
    """Write what a migration that was killed has left, and return whether there was one."""
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


@dataclass(slots=True)
class _Files:
    """The files of a package that are edited."""

    directory: Path
    editors: dict[str, Editor] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)

    def open(self, name: str, empty: str = "") -> Any:
        """Return the data of a file that may be changed in place; of `empty` if there is none or it has no data.

        Raise `InvalidDocument` if it cannot be read.
        """
        path = self.directory / name
        try:
            self.before[name] = path.read_text(encoding="utf-8") if path.exists() else ""
            self.editors[name] = Editor(self.before[name], empty)
        except (OSError, ValueError) as error:
            hint = f"Run fuel2 plugins check {self.directory}."
            raise InvalidDocument(f"{path} cannot be read, and so it is not changed.", hint=hint) from error
        return self.editors[name].data


def migrated(directory: Path, *, fix: bool = False) -> Migration:
    """Return the changes that bring the package in `directory` to version 5; nothing is written.

    With `fix`, the package has version 5 or later, and keeps it. Raise `UsageError` for another version, and
    `InvalidDocument` for a file that cannot be read or is not of the shape that its name promises.
    """
    edited = _Files(directory)
    metadata = edited.open(_METADATA)
    if not isinstance(metadata, Mapping):
        raise InvalidDocument(f"{directory / _METADATA} is not a mapping.", hint="Name the directory of a package.")
    _require_version(str(metadata.get("package_version")), fix=fix)
    notes: list[str] = []
    if not fix:
        _version(metadata, notes)
    tasks = _shaped(edited.open(_TASKS, "[]\n"), list, directory / _TASKS)
    roles = _shaped(edited.open(_ROLES, "{}\n"), dict, directory / _ROLES)
    legacy = [] if fix else _shaped(edited.open(_LEGACY, "[]\n"), list, directory / _LEGACY)
    graph = Graph(str(metadata.get("name")), tasks, roles, legacy)
    graph.migrate()
    changes = []
    for name, editor in edited.editors.items():
        after = "" if name == _LEGACY else editor.text()
        if after.strip() in ("[]", "{}"):
            after = edited.before[name]
        if after != edited.before[name]:
            changes.append(Change(directory / name, edited.before[name], after))
    return Migration(tuple(changes), (*notes, *graph.notes))


def _require_version(stated: str, *, fix: bool) -> None:
    major = int(stated.partition(".")[0]) if stated.partition(".")[0].isdecimal() else 0
    if fix and major < TARGET:
        hint = "Migrate it: fuel2 plugins migrate DIR --to 5."
        raise UsageError(f"Only packages of version {TARGET} or later are fixed, and this one has {stated}.", hint=hint)
    if not fix and not _OLDEST_SOURCE <= major < TARGET:
        hint = "Packages of version 5 are mended by: fuel2 plugins check DIR --fix."
        raise UsageError(f"A package of version {stated} cannot be migrated, only one of version 3 or 4.", hint=hint)


def _shaped(data: Any, shape: type, path: Path) -> Any:
    if not isinstance(data, shape):
        message = f"{path} is not a {'list' if shape is list else 'mapping'}, and so nothing is changed."
        raise InvalidDocument(message, hint=_CHECK_FIRST)
    for record in data if isinstance(data, list) else ():
        if getattr(record, "merge", None):  # its keys are those of another task, which are about to change
            message = f"{path}: a task takes keys of another one by <<, and so nothing is changed."
            raise InvalidDocument(message, hint="Write its keys out first.")
        if isinstance(record, Mapping) and isinstance(record.get("id"), list | Mapping):
            message = f"{path}: the id of a task is not a string, and so nothing is changed."
            raise InvalidDocument(message, hint=_CHECK_FIRST)
    return data


def _version(metadata: Any, notes: list[str]) -> None:
    """Change the package version, and the versions of Fuel that the new one does not support."""
    metadata["package_version"] = type(metadata["package_version"])("5.0.0")
    if "is_hotpluggable" not in metadata:
        metadata["is_hotpluggable"] = False
    fuel = metadata.get("fuel_version")
    if not isinstance(fuel, list):
        return
    old = [version for version in fuel if str(version).partition(".")[0].isdecimal()
           and int(str(version).partition(".")[0]) < _OLDEST_FUEL]  # fmt: skip
    for version in old:
        fuel.remove(version)
    if old:
        left = f"fuel_version is now {_FUEL}; try the package there" if not fuel else "it was removed from fuel_version"
        notes.append(f"Packages of version 5 do not run on Fuel {', '.join(map(str, old))}: {left}.")
    if not fuel:
        fuel.append(_FUEL)

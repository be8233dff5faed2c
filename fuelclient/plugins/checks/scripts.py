"""P064: manifests and scripts that tasks name and the package does not have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from fuelclient.model.finding import Finding, Severity
from fuelclient.model.task import TaskType
from fuelclient.plugins.checks.subject import Record, Subject

_SCRIPT = re.compile(r"[\w.@+-][\w./@+-]*\.(?:sh|bash|py|rb|pl|pp)")
_KEY = "deployment_scripts_path"
_DEFAULT = "deployment_scripts"
_PLACEHOLDERS = frozenset({".gitkeep", ".gitignore", ".keep", "README.md"})


def check(subject: Subject) -> Iterator[Finding]:
    """A warning for every manifest and script that is in no directory of scripts; one warning for all of them where
    these directories hold nothing.

    Absolute paths are left out, as they name files of the node, and so are tasks with a `cwd` of their own.
    """
    if subject.metadata is None:
        return
    folders = _folders(subject)
    present = {
        PurePosixPath(name).relative_to(folder).as_posix() for folder in folders for name in subject.files.below(folder)
    }
    tasks = [*subject.records("deployment_tasks", "release_tasks"), *_legacy(subject)]
    missing = [(task, name) for task in tasks for name in _named(task) if PurePosixPath(name).as_posix() not in present]
    if missing and not {PurePosixPath(name).name for name in present} - _PLACEHOLDERS:
        task, name = missing[0]
        message = f"{' and '.join(folders)} holds no scripts, and tasks name {len(missing)} of them, first {name}"
        yield _warning(task, message, f"Put the scripts below {folders[0]}.")
        return
    for task, name in missing:
        message = f"task {task.name} runs {name}, which is not below {' or '.join(folders)}"
        yield _warning(task, message, "Add the file, or correct the path.")


def _warning(task: Record, message: str, hint: str) -> Finding:
    place = task.place("parameters")
    parameters = Record(task.data["parameters"], task.file, place.line, task.name)
    return Finding(Severity.WARNING, "P064", message, parameters.place("puppet_manifest", "cmd"), task.name, hint)


def _folders(subject: Subject) -> list[str]:
    stated = [record.data.get(_KEY) for record in subject.releases]
    found = dict.fromkeys(
        PurePosixPath(name).as_posix()
        for name in stated
        if isinstance(name, str) and name and not PurePosixPath(name).is_absolute() and "\0" not in name
    )
    return [name for name in found if ".." not in PurePosixPath(name).parts] or [_DEFAULT]


def _legacy(subject: Subject) -> Iterator[Record]:
    return subject.records("tasks") if subject.major < 5 else iter(())


def _named(task: Record) -> Iterator[str]:
    """The files below the directory of scripts that a task runs."""
    parameters, kind = task.data.get("parameters"), task.data.get("type")
    if not isinstance(parameters, dict) or "cwd" in parameters:
        return
    manifest, command = parameters.get("puppet_manifest"), parameters.get("cmd")
    if kind == TaskType.PUPPET and isinstance(manifest, str) and manifest and not manifest.startswith("/"):
        if not manifest.isspace():
            yield manifest
    elif kind == TaskType.SHELL and isinstance(command, str):
        yield from _script(command)


def _script(command: str) -> Iterator[str]:
    """The first script that a command names by a relative path, if it is as plain as `bash deploy.sh x`."""
    try:
        words = shlex.split(command[:4096])
    except ValueError:  # an open quote; the shell will say so
        return
    for word in words[:3]:
        name = word.removeprefix("./")
        if _SCRIPT.fullmatch(name):
            yield name
            return

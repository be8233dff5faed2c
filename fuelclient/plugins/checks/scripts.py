"""P064: manifests and scripts that tasks run, but that the package does not contain; P069: those that cannot run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath

from fuelclient.model.finding import Finding, Severity
from fuelclient.model.plugin import SCRIPTS
from fuelclient.model.task import TaskType
from fuelclient.plugins.package_files import stays_below
from fuelclient.plugins.parts import Record, strings_in
from fuelclient.plugins.reading import Reading

_SCRIPT = re.compile(r"[\w.@+-][\w./@+-]*\.(?:sh|bash|py|rb|pl|pp)")
_DEFAULT = "deployment_scripts"
_BEGINNING = 65536
"""So much of a script is looked at."""
_PLACEHOLDERS = frozenset({".gitkeep", ".gitignore", ".keep", "README.md"})


def check(package: Reading) -> Iterator[Finding]:
    """Yield a warning for every manifest and script that is not in a directory of scripts, or a single one if those
    directories are empty, and for every script there that no node could run.

    Absolute paths are skipped, because they name files on the node, and so are tasks with a `cwd` of their own.
    """
    folders = _folders(package)
    present = {
        PurePosixPath(name).relative_to(folder).as_posix(): package.files.directory / name
        for folder in folders
        for name in package.files.below(folder)
    }
    types = ("deployment_tasks", "release_tasks", *package.legacy)
    tasks = [task for file_type in types for task in package.records(file_type)]
    missing = [(task, name) for task in tasks for name in _named(task) if PurePosixPath(name).as_posix() not in present]
    if missing and not {PurePosixPath(name).name for name in present} - _PLACEHOLDERS:
        task, name = missing[0]
        message = f"{' and '.join(folders)} contains no scripts, but tasks run {len(missing)}, for example {name}"
        yield _warning(task, message, f"Put the scripts below {folders[0]}.")
        return
    for task, name in missing:
        message = f"task {task.name} runs {name}, which is not below {' or '.join(folders)}"
        yield _warning(task, message, "Add the file, or correct the path.")
    for task in tasks:
        for name in _named(task):
            path = present.get(PurePosixPath(name).as_posix())
            if path is not None and task.type == TaskType.SHELL:
                yield from _unusable(task, name, path)


def _unusable(task: Record, name: str, path: Path) -> Iterator[Finding]:
    """Yield a warning for a script that is run by its path and may not be, and for one with lines of Windows."""
    command = task.data["parameters"]["cmd"]
    if shlex.split(command[:4096])[0].removeprefix("./") == name and not path.stat().st_mode & 0o100:
        yield _warning(task, f"task {task.name} runs {name}, which is not executable", f"Run chmod +x {path}.", "P069")
    with suppress(OSError), path.open("rb") as stream:
        if b"\r\n" in stream.read(_BEGINNING):
            message = f"task {task.name} runs {name}, whose lines end with CRLF, which shells and env take for text"
            yield _warning(task, message, f"Run sed -i 's/\\r$//' {path}.", "P069")


def _warning(task: Record, message: str, hint: str, code: str = "P064") -> Finding:
    return task.below("parameters").finding(Severity.WARNING, code, message, hint, "puppet_manifest", "cmd")


def _folders(package: Reading) -> list[str]:
    stated = strings_in([record.data.get(SCRIPTS) for record in package.releases])
    return list(dict.fromkeys(PurePosixPath(name).as_posix() for name in stated if stays_below(name))) or [_DEFAULT]


def _named(task: Record) -> Iterator[str]:
    """Yield the files below the directory of scripts that a task runs."""
    parameters = task.data.get("parameters")
    if not isinstance(parameters, dict) or "cwd" in parameters:
        return
    manifest, command = parameters.get("puppet_manifest"), parameters.get("cmd")
    if task.type == TaskType.PUPPET and isinstance(manifest, str) and manifest and not manifest.startswith("/"):
        if not manifest.isspace():
            yield manifest
    elif task.type == TaskType.SHELL and isinstance(command, str):
        yield from _script(command)


def _script(command: str) -> Iterator[str]:
    """Yield the script with a relative path that a simple command such as `bash deploy.sh x` runs."""
    try:
        words = shlex.split(command[:4096])
    except ValueError:  # an open quote, which the shell will report
        return
    yield from islice(filter(_SCRIPT.fullmatch, (word.removeprefix("./") for word in words[:3])), 1)

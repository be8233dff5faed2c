"""Trees: the directories in which Fuel keeps a graph, one `tasks.yaml` per module."""

from __future__ import annotations

import os
from typing import NoReturn

from fuelclient.errors import NotFound, Unavailable, UsageError

TASK_FILES = ("tasks.yaml", "tasks.yml")
METADATA_FILES = ("metadata.yaml", "metadata.yml")


def task_files(directory: str) -> list[str]:
    """Every `tasks.yaml` (or `tasks.yml`) in `directory` and below, parents first, siblings by name.

    Directories behind symbolic links count; one that a link leads back to is not entered again. The order is
    the same on every machine, other than that of the original client. Raises `NotFound` when there is none.
    """
    _require_directory(directory)
    found: list[str] = []
    seen: set[str] = set()
    for folder, folders, names in os.walk(directory, followlinks=True, onerror=_refuse):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        found += [os.path.join(folder, name) for name in TASK_FILES if name in names]
    if not found:
        raise NotFound("file", os.path.join(directory, "**", "tasks.yaml"), hint="Name the directory above them.")
    return found


def metadata_file(directory: str) -> str | None:
    """The `metadata.yaml` that stands in `directory` itself, or None: a graph does not need one."""
    _require_directory(directory)
    for name in METADATA_FILES:
        path = os.path.join(directory, name)
        if os.path.lexists(path):
            return path
    return None


def _require_directory(directory: str) -> None:
    if not os.path.lexists(directory):
        raise NotFound("directory", directory, hint="Check the path.")
    if not os.path.isdir(directory):
        raise UsageError(f"{directory} is not a directory.", hint="A single file is given with --file.")


def _refuse(error: OSError) -> NoReturn:
    reason = (error.strerror or str(error)).lower()
    raise Unavailable(f"{error.filename} cannot be read: {reason}.", hint="Check its permissions.") from error

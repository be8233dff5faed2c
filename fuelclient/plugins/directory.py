"""Directories of packages: what has to hold of one before anything in it is looked at."""

from __future__ import annotations

import os
from pathlib import Path

from fuelclient.errors import NotFound, Unavailable, UsageError


def require_directory(directory: Path) -> None:
    """Nothing happens when there is such a directory and its files can be looked at.

    Raises `NotFound` when nothing is there, `UsageError` for what is no directory, and `Unavailable` for one that the
    permissions keep closed.
    """
    hint = "Name the directory that holds metadata.yaml."
    try:
        is_there, is_directory = os.path.lexists(directory), directory.is_dir()
    except (OSError, ValueError):  # a name that the system cannot look up
        is_there = is_directory = False
    if is_there and not is_directory:
        raise UsageError(f"{directory} is no directory of a package.", hint=hint)
    if not is_there:
        raise NotFound("package directory", str(directory), hint=hint)
    if not os.access(directory, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise Unavailable(
            f"Package directory {directory} cannot be read: permission denied.", hint="Check its permissions."
        )

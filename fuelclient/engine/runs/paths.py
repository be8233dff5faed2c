"""The paths of files that runs keep next to the engine file and on nodes.

Spools are named after the uuid of their run, because ids are not unique across engine files: a spool of another file
must not be mistaken for a result of this run.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from fuelclient.errors import Unavailable
from fuelclient.model.run import Run

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_ON_NODES = "/var/tmp/fuel2-"  # noqa: S108 - it survives a restart; the spool checks who owns it

RESERVE = "reserve"
"""The name of the file in a spool that keeps room on the disk until the end of the run is stored."""

_TAIL_BYTES = 4096
"""Bytes at the end of a log that are searched for its last line."""


def runs_path(engine: str) -> Path:
    """The directory of all runs of an engine file."""
    return Path(f"{os.path.realpath(engine)}.runs")


def nodes_path(engine: str) -> Path:
    """The parent of the directories that serve as nodes of an engine file, for the executor `directory`."""
    return Path(f"{os.path.realpath(engine)}.nodes")


def valid_uuid(uuid: str) -> str:
    """Return the uuid of a run if it is valid, else raise `Unavailable`. An engine file may come from someone else, and
    directories with these names are deleted."""
    if not _UUID.fullmatch(uuid):
        raise Unavailable(f"The engine file names a run {uuid!r}, which is no UUID.", hint="Restore a backup.")
    return uuid


def spool_path(engine: str, parent: Run) -> Path:
    """The directory where the commands of a run leave their results on this machine."""
    return runs_path(engine) / valid_uuid(parent.uuid)


def remove_path(path: Path) -> None:
    """Remove a file or a directory if it exists, while another process may remove files in it: the end of a run is
    stored before its runner removes its reserve. Raise `OSError` if something cannot be removed."""
    while True:
        try:
            is_directory = stat.S_ISDIR(path.lstat().st_mode)
        except FileNotFoundError:
            return
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if is_directory else path.unlink()


def spool_on_nodes(parent: Run) -> str:
    """The directory where the commands of a run leave their results on nodes."""
    return _ON_NODES + valid_uuid(parent.uuid)


def is_spool_on_nodes(path: str) -> bool:
    """Whether a path has the form of those that `spool_on_nodes` returns."""
    return path.startswith(_ON_NODES) and _UUID.fullmatch(path, len(_ON_NODES)) is not None


def log_path(engine: str, run_id: int) -> Path:
    return runs_path(engine) / f"{run_id}.log"


def log_sentence(engine: str, run_id: int) -> str:
    """Return a sentence with the path of a runner's log and its last line."""
    path, line = log_path(engine, run_id), ""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
        line = (log.read().decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    shown = "".join(char if char.isprintable() else " " for char in line)
    return f"The log of its runner is {path}{f', which ends: {shown}' if shown else '; it is empty.'}"

"""Where runs keep their files: beside the engine file, and on nodes.

Spools are named after the uuid of their run, since ids begin anew in another engine file: an old spool must never be
taken for a result of today.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from fuelclient.errors import Unavailable
from fuelclient.model.run import Run

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_ON_NODES = "/var/tmp/fuel2-"  # noqa: S108 - it survives a restart; the spool checks who owns it

_TAIL = 4096
"""Bytes at the end of a log that are searched for its last line."""


def runs_path(engine: str) -> Path:
    """The directory of all runs of an engine file."""
    return Path(f"{os.path.realpath(engine)}.runs")


def nodes_path(engine: str) -> Path:
    """The directory of those nodes of an engine file that are directories of this machine."""
    return Path(f"{os.path.realpath(engine)}.nodes")


def own_name(uuid: str) -> str:
    """Check the uuid of a run, which becomes a part of paths. Raise `Unavailable` for anything else: engine files may
    come from elsewhere, and such paths are removed."""
    if not _UUID.fullmatch(uuid):
        raise Unavailable(f"The engine file names a run {uuid!r}, which is no UUID.", hint="Restore a backup.")
    return uuid


def spool_path(engine: str, parent: Run) -> Path:
    """The directory where the commands of a run leave their results on this machine."""
    return runs_path(engine) / own_name(parent.uuid)


def spool_on_nodes(parent: Run) -> str:
    """The directory where the commands of a run leave their results on nodes."""
    return _ON_NODES + own_name(parent.uuid)


def is_spool_on_nodes(path: str) -> bool:
    """Whether a path may be a result of `spool_on_nodes`."""
    return path.startswith(_ON_NODES) and _UUID.fullmatch(path, len(_ON_NODES)) is not None


def log_path(engine: str, run_id: int) -> Path:
    return runs_path(engine) / f"{run_id}.log"


def last_words(engine: str, run_id: int) -> str:
    """A sentence with the path of a runner's log and its last line."""
    path, line = log_path(engine, run_id), ""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        line = (log.read().decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    shown = "".join(char if char.isprintable() else " " for char in line)
    return f"The log of its runner is {path}{f', which ends: {shown}' if shown else '; it is empty.'}"

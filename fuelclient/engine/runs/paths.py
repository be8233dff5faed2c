"""Where executions keep their files.

They lie beside the engine file. Spools are named after the execution's uuid: ids begin anew in another engine file, and
what an old spool says must never be taken for a result of today.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from fuelclient.model.run import Run

_TAIL = 4096
"""Bytes of the end of a log in which its last line is looked for."""


def runs_path(engine: str) -> Path:
    """Where all executions of an engine file keep their files."""
    return Path(f"{os.path.realpath(engine)}.runs")


def spool_path(engine: str, parent: Run) -> Path:
    """Where the commands of an execution leave their results on this machine."""
    return runs_path(engine) / parent.uuid


def spool_on_nodes(parent: Run) -> str:
    """Where the commands of an execution leave their results on nodes."""
    return f"/var/tmp/fuel2-{parent.uuid}"  # noqa: S108 - it survives a restart; the spool checks who owns it


def log_path(engine: str, run_id: int) -> Path:
    """Where the runner of a transaction writes what it has to say."""
    return runs_path(engine) / f"{run_id}.log"


def last_words(engine: str, run_id: int) -> str:
    """Where a runner that is gone has written what it had to say, and the last line of it, if there is one."""
    path, line = log_path(engine, run_id), ""
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        line = (log.read().decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    shown = "".join(one if one.isprintable() else " " for one in line)
    return f"The log of its runner is {path}{f', which ends: {shown}' if shown else '; it is empty.'}"

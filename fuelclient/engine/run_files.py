"""Where executions keep their files.

They lie beside the engine file. Spools are named after the execution's uuid: ids begin anew in another engine file, and
what an old spool says must never be taken for a result of today.
"""

from __future__ import annotations

import os
from pathlib import Path

from fuelclient.model.transaction import Transaction


def runs_path(engine: str) -> Path:
    """Where all executions of an engine file keep their files."""
    return Path(f"{os.path.realpath(engine)}.runs")


def spool_path(engine: str, parent: Transaction) -> Path:
    """Where the commands of an execution leave their results on this machine."""
    return runs_path(engine) / parent.uuid


def log_path(engine: str, transaction_id: int) -> Path:
    """Where the runner of a transaction writes what it has to say."""
    return runs_path(engine) / f"{transaction_id}.log"

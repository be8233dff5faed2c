"""The limits of child processes that evaluate expressions; see `child_process`."""

from __future__ import annotations

MEMORY = 256 * 1024 * 1024
"""The bytes that the evaluations of one process may take in addition to what it imports."""

_seconds = 60.0


def set_seconds(seconds: float) -> None:
    """Set how long the expressions of one plan or preview may take in children. It is a setting of the process."""
    global _seconds  # noqa: PLW0603 - as its name says
    _seconds = seconds


def seconds() -> float:
    """How long the expressions of one plan or preview may take in children."""
    return _seconds

"""The limits of child processes that evaluate expressions. The time is a setting; see `child_process`."""

from __future__ import annotations

MEMORY = 256 * 1024 * 1024
"""The bytes that the evaluations of one process may take in addition to the facts."""

_seconds = 60


def set_seconds(seconds: int) -> None:
    """Set the processor time of one evaluation, for the processes that this one starts from now on."""
    global _seconds  # noqa: PLW0603 - a setting of the process
    _seconds = seconds


def seconds() -> int:
    """The processor time of one evaluation."""
    return _seconds

"""Timeouts and retries of tasks: their defaults by type, and what the parameters of a task say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fuelclient.graph.parameters import number
from fuelclient.model.task import TaskType


@dataclass(frozen=True, slots=True)
class Limits:
    """`timeout` seconds for all tries together, `retries` more tries after failures, `repeats` more tries after
    successes, and `interval` seconds before each of them.

    As in Astute, failures and successes are counted apart, and neither resets the count of the other.
    """

    timeout: float
    retries: int
    interval: float = 2
    repeats: int = 0


DEFAULTS: Mapping[str, Limits] = MappingProxyType(
    {
        TaskType.PUPPET: Limits(5400, 2),
        TaskType.SHELL: Limits(300, 2),
        TaskType.MASTER_SHELL: Limits(300, 2),
        TaskType.SYNC: Limits(300, 10),
        TaskType.UPLOAD_FILE: Limits(60, 3),
        TaskType.UPLOAD_FILES: Limits(300, 0),
        TaskType.COPY_FILES: Limits(300, 0),
        TaskType.REBOOT: Limits(900, 0),
        TaskType.ERASE_NODE: Limits(900, 0),
        TaskType.MOVE_TO_BOOTSTRAP: Limits(900, 0),
        TaskType.COBBLER_SYNC: Limits(300, 0),
    }
)
"""The limits of a task that states none.

`interval` is the documented pause between retries, which Astute accepts and never makes.
Source: Astute `config.rb`; the last three types have no timeout there.
"""

_NAMES = {"timeout": "timeout", "retries": "retries", "interval": "interval", "succeed_retries": "repeats"}


def limits_of(type: str, parameters: Mapping[str, Any]) -> Limits:
    """Return the limits of a task; numbers may be written as strings.

    Raise `ValueError` if one is not a number, or negative.

    >>> limits_of("shell", {"retries": "0", "timeout": 7})
    Limits(timeout=7, retries=0, interval=2, repeats=0)
    """
    default = DEFAULTS.get(type, Limits(300, 0))
    stated = {field: read for name, field in _NAMES.items() if (read := number(parameters, name)) is not None}
    return Limits(
        timeout=stated.get("timeout", default.timeout),
        retries=int(stated.get("retries", default.retries)),
        interval=stated.get("interval", default.interval),
        # Astute wraps shell tasks in a manifest without passing this on
        repeats=int(stated.get("repeats", default.repeats)) if type == TaskType.PUPPET else 0,
    )

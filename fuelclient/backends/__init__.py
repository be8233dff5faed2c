"""The boundary between the front ends and the backends that hold the data."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from fuelclient.expressions import limits

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.settings import Settings


def executor_kinds() -> Collection[str]:
    """The kinds of executors that a node or a run can name here.

    Installed packages are searched for more kinds only on iteration, or when a kind is not built in.
    """
    from fuelclient.executors.registry import KINDS

    return KINDS


def connect(settings: Settings) -> Backend:
    """Make the backend that the settings choose: a server, or by default the embedded engine.

    Nothing is opened before its first use. Both are imported only here, because help needs neither, and the
    embedded engine needs neither HTTP nor Keystone.
    """
    limits.set_seconds(settings.expression_seconds)
    if (master := settings.master) is not None:
        from fuelclient.backends.connected import connected

        return connected(master)
    from fuelclient.backends.local import LocalBackend

    return LocalBackend(settings.engine)


def engine_at(path: str) -> Backend:
    """Make the embedded engine over a file, even if the settings name a server. The caller closes it."""
    from fuelclient.backends.local import LocalBackend

    return LocalBackend(path)

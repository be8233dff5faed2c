"""fuelclient: a client, a merge preview and an engine for OpenStack Fuel deployment graphs.

`fuelclient.connect` and the module `fuelclient.api` are for other programs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuelclient.api import connect as connect

__version__ = "12.0.0"


def __getattr__(name: str) -> Any:
    """Import the API when it is first used, because `fuel2 --help` needs nothing of it."""
    if name == "connect":
        return import_module("fuelclient.api").connect
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

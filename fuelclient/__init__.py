"""fuelclient: a client, a merge preview and an engine for OpenStack Fuel deployment graphs.

`fuelclient.connect` and the module `fuelclient.api` are for other programs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuelclient.api import connect as connect

__version__ = "12.0.0"

_INSTEAD = (
    "Programs that import python-fuelclient need changes: fuelclient.api is the API here, "
    "and `python -m pydoc fuelclient.api` describes it."
)


def __getattr__(name: str) -> Any:
    """Import the API when it is first used, because `fuel2 --help` needs nothing of it."""
    if name == "connect":
        return import_module("fuelclient.api").connect
    raise AttributeError(f"fuelclient {__version__} has no {name}. {_INSTEAD}", name=name)


class _Absent:
    """The last of the finders: importing a module of the original client fails with advice.

    The error is a `ModuleNotFoundError`, as without this finder. Its `name` is that of the original, because Python
    hides the error of `from fuelclient import objects` if it names that module.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name.startswith("fuelclient."):
            message = f"fuelclient {__version__} has no module {name}. {_INSTEAD}"
            raise ModuleNotFoundError(message, name="python-fuelclient")


sys.meta_path.append(_Absent)

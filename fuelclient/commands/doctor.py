"""`doctor`: what is wrong with this installation, and how it is mended."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from fuelclient.commands.arguments import flag
from fuelclient.commands.base import Check

if TYPE_CHECKING:
    from fuelclient.commands.shell import FuelShell


class Doctor(Check):
    """Examine this installation and what it reaches

    It looks at versions, extras, settings, paths and permissions, at the engine file with its plugins and interrupted
    runs, and at whether the Fuel master, the Dask scheduler and the nodes answer and have the same time. Every problem
    is shown with its fix. Nothing is changed. The exit code is 7 if anything is an error.

      fuel2 doctor
      fuel2 doctor --no-nodes
      fuel2 doctor -f json
    """

    columns = ("status", "area", "name", "message", "mend")
    advice = "mend"

    arguments = (flag("--no-nodes", help="connect to no nodes"),)

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        from fuelclient.backends.doctor import examine
        from fuelclient.model.diagnosis import Health
        from fuelclient.redact import scrubbed

        shell = cast("FuelShell", self.app)
        diagnoses = list(examine(lambda: shell.settings, nodes=not parsed_args.no_nodes))
        self.broken = any(diagnosis.health is Health.ERROR for diagnosis in diagnoses)
        return [
            (str(found.health), found.area, found.name, scrubbed(found.message), scrubbed(found.mend))
            for found in diagnoses
        ]

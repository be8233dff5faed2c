"""`config show`: the settings in effect, and where they come from."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from fuelclient.commands.arguments import flag
from fuelclient.commands.base import Lister, sorted_by
from fuelclient.commands.columns import Fields, check_columns

if TYPE_CHECKING:
    from fuelclient.commands.shell import FuelShell


class ConfigShow(Lister):
    """Show the settings in effect, and where each comes from

    Settings come from, in rising precedence: the defaults, fuel/fuel_client.yaml in $XDG_CONFIG_HOME, the file that
    FUELCLIENT_CUSTOM_SETTINGS names, environment variables, and the options of the command line. The command writes
    nothing and connects to nothing. Passwords, tokens and secrets are masked.

      fuel2 config show --origin
      SERVER_ADDRESS=10.20.0.2 fuel2 config show --origin -f json
    """

    columns = ("name", "value", "origin")
    sort_by = "name"

    arguments = (flag("--origin", help="also say where each value comes from"),)

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        columns = self.columns if parsed_args.origin else self.columns[:2]
        check_columns(parsed_args.columns, columns)
        rows = sorted_by(self.rows(parsed_args), self.columns, parsed_args.sort_keys or [self.sort_by])
        return columns, [row[: len(columns)] for row in rows]

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (all settings)
        from fuelclient.redact import MASK, scrubbed
        from fuelclient.settings import SPECS

        settings = cast("FuelShell", self.app).read_settings(chooses=False)
        for spec in SPECS:
            setting = settings[spec.name]
            value = MASK if spec.secret and setting.value else setting.value
            shown = scrubbed(value) if isinstance(value, str) else value
            yield spec.name, Fields(shown) if isinstance(shown, dict) else shown, setting.origin

"""Commands that only a Fuel master can carry out; elsewhere each says why, and ends with exit code 2."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fuelclient.commands.base import Changing, Command
from fuelclient.errors import Unsupported
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.backends.nailgun.services import Services


class MasterOnly(Command):
    """A command that needs the services of a Fuel master.

    `reason` says in one sentence why the embedded engine and its server cannot do this, `instead` what to do.
    """

    reason = ""
    instead = ""

    @property
    def services(self) -> Services:
        """What only a Fuel master does. Raise `Unsupported` if the backend has no such services."""
        return self._required()

    def writable(self) -> Backend:
        """Return the backend, as `Command` does. Raise `Unsupported` first if it has no such services."""
        self._required()
        return super().writable()

    def _required(self) -> Services:
        if not supports(self.backend.services):
            raise Unsupported(self.reason, hint=self.instead)
        services: Services = self.backend.services
        return services


class MasterChange(MasterOnly, Changing):
    """A change that only a Fuel master can make. Elsewhere it is refused before anything is read or asked."""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self._required()
        super().take_action(parsed_args)

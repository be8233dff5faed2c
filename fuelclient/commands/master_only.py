"""Commands that only a Fuel master can carry out; elsewhere each says why, and ends with exit code 2."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fuelclient.commands.base import Command
from fuelclient.errors import Unsupported
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.nailgun.services import Services


class MasterOnly(Command):
    """A command that needs the services of a Fuel master.

    `reason` says in one sentence why the embedded engine and its server cannot do this, `instead` what to do.
    """

    reason = ""
    instead = ""

    @property
    def services(self) -> Services:
        """What only a Fuel master does."""
        services: Services = self.backend.services
        return services

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command. Raise `Unsupported` if the backend has no such services."""
        if not supports(self.backend.services):
            raise Unsupported(self.reason, hint=self.instead)
        return super().run(parsed_args)

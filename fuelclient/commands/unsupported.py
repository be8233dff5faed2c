"""Commands of the original client that fuel2 does not support: each says why and ends with exit code 2.

They manage parts of a Fuel master. Without them, scripts would get a guess at which other command they meant instead of
a reason.
"""

from __future__ import annotations

import argparse
from typing import Any

from fuelclient.commands.base import Command, Parser
from fuelclient.errors import Unsupported


class _Lenient(Parser):
    """A parser that accepts any arguments, because the result is always the same."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        namespace, _ = super().parse_known_args(args, namespace)
        return namespace, []


class _Unsupported(Command):
    """A command that raises `Unsupported` with a `reason` and, as the hint, what to do `instead`."""

    reason = ""
    instead = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _Lenient(prog=prog_name, description=self.get_description(), epilog=self.get_epilog())

    def take_action(self, parsed_args: argparse.Namespace) -> Any:  # noqa: ARG002 (no options)
        raise Unsupported(self.reason, hint=self.instead)


class Vms(_Unsupported):
    """Not supported: virtual machines on nodes of the role virt"""

    reason = "fuel2 does not start virtual machines: it manages graphs and existing nodes."
    instead = "Write a graph that starts them, and run it with `fuel2 graph execute --type TYPE`."


class Extensions(_Unsupported):
    """Not supported: Nailgun extensions, which manage disks and networks"""

    reason = "fuel2 does not support extensions: they manage disks and networks, which fuel2 leaves to the master."
    instead = "To extend an environment, enable a plugin: `fuel2 plugins enable`."


class ProvisioningFacts(_Unsupported):
    """Not supported: provisioning facts for Cobbler; graphs provision nodes here"""

    reason = "fuel2 has no provisioning facts: a graph provisions nodes, and its tasks see the deployment facts."
    instead = "See `fuel2 env deployment-facts get-default`."

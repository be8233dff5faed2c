"""Commands of the original client for which there is nothing here: each says why, and ends with exit code 2.

They manage what belongs to a Fuel master's own machinery. Scripts that call them get a reason, and not a guess at what
they might have meant.
"""

from __future__ import annotations

import argparse
from typing import Any

from fuelclient.commands.base import Command, Parser
from fuelclient.errors import Unsupported


class _Lenient(Parser):
    """A parser that takes any words: whatever the options were, the answer is the same."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        found, _ = super().parse_known_args(args, namespace)
        return found, []


class _Refused(Command):
    """A command whose answer is `reason`, and as its hint what to do `instead`."""

    reason = ""
    instead = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _Lenient(prog=prog_name, description=self.get_description(), epilog=self.get_epilog())

    def take_action(self, parsed_args: argparse.Namespace) -> Any:  # noqa: ARG002 (no options)
        raise Unsupported(self.reason, hint=self.instead)


class Vms(_Refused):
    """Not supported: virtual machines on nodes of the role virt"""

    reason = "fuel2 starts no virtual machines: it manages graphs, and the nodes that there are."
    instead = "Run what starts them as a graph: `fuel2 graph execute --type TYPE`."


class Extensions(_Refused):
    """Not supported: extensions of Nailgun, which manage disks and networks"""

    reason = "fuel2 knows no extensions: they manage disks and networks, which fuel2 leaves to the master."
    instead = "Plugins extend an environment: `fuel2 plugins enable`."


class ProvisioningFacts(_Refused):
    """Not supported: what Cobbler is told of nodes; graphs provision nodes here"""

    reason = "fuel2 has no provisioning facts: nodes are provisioned by a graph, which sees the deployment facts."
    instead = "See `fuel2 env deployment-facts get-default`."

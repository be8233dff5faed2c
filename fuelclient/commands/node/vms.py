"""Virtual machines on nodes of the role virt, which a Fuel master starts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fuelclient.commands.arguments import id_of, option
from fuelclient.commands.base import ShowOne
from fuelclient.commands.columns import Fields
from fuelclient.commands.master_only import MasterOnly


class _OfMaster(MasterOnly):
    """A command about virtual machines."""

    reason = "Only a Fuel master starts virtual machines: the engine manages graphs and existing nodes."
    instead = "Write a graph that starts them, and run it with `fuel2 graph execute --type TYPE`."


def _machines(word: str) -> list[Mapping[str, Any]]:
    """Return the virtual machines in a JSON text: one mapping, or a list of mappings.

    >>> _machines('{"id": 1, "mem": 2}')
    [{'id': 1, 'mem': 2}]
    """
    try:
        value = json.loads(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{word}' is not JSON: {error}") from None
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, Mapping) for item in items):
        raise argparse.ArgumentTypeError(f"'{word}' is neither a mapping nor a list of mappings")
    return items


class VmsList(_OfMaster, ShowOne):
    """Show the virtual machines that are configured on a node

    fuel2 node list-vms-conf 1
    """

    columns = ("vms_conf",)

    arguments = (id_of("node"),)

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        return [Fields(self.services.vms(parsed_args.id))]


class VmsCreate(_OfMaster):
    """Configure the virtual machines on a node

    They replace those that are configured; 'fuel2 env spawn-vms' starts them. The answer of the master is printed as
    JSON.

      fuel2 node create-vms-conf 1 --conf '{"id": 1, "mem": 4, "cpu": 2}'
    """

    arguments = (
        id_of("node"),
        option(
            "--conf", nargs="+", type=_machines, required=True, metavar="JSON",
            help="virtual machines: JSON mappings, or lists of them",
        ),
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        machines = [machine for part in parsed_args.conf for machine in part]
        answer = self.writable_services().set_vms(parsed_args.id, machines)
        self.say(json.dumps(answer, ensure_ascii=False))


class VmsSpawn(_OfMaster):
    """Start the virtual machines of an environment

    They are those that 'fuel2 node create-vms-conf' configured on its nodes of the role virt.

      fuel2 env spawn-vms 1
    """

    arguments = (id_of("environment"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable_services().spawn_vms(parsed_args.id)

"""Network groups of a Fuel master: the networks of each node group."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import YES, Arguments, id_of, identifier, option, release_option
from fuelclient.commands.base import Lister, ShowOne
from fuelclient.commands.columns import Fields, plain
from fuelclient.commands.master_only import MasterOnly

if TYPE_CHECKING:
    from fuelclient.model.services import NetworkGroup

_COLUMNS = ("id", "name", "vlan_start", "cidr", "gateway", "group_id")
_FIELDS = {"name": "name", "vlan": "vlan_start", "cidr": "cidr", "gateway": "gateway", "node_group": "group_id"}
"""The fields of a network group by the options that set them; `--meta` is read as JSON."""


class _OfMaster(MasterOnly):
    """A command about network groups."""

    reason = "Only a Fuel master has node groups, and network groups besides the networks of an environment."
    instead = "Change those with `fuel2 env network download` and `fuel2 env network upload`."


def _json(word: str) -> Mapping[str, Any]:
    """Return the mapping in a JSON text."""
    try:
        value = json.loads(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{word}' is not JSON: {error}") from None
    if not isinstance(value, Mapping):
        raise argparse.ArgumentTypeError(f"'{word}' is not a JSON mapping")
    return value


def _fields(*, required: bool) -> Arguments:
    return (
        option("-N", "--node-group", type=identifier, required=required, metavar="ID", help="id of the node group"),
        option("-C", "--cidr", required=required, help="its addresses, such as 10.1.0.0/24"),
        option("-V", "--vlan", type=identifier, help="its VLAN"),
        option("-g", "--gateway", help="the address of its gateway"),
        option("-m", "--meta", type=_json, metavar="JSON", help="other properties, over the default ones"),
    )


def _row(group: NetworkGroup) -> tuple[Any, ...]:
    return (group.id, group.name, group.vlan_start, group.cidr, group.gateway, group.group_id)


class GroupList(_OfMaster, Lister):
    """List all network groups

    fuel2 network-group list
    """

    columns = _COLUMNS

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (no options)
        return map(_row, self.services.network_groups())


class GroupShow(_OfMaster, ShowOne):
    """Show one network group

    fuel2 network-group show 3
    """

    columns = (*_COLUMNS, "meta")

    arguments = (id_of("network group"),)

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        group = self.services.network_group(parsed_args.id)
        return (*_row(group), Fields(plain(group.meta)))


class GroupCreate(_OfMaster, ShowOne):
    """Create a network group

    fuel2 network-group create backup --node-group 1 --cidr 10.1.0.0/24 --vlan 110
    """

    columns = _COLUMNS

    arguments = (
        option("name", help="name of the new network group"),
        *_fields(required=True),
        release_option(required=False, help="the release it belongs to"),
    )

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        from fuelclient.model.services import NetworkGroup

        group = NetworkGroup(
            0, parsed_args.name, parsed_args.vlan, parsed_args.cidr, parsed_args.gateway, parsed_args.node_group,
            parsed_args.meta or {},
        )  # fmt: skip
        return _row(self.writable_services().create_network_group(group, release_id=parsed_args.release))


class GroupUpdate(_OfMaster, ShowOne):
    """Change a network group

    fuel2 network-group update 3 --vlan 111
    """

    columns = _COLUMNS

    arguments = (
        id_of("network group"),
        option("-n", "--name", help="its new name"),
        *_fields(required=False),
    )

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        from fuelclient.errors import UsageError

        stated = {field: getattr(parsed_args, option) for option, field in {**_FIELDS, "meta": "meta"}.items()}
        changes = {field: value for field, value in stated.items() if value is not None}
        services = self.services
        if not changes:
            raise UsageError("Nothing to update.", hint="Name what changes: --name, --cidr, --vlan, --gateway, --meta.")
        self.writable()
        return _row(services.update_network_group(parsed_args.id, changes))


class GroupDelete(_OfMaster):
    """Delete a network group

    On a terminal the command asks first, unless you use --yes.

      fuel2 network-group delete 3
    """

    arguments = (id_of("network group"), YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        services = self.services
        self.ask(parsed_args, lambda: f"Delete network group {parsed_args.id}?")
        self.writable()
        services.delete_network_group(parsed_args.id)
        self.say(f"Network-group with id {parsed_args.id} was deleted")

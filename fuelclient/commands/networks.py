"""Networks of environments: groups and templates, which only a Fuel master has, and virtual addresses."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from fuelclient.commands.arguments import (
    OF_ENV,
    YES,
    Argument,
    Arguments,
    env_argument,
    id_of,
    identifier,
    json_value,
    option,
    release_option,
)
from fuelclient.commands.base import Changing, Lister, MasterChange, MasterOnly, ShowOne, on_backend, on_master
from fuelclient.commands.documents import OVERWRITING, Download, Upload, directory_option, file_of, output_options
from fuelclient.commands.formatters import Fields, cells, plain
from fuelclient.errors import NotFound, UsageError

_COLUMNS = ("id", "name", "vlan_start", "cidr", "gateway", "group_id")


class _GroupCommand(MasterOnly):
    reason = "Only a Fuel master has node groups, and network groups besides the networks of an environment."
    instead = "Change those with `fuel2 env network download` and `fuel2 env network upload`."
    columns: tuple[str, ...] = _COLUMNS


def _meta(word: str) -> Mapping[str, Any]:
    value = json_value(word)
    if not isinstance(value, Mapping):
        raise argparse.ArgumentTypeError(f"'{word}' is not a JSON mapping")
    return value


def _fields(*, required: bool) -> Arguments:
    """The options that set the fields of a network group, each under the name of its field."""
    return (
        option(
            "-N", "--node-group", type=identifier, required=required, metavar="ID", dest="group_id",
            help="id of the node group",
        ),
        option("-C", "--cidr", required=required, help="its addresses, such as 10.1.0.0/24"),
        option("-V", "--vlan", type=identifier, metavar="VLAN", dest="vlan_start", help="its VLAN"),
        option("-g", "--gateway", help="the address of its gateway"),
        option("-m", "--meta", type=_meta, metavar="JSON", help="other properties; they override the defaults"),
    )  # fmt: skip


class NetworkGroupList(_GroupCommand, Lister):
    """List all network groups

    fuel2 network-group list
    """

    rows = on_master(lambda master, _: master.network_groups())


class NetworkGroupShow(_GroupCommand, ShowOne):
    """Show one network group

    fuel2 network-group show 3
    """

    columns = (*_COLUMNS, "meta")
    arguments = (id_of("network group"),)
    values = on_master(lambda master, args: master.network_group(args.id))

    def fields_of(self, value: Any) -> Any:
        return [*cells(value, _COLUMNS), Fields(plain(value.meta))]


class NetworkGroupCreate(_GroupCommand, ShowOne):
    """Create a network group

    fuel2 network-group create backup --node-group 1 --cidr 10.1.0.0/24 --vlan 110
    """

    arguments = (
        option("name", help="name of the new network group"),
        *_fields(required=True),
        release_option(required=False, help="the release it belongs to"),
    )

    def values(self, parsed_args: argparse.Namespace) -> Any:
        from fuelclient.model.services import NetworkGroup

        fields = {name: getattr(parsed_args, name) for name in _COLUMNS[1:]}
        group = NetworkGroup(0, **fields, meta=parsed_args.meta or {})
        return self.writable().services.create_network_group(group, release_id=parsed_args.release)


class NetworkGroupUpdate(_GroupCommand, ShowOne):
    """Change a network group

    fuel2 network-group update 3 --vlan 111
    """

    arguments = (id_of("network group"), option("-n", "--name", help="its new name"), *_fields(required=False))

    def values(self, parsed_args: argparse.Namespace) -> Any:
        values = {name: getattr(parsed_args, name) for name in (*_COLUMNS[1:], "meta")}
        if not (changes := {name: value for name, value in values.items() if value is not None}):
            raise UsageError("Nothing to update.", hint="Name what changes, such as --name or --cidr.")
        return self.writable().services.update_network_group(parsed_args.id, changes)


class NetworkGroupDelete(_GroupCommand, MasterChange):
    """Delete a network group

    On a terminal the command asks first, unless you use --yes.

      fuel2 network-group delete 3
    """

    arguments = (id_of("network group"), YES)
    question = "Delete network group {id}?"
    done = "Network-group with id {id} was deleted"
    change = on_master(lambda master, args: master.delete_network_group(args.id))


_FILE = option("-f", "--file", required=True, metavar="FILE", help="YAML or JSON; - is stdin")
_TEMPLATE_ENV = env_argument("env")


class _TemplateCommand(MasterOnly):
    reason = "Only a Fuel master reads network templates."
    instead = "Choose the networks of each interface: `fuel2 node interfaces download`."


class NetworkTemplateUpload(_TemplateCommand, MasterChange, Upload):
    """Set the network template of an environment from a file

    It replaces the template that the environment has; on a terminal the command then asks first, unless you use --yes.

      fuel2 network-template upload 1 --file template.yaml
    """

    arguments = (_TEMPLATE_ENV, _FILE, YES)
    question = "Replace the network template of environment {env}?"
    done = "Network template {file} has been uploaded."
    title, hint = "a network template", "Write it as adv_net_template: {default: {nic_mapping: {...}, ...}}."

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        return super().question_for(parsed_args) if self.services.network_template(parsed_args.env) else ""

    change = on_master(lambda master, args: master.set_network_template(args.env, args.content))


class NetworkTemplateDownload(_TemplateCommand, Download):
    """Write the network template of an environment to a file

    The file is DIR/network_template_ID.yaml. An existing file is overwritten; on a terminal the command asks first.

      fuel2 network-template download 1
    """

    arguments = (_TEMPLATE_ENV, directory_option("the file"), OVERWRITING)
    done = "Network template configuration for environment with id={env} downloaded to {path}"

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        return file_of(parsed_args, "", f"network_template_{parsed_args.env}")

    def document(self, parsed_args: argparse.Namespace) -> Any:
        if (template := self.services.network_template(parsed_args.env)) is None:
            hint = "Upload one with 'fuel2 network-template upload'."
            raise NotFound("network template", f"of environment {parsed_args.env}", hint=hint)
        return template


class NetworkTemplateDelete(_TemplateCommand, MasterChange):
    """Delete the network template of an environment

    On a terminal the command asks first, unless you use --yes.

      fuel2 network-template delete 1
    """

    arguments = (_TEMPLATE_ENV, YES)
    question = "Delete the network template of environment {env}?"
    done = "Network template for environment id={env} has been deleted."
    change = on_master(lambda master, args: master.delete_network_template(args.env))


def _network_option(help: str) -> Argument:
    return option("-n", "--network", type=identifier, metavar="ID", help=help)


class VipDownload(Download):
    """Write the virtual addresses of an environment to a file

    Without --file the file is ./vips_ID.yaml. An existing file is overwritten; on a terminal the command asks
    first. A master has addresses once it has allocated them, or a user has created them.

      fuel2 vip download --env 1
      fuel2 vip download --env 1 --network-role mgmt/vip --file -
    """

    arguments = (
        OF_ENV,
        option(
            "-a", "--ip-address-id", type=identifier, metavar="ID", dest="vip_id", help="only the address with this id"
        ),
        _network_option("only addresses of the network with this id"),
        option("-r", "--network-role", metavar="ROLE", help="only addresses of this network role"),
        *output_options("-f", "--file", default="./vips_ID.FORMAT"),
        OVERWRITING,
    )
    stem = "vips_{env}"
    done = "VIP configuration for environment with id={env} downloaded to {path}"

    document = on_backend(
        lambda backend, args: backend.networks.vips(
            args.env, vip_id=args.vip_id, network_id=args.network, network_role=args.network_role or ""
        )
    )


class VipUpload(Upload):
    """Change virtual addresses of an environment from a file

    The file is as 'vip download' writes it, with all addresses or some; those that it leaves out stay. An address is
    identified by its id; on the embedded engine, the vip_name is enough.

      fuel2 vip upload --env 1 --file vips_1.yaml
    """

    arguments = (OF_ENV, _FILE)
    shape, title, hint = list, "virtual addresses", "Start from 'fuel2 vip download'."
    done = "VIP configuration uploaded."
    change = on_backend(lambda backend, args: backend.networks.set_vips(args.env, args.content))


class VipCreate(Changing):
    """Create a virtual address in an environment

    Its network is that of the network role with this VIP, unless --network names another one; 'fuel2 env network
    download' shows the ids.

      fuel2 vip create --env 1 --name management --address 192.168.0.2 --network 3
    """

    arguments = (
        OF_ENV,
        _network_option("id of the network"),
        option("-N", "--name", required=True, help="name of the VIP"),
        option("-a", "--address", required=True, help="its address"),
        option("--namespace", help="the network namespace that has it on a node"),
    )
    done = "VIP has been created."
    change = on_backend(
        lambda backend, args: backend.networks.create_vip(
            args.env, args.name, args.address, network_id=args.network, namespace=args.namespace
        )
    )

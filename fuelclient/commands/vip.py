"""Virtual addresses of environments: download, upload, create."""

from __future__ import annotations

import argparse
import os

from fuelclient.commands.arguments import OF_ENV, Argument, identifier, option
from fuelclient.commands.base import Command
from fuelclient.commands.columns import plain
from fuelclient.commands.documents import require_list
from fuelclient.commands.output import OVERWRITING, STDOUT, format_of, output_options, put


def _network_option(help: str) -> Argument:
    return option("-n", "--network", type=identifier, metavar="ID", help=help)


class VipDownload(Command):
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

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path = parsed_args.file or os.path.abspath(f"vips_{parsed_args.env}.{parsed_args.format or 'yaml'}")
        form = format_of(path, parsed_args.format)
        vips = self.backend.networks.vips(
            parsed_args.env, vip_id=parsed_args.vip_id, network_id=parsed_args.network,
            network_role=parsed_args.network_role or "",
        )  # fmt: skip
        put(self, parsed_args, plain(vips), path, form)
        if path != STDOUT:
            self.say(f"VIP configuration for environment with id={parsed_args.env} downloaded to {path}")


class VipUpload(Command):
    """Change virtual addresses of an environment from a file

    The file is as 'vip download' writes it, with all addresses or some; those that it leaves out stay. An address is
    identified by its id; on the embedded engine, the vip_name is enough.

      fuel2 vip upload --env 1 --file vips_1.yaml
    """

    arguments = (
        OF_ENV,
        option("-f", "--file", required=True, metavar="FILE", help="YAML or JSON; - is stdin"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        document = self.load(parsed_args.file)
        vips = require_list(document, "virtual addresses", "Start from 'fuel2 vip download'.")
        self.writable().networks.set_vips(parsed_args.env, vips)
        self.say("VIP configuration uploaded.")


class VipCreate(Command):
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

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable().networks.create_vip(
            parsed_args.env, parsed_args.name, parsed_args.address, network_id=parsed_args.network,
            namespace=parsed_args.namespace,
        )  # fmt: skip
        self.say("VIP has been created.")

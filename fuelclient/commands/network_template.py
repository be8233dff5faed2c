"""Network templates of environments, which say how a Fuel master lays out the bridges of nodes."""

from __future__ import annotations

import argparse
import os

from fuelclient.commands.arguments import NAMED, YES, Arguments, option
from fuelclient.commands.documents import require_mapping
from fuelclient.commands.master_only import MasterOnly
from fuelclient.commands.output import OVERWRITING, put
from fuelclient.commands.references import reference
from fuelclient.errors import NotFound


class _OfMaster(MasterOnly):
    """A command about the network template of an environment."""

    reason = "Only a Fuel master reads network templates."
    instead = "Choose the networks of each interface: `fuel2 node interfaces download`."

    arguments: Arguments = (
        option("env", type=reference("environment"), metavar=NAMED, help="id or name of the environment"),
    )


class TemplateUpload(_OfMaster):
    """Set the network template of an environment from a file

    It replaces the template that the environment has; on a terminal the command then asks first, unless you use --yes.

      fuel2 network-template upload 1 --file template.yaml
    """

    arguments = (
        *_OfMaster.arguments,
        option("-f", "--file", required=True, metavar="FILE", help="YAML or JSON; - is stdin"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        services = self.services
        document = self.load(parsed_args.file)
        hint = "Write it as adv_net_template: {default: {nic_mapping: {...}, ...}}."
        template = require_mapping(document, "a network template", hint)
        question = f"Replace the network template of environment {parsed_args.env}?"
        self.ask(parsed_args, lambda: question if services.network_template(parsed_args.env) else "")
        self.writable()
        services.set_network_template(parsed_args.env, template)
        self.say(f"Network template {parsed_args.file} has been uploaded.")


class TemplateDownload(_OfMaster):
    """Write the network template of an environment to a file

    The file is DIR/network_template_ID.yaml. An existing file is overwritten; on a terminal the command asks first.

      fuel2 network-template download 1
    """

    arguments = (
        *_OfMaster.arguments,
        option(
            "-d", "--dir", "--directory", default=".", metavar="DIR", dest="directory",
            help="directory of the file (default: .)",
        ),
        OVERWRITING,
    )  # fmt: skip

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        template = self.services.network_template(parsed_args.env)
        if template is None:
            raise NotFound(
                "network template", f"of environment {parsed_args.env}",
                hint="Upload one with 'fuel2 network-template upload'.",
            )  # fmt: skip
        path = os.path.abspath(os.path.join(parsed_args.directory, f"network_template_{parsed_args.env}.yaml"))
        put(self, parsed_args, template, path, "yaml")
        self.say(f"Network template configuration for environment with id={parsed_args.env} downloaded to {path}")


class TemplateDelete(_OfMaster):
    """Delete the network template of an environment

    On a terminal the command asks first, unless you use --yes.

      fuel2 network-template delete 1
    """

    arguments = (*_OfMaster.arguments, YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        services = self.services
        self.ask(parsed_args, lambda: f"Delete the network template of environment {parsed_args.env}?")
        self.writable()
        services.delete_network_template(parsed_args.env)
        self.say(f"Network template for environment id={parsed_args.env} has been deleted.")

"""Attributes of nodes: download and upload; and an inventory for Ansible."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OF_ENV, YES, Arguments, flag, id_of, option
from fuelclient.commands.base import Command
from fuelclient.commands.node.labels import labelled, labels_of, labels_option
from fuelclient.commands.output import OVERWRITING, make_folder, overwrites
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument

if TYPE_CHECKING:
    from fuelclient.model.node import Node


def _file_options(verb: str) -> Arguments:
    return (
        id_of("node"),
        option(
            "-d", "--dir", "--directory", default=".", metavar="DIR", dest="directory",
            help=f"directory of the file to {verb} (default: .)",
        ),
        option("-f", "--format", choices=("json", "yaml"), default="yaml", help="file format (default: yaml)"),
    )  # fmt: skip


def _path(parsed_args: argparse.Namespace) -> str:
    name = f"attributes.{parsed_args.format}"
    return os.path.abspath(os.path.join(parsed_args.directory, f"node_{parsed_args.id}", name))


class AttributesDownload(Command):
    """Write the attributes of a node to a file

    Attributes are all that was stated about the node besides its name, roles and address; tasks see them among the
    facts of the node. The file is DIR/node_ID/attributes.FORMAT. An existing file is overwritten; on a terminal the
    command asks first.

      fuel2 node attributes-download 1
    """

    arguments = (*_file_options("write"), OVERWRITING)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files
        from fuelclient.commands.columns import plain

        path = _path(parsed_args)
        text = files.dumps(plain(self.backend.nodes.attributes(parsed_args.id)), parsed_args.format)
        make_folder(path)
        files.write(path, text, force=overwrites(self, parsed_args, path))
        self.say(f"Attributes for node {parsed_args.id} were written to {path}")


class AttributesUpload(Command):
    """Set the attributes of a node from a file

    The file is DIR/node_ID/attributes.FORMAT, as 'node attributes-download' writes it. It replaces all attributes. On a
    terminal the command asks first, unless you use --yes.

      fuel2 node attributes-upload 1
    """

    arguments = (*_file_options("read"), YES)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        document = self.load(_path(parsed_args))
        if not isinstance(document.data, Mapping):
            raise InvalidDocument(f"{document.file}: attributes must be a mapping.", hint="Write {} for no attributes.")
        attributes: Mapping[str, Any] = document.data
        before = f"Replace all attributes of node {parsed_args.id} by those of {document.file}?"
        self.ask(parsed_args, lambda: before if self.backend.nodes.attributes(parsed_args.id) else "")
        self.writable().nodes.set_attributes(parsed_args.id, attributes)
        self.say(f"Attributes for node {parsed_args.id} were uploaded.")


class AnsibleInventory(Command):
    """Print the nodes of an environment as an inventory for Ansible

    Each role is a group of hosts with their addresses. Only deployed roles are listed, unless --pending adds those that
    wait for a successful run. Nodes without an address are left out.

      fuel2 node ansible-inventory --env 1 > hosts.ini
      fuel2 node ansible-inventory --env 1 --labels rack=b
    """

    arguments = (
        OF_ENV,
        labels_option("only nodes with one of these labels: name or name=value"),
        flag("--pending", help="also list roles that wait for a successful run"),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        groups: dict[str, list[Node]] = {}
        labels = labels_of(parsed_args)
        nodes = labelled(self.backend.nodes.list(parsed_args.env), labels)
        for node in nodes:
            if not node.ip:
                LOG.warning("Node %d (%s) has no address and is left out.", node.id, node.name)
                continue
            for role in node.all_roles if parsed_args.pending else node.roles:
                groups.setdefault(role, []).append(node)
        if not groups and (not nodes or any(node.ip for node in nodes)):
            LOG.warning("No node has a role.%s", "" if parsed_args.pending else " --pending adds pending roles.")
        for role, hosts in sorted(groups.items()):
            self.say(f"[{role}]")
            names = [(node.attributes.get("hostname") or node.name, node.ip) for node in hosts]
            for line in sorted(f"{name} ansible_host={ip}" for name, ip in names):
                self.say(line)
            self.say("")

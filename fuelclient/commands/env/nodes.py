"""Nodes of environments: add and remove."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import add_env, add_nodes, add_roles
from fuelclient.commands.base import Command
from fuelclient.errors import Conflict


class EnvAddNodes(Command):
    """Give nodes to an environment with roles

    The roles are pending until a run on the nodes succeeds. Either all nodes are added or none.

      fuel2 env add nodes --env 1 --nodes 1 2 3 --roles controller cinder
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_env(parser, required=True)
        add_nodes(parser, required=True, help="ids of the nodes: 1 2 or 1,2")
        add_roles(parser, "-r", required=True)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        nodes, roles = parsed_args.nodes, parsed_args.roles
        self.writable().clusters.add_nodes(parsed_args.env, nodes, roles)
        self.say(f"Nodes {nodes} were added to the environment {parsed_args.env} with roles {roles}")


class EnvRemoveNodes(Command):
    """Take nodes out of an environment

    They stay, free and without roles. Either all of them are taken out or none.

      fuel2 env remove nodes --env 1 --nodes 3
      fuel2 env remove nodes --env 1 --nodes-all
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_env(parser, required=True)
        group = parser.add_mutually_exclusive_group(required=True)
        add_nodes(group, required=False, help="ids of the nodes: 1 2 or 1,2")
        group.add_argument("--nodes-all", action="store_true", help="all nodes of the environment")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        wanted = None if parsed_args.nodes_all else parsed_args.nodes
        removed = self.writable().clusters.remove_nodes(parsed_args.env, wanted)
        if not removed:
            raise Conflict(f"Environment with id={parsed_args.env} doesn't have nodes to remove.")
        self.say(f"Nodes were removed from the environment with id={parsed_args.env}")

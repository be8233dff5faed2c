"""`graph delete`."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import add_owner, add_type, described, owner_of
from fuelclient.commands.base import Command, report


class GraphDelete(Command):
    """Delete one graph of an owner

    The type has to be named: nothing is deleted by default.

      fuel2 graph delete --env 1 --type rollback
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_owner(parser)
        add_type(parser, default=None, required=True)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        owner = owner_of(parsed_args)
        report(self.writable().graphs.delete(owner, parsed_args.graph_type))
        kind, _, number = described(owner).partition(" ")
        self.say(f"Deployment graph '{parsed_args.graph_type}' for {kind} with id {number} was deleted.")

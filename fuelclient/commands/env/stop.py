"""`env stop-deployment`."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import identifier
from fuelclient.commands.base import Command
from fuelclient.commands.task.task import STOPPING, warn_of_end


class EnvStopDeployment(Command):
    """Stop whatever runs on an environment

    What runs may end, nothing more starts; with --kill what runs is ended too. The command does not wait for that:
    'task watch' does.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the environment")
        parser.add_argument("--kill", action="store_true", help="end what runs")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        stopped = self.writable().runs.stop_cluster(parsed_args.id, kill=parsed_args.kill)
        self.say(STOPPING.format(stopped))
        warn_of_end(stopped)

"""`sequence execute`."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import add_env
from fuelclient.commands.sequence.sequence import add_id
from fuelclient.commands.task.starting import Starter, add_run


class SequenceExecute(Starter):
    """Run the graphs of a sequence on an environment

    The first graph that fails ends the run. It waits and ends as 'graph execute' does.

      fuel2 sequence execute 1 --env 1 --wait
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        add_env(parser, required=True)
        add_run(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.model.run import RunRequest

        found = self.backend.sequences.for_cluster(parsed_args.id, parsed_args.env)
        request = RunRequest(
            parsed_args.env, found.graph_types, force=parsed_args.force, dry_run=parsed_args.dry_run,
            noop=parsed_args.noop, trace=parsed_args.trace, executor=parsed_args.executor,
        )  # fmt: skip
        self.execute(request, parsed_args)

"""Sequences of graphs: create, list, show, update, delete, execute."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from fuelclient.commands.arguments import RELEASE, add_env, add_holder, identifier, names, stated
from fuelclient.commands.base import Command, Lister, ShowOne
from fuelclient.commands.columns import Names
from fuelclient.commands.task.starting import Starter, add_run


def _add_types(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """`--type`: `graph_types` is a list of lists of names, or None."""
    parser.add_argument(
        "-t", "--type", "--types", "--graph-type", "--graph-types", nargs="+", type=names, action="extend",
        required=required, metavar="TYPE", dest="graph_types", help="graph types in the order of their runs",
    )  # fmt: skip


class SequenceCreate(ShowOne):
    """Create a sequence of graphs for the environments of a release

    fuel2 sequence create --release 1 --name upgrade --type prepare default verify
    """

    columns = ("id", "release_id", "name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(*RELEASE, type=identifier, required=True, metavar="ID", help="id of the release")
        parser.add_argument("-n", "--name", type=stated, required=True, help="its name, unique within the release")
        _add_types(parser, required=True)
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        types = list(chain.from_iterable(parsed_args.graph_types))
        created = self.writable().sequences.create(parsed_args.release, parsed_args.name, types)
        return created.id, created.release_id, created.name


class SequenceList(Lister):
    """List the sequences of a release, or those that an environment can execute"""

    columns = ("id", "release_id", "name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_holder(parser)
        return parser

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        found = self.backend.sequences.list(release_id=parsed_args.release, cluster_id=parsed_args.env)
        return [(one.id, one.release_id, one.name) for one in found]


class SequenceShow(ShowOne):
    """Show one sequence with its graph types"""

    columns = ("id", "release_id", "name", "graphs")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the sequence")
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        found = self.backend.sequences.get(parsed_args.id)
        return found.id, found.release_id, found.name, Names(found.graph_types)


class SequenceUpdate(ShowOne):
    """Give a sequence another name, or other graph types"""

    columns = ("id", "name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the sequence")
        parser.add_argument("-n", "--name", type=stated, help="its new name")
        _add_types(parser, required=False)
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        types = parsed_args.graph_types
        updated = self.writable().sequences.update(
            parsed_args.id,
            name=parsed_args.name,
            graph_types=None if types is None else list(chain.from_iterable(types)),
        )
        return updated.id, updated.name


class SequenceDelete(Command):
    """Delete a sequence; its graphs stay"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the sequence")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable().sequences.delete(parsed_args.id)
        self.say(f"Sequence with id {parsed_args.id} was deleted")


class SequenceExecute(Starter):
    """Run the graphs of a sequence on an environment

    The first graph that fails ends the run. It waits and ends as 'graph execute' does.

      fuel2 sequence execute 1 --env 1 --wait
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument("id", type=identifier, help="id of the sequence")
        add_env(parser, required=True)
        add_run(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.errors import NotFound
        from fuelclient.model.transaction import ExecutionRequest

        found = self.backend.sequences.get(parsed_args.id)
        release = self.backend.clusters.get(parsed_args.env).release_id
        if found.release_id != release:
            raise NotFound(
                "sequence", f"{found.id} for environment {parsed_args.env}",
                hint=f"It belongs to release {found.release_id}, and the environment to release {release}.",
            )  # fmt: skip
        request = ExecutionRequest(
            parsed_args.env, found.graph_types, force=parsed_args.force, dry_run=parsed_args.dry_run,
            noop=parsed_args.noop, trace=parsed_args.trace, executor=parsed_args.executor,
        )  # fmt: skip
        self.execute(request, parsed_args)

"""Sequences of graphs: create, list, show, update, delete."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from fuelclient.commands.arguments import RELEASE, add_holder, identifier, names, stated
from fuelclient.commands.base import Command, Lister, ShowOne
from fuelclient.commands.columns import Names
from fuelclient.commands.sequence.types import report_unknown
from fuelclient.commands.shell import LOG

CREATED = "Sequence was successfully created:"
"""What the original client prints on stdout before the table, where no reader of JSON expects it. Here it is
narration."""


def add_id(parser: argparse.ArgumentParser) -> None:
    """The sequence: `id`."""
    parser.add_argument("id", type=identifier, help="id of the sequence")


def add_release(parser: argparse.ArgumentParser) -> None:
    """`--release`, which is required: `release`."""
    parser.add_argument(*RELEASE, type=identifier, required=True, metavar="ID", help="id of the release")


def _add_types(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """`--type`: `graph_types` is a list of lists of names, or None."""
    parser.add_argument(
        "-t", "--type", "--types", "--graph-type", "--graph-types", nargs="+", type=names, action="extend",
        required=required, metavar="TYPE", dest="graph_types", help="graph types in the order of their runs",
    )  # fmt: skip


class SequenceCreate(ShowOne):
    """Create a sequence of graphs for the environments of a release

    A graph type that nothing has yet is a warning: its graph may be uploaded later.

      fuel2 sequence create --release 1 --name upgrade --type prepare default verify
    """

    columns = ("id", "release_id", "name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_release(parser)
        parser.add_argument("-n", "--name", type=stated, required=True, help="its name, unique within the release")
        _add_types(parser, required=True)
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        types = list(chain.from_iterable(parsed_args.graph_types))
        created = self.writable().sequences.create(parsed_args.release, parsed_args.name, types)
        report_unknown(self.backend, created.release_id, types)
        LOG.info(CREATED)
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
        add_id(parser)
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        found = self.backend.sequences.get(parsed_args.id)
        return found.id, found.release_id, found.name, Names(found.graph_types)


class SequenceUpdate(ShowOne):
    """Give a sequence another name, or other graph types"""

    columns = ("id", "name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
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
        if types is not None:
            report_unknown(self.backend, updated.release_id, updated.graph_types)
        LOG.info("Sequence was successfully updated:")
        return updated.id, updated.name


class SequenceDelete(Command):
    """Delete a sequence; its graphs stay"""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.writable().sequences.delete(parsed_args.id)
        self.say(f"Sequence with id {parsed_args.id} was deleted")

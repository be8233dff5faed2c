"""`sequence upload` and `sequence download`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from fuelclient.commands.arguments import stated
from fuelclient.commands.base import Command, ShowOne, report
from fuelclient.commands.output import add_output, format_of, put
from fuelclient.commands.sequence.sequence import CREATED, add_id, add_release
from fuelclient.commands.sequence.types import report_unknown
from fuelclient.commands.shell import LOG


class SequenceUpload(ShowOne):
    """Create a sequence from a file

    The file has what 'sequence download' wrote, or just a name and graphs; the sequence gets an id of its own.

      name: upgrade
      graphs: [{type: prepare}, {type: default}]

      fuel2 sequence upload --release 1 --file upgrade.yaml
      fuel2 sequence download 1 | fuel2 sequence upload --release 2 --file -
    """

    columns = ("id", "release_id", "name")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_release(parser)
        parser.add_argument(
            "--file", type=stated, required=True, metavar="FILE", help="YAML or JSON file of the sequence; - is stdin"
        )
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Sequence[Any]:
        from fuelclient import files
        from fuelclient.serializers.sequence import sequence_document_from

        document = files.load(parsed_args.file, stdin=self.app.stdin)
        report(document.findings)
        name, types = sequence_document_from(document)
        created = self.writable().sequences.create(parsed_args.release, name, types)
        report_unknown(self.backend, created.release_id, types)
        LOG.info(CREATED)
        return created.id, created.release_id, created.name


class SequenceDownload(Command):
    """Print a sequence as a document, or write it to a file

    Without --file it is printed. The format is that of the file's name, YAML where there is none; a file that exists is
    overwritten with --force only.

      fuel2 sequence download 1 --file upgrade.json
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_id(parser)
        add_output(parser, "--file", default="stdout")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient.serializers.sequence import sequence_to

        path = parsed_args.file or "-"
        form = format_of(path, parsed_args.format)
        found = self.backend.sequences.get(parsed_args.id)
        put(self.app.stdout, sequence_to(found), path, form, force=parsed_args.force)
        if path != "-":
            LOG.info("Sequence with id %d was downloaded to %s", found.id, path)

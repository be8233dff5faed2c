"""`engine`: check, back up, restore, export, import and compact the engine file."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.backends import engine_files
from fuelclient.commands.arguments import OUTPUT_SPELLINGS, YES, argument_or_option, flag, option
from fuelclient.commands.base import Command, DiagnosisCheck
from fuelclient.commands.documents import FORCE, STDOUT, format_of, output_options, put_text, require
from fuelclient.commands.global_options import file_path
from fuelclient.commands.graph.question import AnswerList
from fuelclient.errors import UsageError
from fuelclient.files import limits


def engine_file(command: Command) -> str:
    """The path of the engine file. Raise `UsageError` if the settings name a server."""
    settings = command.shell.settings
    if settings["SERVER_ADDRESS"].value:
        raise UsageError(
            "This needs an engine file, and settings name a server.", hint="Name a file with --engine, or use --local."
        )
    return settings.engine


class EngineCheck(AnswerList, DiagnosisCheck):
    """Check the engine file

    It looks for damaged pages, rows without their owners, documents that cannot be read, missing files of plugins, and
    files of runs that no longer exist. Every problem is shown with its fix. Nothing is changed. The exit code is 7 if
    anything is an error.

      fuel2 engine check
    """

    key = "checks"

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:  # noqa: ARG002 (it has no options)
        return self.diagnosis_rows(engine_files.check(engine_file(self)))


class EngineBackup(Command):
    """Copy the engine file while it is in use

    The copy is an engine file itself, with the files of plugins beside it, and can be used with --engine. The outputs
    of runs are not copied. Only its owner can read it, because it has the passwords of environments.

      fuel2 engine backup engine-backup.db
    """

    arguments = (argument_or_option("file", *OUTPUT_SPELLINGS, type=file_path, metavar="FILE", help="the copy"), FORCE)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path = engine_file(self)
        engine_files.backup(path, parsed_args.file, force=parsed_args.force)
        self.tell(f"Engine file {path} was copied to {parsed_args.file}")


class EngineRestore(Command):
    """Put a backup in the place of the engine file

    A backup of an earlier version is upgraded. The present content is kept in a file that the command names. While a
    run has not ended, or another process such as a server has the engine file open, nothing is restored, unless you use
    --force. On a terminal the command asks first, unless you use --yes.

      fuel2 engine restore engine-backup.db
    """

    arguments = (
        option("file", type=file_path, metavar="FILE", help="the backup"),
        flag("--force", help="restore even if runs or servers use the engine file"),
        YES,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path = engine_file(self)
        if self.shell.asks and not parsed_args.yes:
            self.confirm(f"Replace {path} by {parsed_args.file}?")
        kept = engine_files.restore(path, parsed_args.file, force=parsed_args.force)
        self.tell(f"Engine file {path} was restored from {parsed_args.file}")
        if kept:
            self.tell(f"Its earlier content is in {kept}")


class EngineExport(Command):
    """Write everything in the engine file as YAML or JSON

    'engine import' makes the same engine file from it. Only its owner can read the file, because it has the passwords
    of environments. The files of plugins and the outputs of runs are not exported. What 'engine import' could not read
    is refused: an export of more than 1 GiB or 64 million values.

      fuel2 engine export --file engine.json
    """

    arguments = (*output_options("--file", default="-"), FORCE)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path = parsed_args.file or STDOUT
        form = format_of(path, parsed_args.format)
        text = self.dumps(engine_files.export(engine_file(self)), form, path)
        if (size := len(text.encode())) > limits.EXPORT.bytes:
            raise engine_files.too_large(engine_file(self))
        put_text(self, text, path, force=parsed_args.force)
        if path != STDOUT:
            self.say(f"Engine file {engine_file(self)} was exported to {path} ({size} bytes)")


class EngineImport(Command):
    """Make an engine file from an export

    The engine file must not exist. An export of an earlier version is upgraded. The file is read into memory as a
    whole and may have 1 GiB and 64 million values; 'engine backup' and 'engine restore' have no such limits.

      fuel2 engine import engine.json --engine copy.db
    """

    arguments = (option("file", metavar="FILE", help="the file to read; - is stdin"),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path = engine_file(self)
        document = self.load(parsed_args.file, limits.EXPORT)
        hint = "Name a file that `fuel2 engine export` wrote."
        engine_files.load(path, require(dict, document, "an export of an engine file", hint))
        self.tell(f"Engine file {path} was made from {document.file}")


class EngineCompact(Command):
    """Return unused space to the disk

    It removes files beside the engine file that belong to none of its runs, and shrinks the engine file to what it
    holds. Other commands have to wait until it is done.

      fuel2 engine compact
    """

    def take_action(self, parsed_args: argparse.Namespace) -> None:  # noqa: ARG002 (it has no options)
        path = engine_file(self)
        before, after = engine_files.compact(path)
        self.tell(f"Engine file {path} was compacted from {before} to {after} bytes")

"""Settings of environments: download and upload."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import identifier, stated
from fuelclient.commands.base import Command, report
from fuelclient.commands.formatters import encoding_of
from fuelclient.errors import InvalidDocument

if TYPE_CHECKING:
    from fuelclient.model.document import Document

_EDITABLE, _GENERATED = "editable", "generated"


class SettingsDownload(Command):
    """Write the settings of an environment to a file

    The defaults of its release and of its enabled plugins, and over them what was set for it. Without --file the
    file is DIR/environment_ID/settings.FORMAT; a file that exists is overwritten with --force only. '--file -'
    prints the document, and nothing else, on stdout.

      fuel2 env settings download 1 -f yaml
      fuel2 env settings download 1 --file - | less
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_file(parser, "write")
        parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files
        from fuelclient.commands.columns import plain

        path, form = _file(parsed_args)
        settings = plain(self.backend.clusters.settings(parsed_args.id))
        encoding = encoding_of(self.app.stdout) if path == "-" else "utf-8"
        text = files.dumps({_EDITABLE: settings}, form, encoding=encoding)
        if path == "-":
            self.app.stdout.write(text)
            return
        if not parsed_args.file:
            _make_directory(os.path.dirname(path), below=os.path.abspath(parsed_args.directory or "."))
        files.write(path, text, force=parsed_args.force)
        self.say(f"Configuration of settings for the environment with id {parsed_args.id} was stored in {path}")


class SettingsUpload(Command):
    """Set the settings of an environment from a file

    The file has what 'env settings download' wrote: settings by section, in full or only those that are meant. They
    take the place of all that was set before; what the file does not state is the default again. Without --file it
    is DIR/environment_ID/settings.FORMAT; '--file -' reads stdin.

      fuel2 env settings upload 1 -f yaml
      fuel2 env settings download 1 --file - | sed s/false/true/ | fuel2 env settings upload 1 --file -
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_file(parser, "read")
        parser.add_argument("--force", action="store_true", help="accepted for scripts: nothing is locked here")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files

        path, _ = _file(parsed_args)
        document = files.load(path, stdin=self.app.stdin)
        report(document.findings)
        settings = _sections(document)
        self.writable().clusters.set_settings(parsed_args.id, settings)
        shown = document.file if path == "-" else path
        self.say(f"Configuration of settings for the environment with id {parsed_args.id} was loaded from {shown}")


def _add_file(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument("id", type=identifier, help="id of the environment")
    parser.add_argument("-f", "--format", choices=("json", "yaml"), help="default: as the file is named, else yaml")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-d", "--directory", type=stated, metavar="DIR", help="default: the current directory")
    stream = "stdout" if verb == "write" else "stdin"
    group.add_argument("--file", type=stated, metavar="PATH", help=f"the file to {verb}; - is {stream}")


def _file(parsed_args: argparse.Namespace) -> tuple[str, str]:
    """The path of the file and its format."""
    if parsed_args.file == "-":
        return "-", parsed_args.format or "yaml"
    if parsed_args.file:
        path = os.path.abspath(parsed_args.file)
        return path, parsed_args.format or ("json" if path.lower().endswith(".json") else "yaml")
    form = parsed_args.format or "yaml"
    name = f"environment_{parsed_args.id}"
    return os.path.abspath(os.path.join(parsed_args.directory or ".", name, f"settings.{form}")), form


def _make_directory(path: str, *, below: str) -> None:
    """The directory of one environment's files; the one it lies in has to be there (the write says so)."""
    if os.path.isdir(below) and not os.path.lexists(path):
        os.mkdir(path)


def _sections(document: Document) -> Mapping[str, Any]:
    """The settings by section: below `editable`, as a master writes them, or as they are."""
    data = document.data
    if isinstance(data, Mapping) and _EDITABLE in data and set(data) <= {_EDITABLE, _GENERATED}:
        data = data[_EDITABLE]
    if not isinstance(data, Mapping):
        raise InvalidDocument(
            f"{document.file}: settings are a mapping of sections.", hint="Start from 'fuel2 env settings download'."
        )
    return data

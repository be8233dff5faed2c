"""What the commands of roles and of tags share: whose they are, and the files that describe them.

The files are the original client's: DIR/releases_ID/NAME.FORMAT and DIR/clusters_ID/NAME.FORMAT.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import add_holder, owner_of, stated
from fuelclient.commands.base import Command, report
from fuelclient.commands.formatters import encoding_of

if TYPE_CHECKING:
    from fuelclient.backends.base import OwnerRef
    from fuelclient.model.document import Document

_STDIO = "-"
_OWNERS = {"cluster": "clusters", "release": "releases"}


def holder_of(parsed_args: argparse.Namespace) -> OwnerRef:
    """The release or the environment that `add_holder` made the user name."""
    return owner_of(argparse.Namespace(env=parsed_args.env, release=parsed_args.release, plugin=None))


class Described(Command):
    """A command about one role or one tag (`noun`) of a release or an environment."""

    noun = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_holder(parser)
        parser.add_argument("-n", "--name", required=True, type=stated, metavar="NAME", help=f"name of the {self.noun}")
        return parser


class Upload(Described):
    """Stores what a file describes; `done` is the word for that."""

    done = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_file(parser, "read", "stdin")
        return parser

    def put(self, owner: OwnerRef, document: Document, name: str) -> None:
        """What `document` describes is stored."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files

        owner, (path, _) = holder_of(parsed_args), _file(parsed_args)
        document = files.load(path, stdin=self.app.stdin)
        report(document.findings)
        self.put(owner, document, parsed_args.name)
        self.say(
            f"Description of {self.noun} '{parsed_args.name}' for {_OWNERS[owner.level]} with id {owner.id} was "
            f"{self.done} from {document.file if path == _STDIO else path}"
        )


class Download(Described):
    """Writes a description to a file."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_file(parser, "write", "stdout")
        parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
        return parser

    def description(self, owner: OwnerRef, name: str) -> Any:
        """What there is to write."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files

        owner, (path, form) = holder_of(parsed_args), _file(parsed_args)
        found = self.description(owner, parsed_args.name)
        if path == _STDIO:
            self.app.stdout.write(files.dumps(found, form, encoding=encoding_of(self.app.stdout)))
            return
        if not parsed_args.file:
            make_directory(os.path.dirname(path))
        files.write(path, files.dumps(found, form), force=parsed_args.force)
        self.say(
            f"Description data of {self.noun} '{parsed_args.name}' within {_OWNERS[owner.level]} id {owner.id} "
            f"was stored in {path}"
        )


class Delete(Described):
    """Removes one."""

    def remove(self, owner: OwnerRef, name: str) -> None:
        """It is gone."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        owner = holder_of(parsed_args)
        self.remove(owner, parsed_args.name)
        self.say(
            f"{self.noun.capitalize()} '{parsed_args.name}' was deleted from {_OWNERS[owner.level]} with id {owner.id}"
        )


def make_directory(path: str) -> None:
    """The directory of one owner's files is there; the one it lies in has to be (the write says so)."""
    if os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
        os.mkdir(path)


def _add_file(parser: argparse.ArgumentParser, verb: str, stream: str) -> None:
    parser.add_argument("-f", "--format", choices=("json", "yaml"), help="default: as the file is named, else yaml")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-d", "--directory", type=stated, metavar="DIR", help="default: the current directory")
    group.add_argument("--file", type=stated, metavar="PATH", help=f"the file to {verb}; - is {stream}")


def _file(parsed_args: argparse.Namespace) -> tuple[str, str]:
    """The path of the file and its format."""
    if parsed_args.file == _STDIO:
        return _STDIO, parsed_args.format or "yaml"
    if parsed_args.file:
        path = os.path.abspath(parsed_args.file)
        return path, parsed_args.format or ("json" if path.lower().endswith(".json") else "yaml")
    owner, form = holder_of(parsed_args), parsed_args.format or "yaml"
    place = f"{_OWNERS[owner.level]}_{owner.id}"
    return os.path.abspath(os.path.join(parsed_args.directory or ".", place, f"{parsed_args.name}.{form}")), form

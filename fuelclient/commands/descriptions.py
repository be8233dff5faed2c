"""What the commands of roles and of tags share: whose they are, and the files that describe them.

The files are the original client's: DIR/releases_ID/NAME.FORMAT and DIR/clusters_ID/NAME.FORMAT.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fuelclient.commands.arguments import add_holder, owner_of, stated
from fuelclient.commands.base import Command, Lister, report
from fuelclient.commands.columns import Names, plain
from fuelclient.commands.output import STDOUT, add_place, make_folder, place_of, put
from fuelclient.errors import NotFound

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend, OwnerRef
    from fuelclient.backends.inventory import Descriptions
    from fuelclient.model.document import Document

_OWNERS = {"cluster": "clusters", "release": "releases"}

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Noun(Generic[Value]):
    """What is described: its `word`, where a backend has it, and its way from and to a document.

    `read` takes the document and the name that was asked for, and raises `InvalidDocument`.
    """

    word: str
    facet: Callable[[Backend], Descriptions[Value]]
    read: Callable[[Document, str], Value]
    write: Callable[[Value], Any]

    def known(self, backend: Backend, owner: OwnerRef) -> Mapping[str, Value]:
        """All that an owner knows, its own or not, by name. Raises `NotFound` when there is no such owner."""
        from fuelclient.model.graph import Level

        facet = self.facet(backend)
        return facet.of_cluster(owner.id) if owner.level is Level.CLUSTER else facet.of_release(owner.id)

    def named(self, backend: Backend, owner: OwnerRef, name: str) -> Value:
        """The one called `name`. Raises `NotFound`, which tells the known names, when there is none."""
        known = self.known(backend, owner)
        if name not in known:
            raise NotFound(self.word, name, known=tuple(known))
        return known[name]


def conflicts(metadata: Mapping[str, Any]) -> Any:
    """The cell of what cannot share a node with a role or tag: a list, or `*` for every other one."""
    found = plain(metadata.get("conflicts"))
    return Names(found) if isinstance(found, list) else found or ""


class Listing(Lister, Generic[Value]):
    """Lists what a release or an environment knows of a noun."""

    noun: Noun[Value]
    sort_by = "name"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_holder(parser)
        return parser

    def row(self, value: Value) -> Sequence[Any]:
        """The cells of one."""
        raise NotImplementedError

    def rows(self, parsed_args: argparse.Namespace) -> Iterable[Sequence[Any]]:
        return [self.row(one) for one in self.noun.known(self.backend, owner_of(parsed_args)).values()]


class Described(Command, Generic[Value]):
    """A command about one role or one tag of a release or an environment."""

    noun: Noun[Value]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_holder(parser)
        parser.add_argument(
            "-n", "--name", required=True, type=stated, metavar="NAME", help=f"name of the {self.noun.word}"
        )
        return parser


class _Upload(Described[Value]):
    """Stores what a file describes; `done` is the word for that."""

    done = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_place(parser, "read")
        return parser

    def put(self, owner: OwnerRef, value: Value) -> None:
        """`value` is stored."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        from fuelclient import files

        owner, (path, _) = owner_of(parsed_args), _place(parsed_args)
        document = files.load(path, stdin=self.app.stdin)
        report(document.findings)
        self.put(owner, self.noun.read(document, parsed_args.name))
        self.say(
            f"Description of {self.noun.word} '{parsed_args.name}' for {_OWNERS[owner.level]} with id {owner.id} was "
            f"{self.done} from {document.file if path == STDOUT else path}"
        )


class Create(_Upload[Value]):
    """Stores a new one."""

    done = "created"

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """A name that can be none is told as such, and not as a file that is not there."""
        from fuelclient.serializers.role import require_name

        require_name(self.noun.word, parsed_args.name)
        super().take_action(parsed_args)

    def put(self, owner: OwnerRef, value: Value) -> None:
        self.noun.facet(self.writable()).create(owner, value)


class Update(_Upload[Value]):
    """Stores one in the place of what it was."""

    done = "updated"

    def put(self, owner: OwnerRef, value: Value) -> None:
        self.noun.facet(self.writable()).update(owner, value)


class Download(Described[Value]):
    """Writes a description to a file."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_place(parser, "write")
        parser.add_argument("--force", action="store_true", help="overwrite a file that exists")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        owner, (path, form) = owner_of(parsed_args), _place(parsed_args)
        found = self.noun.write(self.noun.named(self.backend, owner, parsed_args.name))
        if not parsed_args.file:
            make_folder(path)
        put(self.app.stdout, found, path, form, force=parsed_args.force)
        if path != STDOUT:
            self.say(
                f"Description data of {self.noun.word} '{parsed_args.name}' within {_OWNERS[owner.level]} "
                f"id {owner.id} was stored in {path}"
            )


class Delete(Described[Value]):
    """Removes one."""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        owner, name = owner_of(parsed_args), parsed_args.name
        self.noun.facet(self.writable()).delete(owner, name)
        self.say(f"{self.noun.word.capitalize()} '{name}' was deleted from {_OWNERS[owner.level]} with id {owner.id}")


def _place(parsed_args: argparse.Namespace) -> tuple[str, str]:
    """The path of the file and its format."""
    owner = owner_of(parsed_args)
    return place_of(parsed_args, f"{_OWNERS[owner.level]}_{owner.id}", parsed_args.name)

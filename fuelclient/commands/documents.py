"""Commands that download one document to a file, and upload it from one, at the places of the original client."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import YES, id_of
from fuelclient.commands.base import Command
from fuelclient.commands.output import STDOUT, make_folder, place_of, place_options, put

if TYPE_CHECKING:
    from fuelclient.model.document import Document


class _OfOne(Command):
    """A command about the document `part` of an environment or a node."""

    noun = "environment"
    part = ""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        for add in (id_of(self.noun), *self.arguments):
            add(parser)

    @property
    def described(self) -> str:
        """How messages name the owner of the document, without its id."""
        return "the environment" if self.noun == "environment" else self.noun

    def place(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        """Return the path of the file and its format."""
        return place_of(parsed_args, f"{self.noun}_{parsed_args.id}", self.part)


class DocumentDownload(_OfOne):
    """Write a document to DIR/NOUN_ID/PART.FORMAT, or to the file that `--file` names."""

    arguments = place_options("write")

    def document(self, owner_id: int) -> Any:
        """Return the document to write."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path, form = self.place(parsed_args)
        document = self.document(parsed_args.id)
        if not parsed_args.file:
            make_folder(path)
        put(self, parsed_args, document, path, form)
        if path != STDOUT:
            self.say(f"Configuration of {self.part} for {self.described} with id {parsed_args.id} was stored in {path}")


class DocumentUpload(_OfOne):
    """Read a document from the place where `DocumentDownload` writes it, and ask before it replaces another one."""

    arguments = (*place_options("read"), YES)

    def store(self, owner_id: int, document: Document) -> None:
        """Store what the file contains."""
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path, _ = self.place(parsed_args)
        document = self.load(path)
        owner = f"{self.noun} {parsed_args.id}"
        self.ask(parsed_args, lambda: f"Replace the {self.part} of {owner} by those of {document.file}?")
        self.store(parsed_args.id, document)
        shown = document.file if path == STDOUT else path
        self.say(f"Configuration of {self.part} for {self.described} with id {parsed_args.id} was loaded from {shown}")


def require_mapping(document: Document, noun: str, hint: str) -> Any:
    """Return the mapping in a document. Raise `InvalidDocument` that calls it `noun` for anything else."""
    return _require(document, dict, f"{noun} must be a mapping", hint)


def require_list(document: Document, noun: str, hint: str) -> Any:
    """Return the list in a document. Raise `InvalidDocument` that calls it `noun` for anything else."""
    return _require(document, list, f"{noun} must be a list", hint)


def _require(document: Document, wanted: type, message: str, hint: str) -> Any:
    from fuelclient.errors import InvalidDocument
    from fuelclient.serializers.values import in_words

    if not isinstance(document.data, wanted):
        raise InvalidDocument(f"{document.file}: {message}, not {in_words(document.data)}.", hint=hint)
    return document.data

"""Documents that commands write to files and read from files, under the paths that the original client uses.

Such paths are DIR/environment_1/settings.yaml and DIR/releases_1/compute.json.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import OUTPUT_SPELLINGS, YES, Argument, Arguments, flag, id_of, one_of, option
from fuelclient.commands.base import Changing, Command
from fuelclient.commands.formatters import plain
from fuelclient.commands.shell import LOG
from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.model.document import Document

STDOUT = "-"
_FORMATS = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def output_options(*spellings: str, default: str) -> Arguments:
    """The options for the file to write and its format: `file` and `format`, each a text or None."""
    file_help = f"the file to write; - is stdout (default: {default})"
    form = option("--format", choices=("yaml", "json"), help="default: as the file name implies, or yaml")
    return option(*spellings, *OUTPUT_SPELLINGS, metavar="PATH", dest="file", help=file_help), form


OUTPUT = option(*OUTPUT_SPELLINGS, metavar="PATH", default=STDOUT, help="default: - (stdout)")
FORCE = flag("--force", help="overwrite an existing file")

OVERWRITING = one_of(
    flag("--force", help="overwrite an existing file without asking"),
    flag("--no-clobber", help="refuse to overwrite an existing file (exit code 6)"),
)
"""How commands of the original client treat existing files; `overwrites` reads these options."""


def overwrites(command: Command, parsed_args: argparse.Namespace, path: str, *, exists: bool | None = None) -> bool:
    """Whether a download may overwrite a file at `path`. If `exists` is None, look whether there is one.

    The original client overwrites silently, and scripts rely on it. Without a terminal we do the same, but warn. On
    a terminal, ask; raise `Declined` if the answer is no.
    """
    if exists is None:
        exists = os.path.isfile(path) or os.path.islink(path)
    if parsed_args.force or parsed_args.no_clobber or not exists:
        return bool(parsed_args.force)
    if command.shell.asks:
        command.confirm(f"Overwrite {path}?")
    else:
        LOG.warning("%s already exists and will be overwritten.", path)
    return True


def format_of(path: str, requested: str | None) -> str:
    """The `requested` format, or else the one that the extension of `path` implies.

    Raise `UsageError`, in the words of the original client, for an unknown extension.

    >>> format_of("a.json", None), format_of("-", None), format_of("a.txt", "yaml")
    ('json', 'yaml', 'yaml')
    """
    if requested or path == STDOUT:
        return requested or "yaml"
    form = next((form for extension, form in _FORMATS.items() if path.lower().endswith(extension)), None)
    if form is None:
        raise UsageError(
            f"No serializer for provided file {path}.", hint="Name it *.yaml or *.json, or use --format yaml."
        )
    return form


def put(command: Command, parsed_args: argparse.Namespace, data: Any, path: str, form: str) -> None:
    """Write `data` to the file or to stdout. Raise `Conflict` if the file exists and must not be overwritten."""
    force = path != STDOUT and overwrites(command, parsed_args, path)
    put_text(command, command.dumps(data, form, path), path, force=force)


def put_text(command: Command, text: str | bytes, path: str, *, force: bool) -> None:
    """Write a text or a picture to a file or to stdout."""
    from fuelclient import files

    if path != STDOUT:
        files.write(path, text, force=force)
    elif isinstance(text, str):
        command.app.stdout.write(text)
    elif not hasattr(command.app.stdout, "buffer") or command.app.stdout.isatty():
        raise UsageError("A PNG picture cannot be shown here.", hint="Write it to a file: --output graph.png.")
    else:
        command.app.stdout.buffer.write(text)
        command.app.stdout.flush()


def put_output(command: Command, parsed_args: argparse.Namespace, text: str | bytes, done: str) -> None:
    """Write to the file of `OUTPUT`, and say so with the path in the format `done`."""
    path = STDOUT if parsed_args.output == STDOUT else os.path.abspath(parsed_args.output)
    put_text(command, text, path, force=parsed_args.force)
    if path != STDOUT:
        command.tell(done.format(path))


def directory_option(what: str) -> Argument:
    """`--dir`, which sets `directory`; the default is the current one."""
    text = f"directory of {what} (default: .)"
    return option("-d", "--dir", "--directory", default=".", metavar="DIR", dest="directory", help=text)


def file_options(verb: str) -> Arguments:
    """The options that name a file to read or to write (`verb`); `file_of` reads them."""
    stream, written = ("stdout", OUTPUT_SPELLINGS) if verb == "write" else ("stdin", ())
    return (
        option("-f", "--format", choices=("json", "yaml"), help="default: as the file name implies, or yaml"),
        one_of(
            option("-d", "--directory", metavar="DIR", help="directory of the files (default: .)"),
            option("--file", *written, metavar="PATH", dest="file", help=f"the file to {verb}; - is {stream}"),
        ),
        *((OVERWRITING,) if verb == "write" else ()),
    )


def file_of(parsed_args: argparse.Namespace, folder: str, name: str) -> tuple[str, str]:
    """The path of the file and its format; without `--file` the path is DIRECTORY/FOLDER/NAME.FORMAT."""
    form, file = getattr(parsed_args, "format", None), getattr(parsed_args, "file", None)
    if file and file != STDOUT:
        path = os.path.abspath(file)
        return path, form or ("json" if path.lower().endswith(".json") else "yaml")
    form = form or "yaml"
    if file:
        return STDOUT, form
    return os.path.abspath(os.path.join(parsed_args.directory or ".", folder, f"{name}.{form}")), form


def make_folder(path: str) -> None:
    """Create the folder of `path` if only that is missing; if its parent is missing too, the write fails.

    Raise `Unavailable` if permissions forbid it.
    """
    from fuelclient.files.writing import permitted

    folder = os.path.dirname(path)
    if os.path.isdir(os.path.dirname(folder)) and not os.path.lexists(folder):
        with permitted(folder, to="made"):
            os.mkdir(folder)


class Download(Command):
    """A command that writes a document to a file or to stdout.

    `done`, the message, and `stem`, the default file name without its extension, are formats. Their fields are the
    arguments and the `command`; `done` also has `path`. With `makes_folder`, the folder of the default path is created.
    """

    makes_folder = False
    done = stem = ""

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        """The path of the file and its format, as the options of `output_options` name them."""
        stem = self.stem.format(**vars(parsed_args), command=self)
        path = parsed_args.file or os.path.abspath(f"{stem}.{parsed_args.format or 'yaml'}")
        return path, format_of(path, parsed_args.format)

    def document(self, parsed_args: argparse.Namespace, /) -> Any:
        raise NotImplementedError

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        path, form = self.file_for(parsed_args)
        document = plain(self.document(parsed_args))
        if self.makes_folder and not getattr(parsed_args, "file", None):
            make_folder(path)
        put(self, parsed_args, document, path, form)
        if path != STDOUT:
            self.tell(self.done.format(**vars(parsed_args), path=path, command=self))


class _OwnedDocument(Command):
    """A command about the document `part` of an environment or a node."""

    noun = "environment"
    part = ""

    def all_arguments(self) -> Arguments:
        return (id_of(self.noun), *self.arguments)

    @property
    def subject(self) -> str:
        """What messages call the document, before the id of its owner."""
        return f"Configuration of {self.part} for {'the environment' if self.noun == 'environment' else self.noun}"

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        return file_of(parsed_args, f"{self.noun}_{parsed_args.id}", self.part)


class DocumentDownload(_OwnedDocument, Download):
    """Write a document to DIR/NOUN_ID/PART.FORMAT, or to the file that `--file` names."""

    arguments = file_options("write")
    makes_folder = True
    done = "{command.subject} with id {id} was stored in {path}"


class Upload(Changing):
    """A change that a document in a file describes, by default that of `--file`.

    The document must be a `shape`, dict or list. Messages call it `title`, and `hint` says how to write one. `change`
    finds its content in `parsed_args.content`.
    """

    shape: type = dict
    title = hint = ""

    def file_for(self, parsed_args: argparse.Namespace) -> tuple[str, str]:
        """The path of the file, and its format, which reading does not need."""
        return parsed_args.file, ""

    def content(self, document: Document, parsed_args: argparse.Namespace) -> Any:  # noqa: ARG002 (for subclasses)
        return require(self.shape, document, self.title, self.hint)

    def read(self, parsed_args: argparse.Namespace) -> None:
        path, _ = self.file_for(parsed_args)
        parsed_args.document = self.load(path)
        parsed_args.path = parsed_args.document.file if path == STDOUT else path
        parsed_args.content = self.content(parsed_args.document, parsed_args)

    def judge(self, parsed_args: argparse.Namespace) -> None:
        """Raise what `change` would, if that can be known before it."""

    def question_for(self, parsed_args: argparse.Namespace) -> str:
        if not supports(self.backend.services):  # a master judges by itself
            self.judge(parsed_args)
        return super().question_for(parsed_args)


class DocumentUpload(_OwnedDocument, Upload):
    """Read a document from the path to which `DocumentDownload` writes it, and ask before it replaces another one."""

    arguments = (*file_options("read"), YES)
    question = "Replace the {command.part} of {command.noun} {id} with those in {document.file}?"
    done = "{command.subject} with id {id} was loaded from {path}"


def require(wanted: type, document: Document, noun: str, hint: str) -> Any:
    """Return the mapping or list in a document. For anything else raise `InvalidDocument`, which calls it `noun`."""
    from fuelclient.serializers.values import in_words

    if not isinstance(document.data, wanted):
        shape = "list" if wanted is list else "mapping"
        raise InvalidDocument(f"{document.file}: {noun} must be a {shape}, not {in_words(document.data)}.", hint=hint)
    return document.data

"""Documents that commands write: to a file that is named, to stdout, or to the place that a document has of its own.

These places are the original client's: DIR/environment_1/settings.yaml, DIR/releases_1/compute.json.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, TextIO

from fuelclient.commands.arguments import stated
from fuelclient.commands.formatters import encoding_of
from fuelclient.errors import UsageError

STDOUT = "-"
_FORMS = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def add_output(parser: argparse.ArgumentParser, *spellings: str, default: str) -> None:
    """Where to write, and how: `file` (or None), `format` (or None) and `force`."""
    parser.add_argument(
        *spellings,
        type=stated,
        metavar="PATH",
        dest="file",
        help=f"the file to write; - is stdout (default: {default})",
    )
    parser.add_argument("--format", choices=("yaml", "json"), help="default: as the file is named, else yaml")
    parser.add_argument("--force", action="store_true", help="overwrite a file that exists")


def format_of(path: str, asked: str | None) -> str:
    """The format that is asked for, or that of the file's name.

    Raises `UsageError` for a name that tells none. The original client has the same words for it.

    >>> format_of("a.json", None), format_of("-", None), format_of("a.txt", "yaml")
    ('json', 'yaml', 'yaml')
    """
    if asked or path == STDOUT:
        return asked or "yaml"
    form = next((form for ending, form in _FORMS.items() if path.lower().endswith(ending)), None)
    if form is None:
        raise UsageError(
            f"No serializer for provided file {path}.", hint="Name it *.yaml or *.json, or say --format yaml."
        )
    return form


def put(stdout: TextIO, data: Any, path: str, form: str, *, force: bool) -> None:
    """`data` is in the file, whole, or on stdout. Raises `Conflict` for a file that exists and not `force`."""
    from fuelclient import files

    if path == STDOUT:
        stdout.write(files.dumps(data, form, encoding=encoding_of(stdout)))
    else:
        files.write(path, files.dumps(data, form), force=force)


def add_place(parser: argparse.ArgumentParser, verb: str) -> None:
    """A file to read or to write (`verb`), at its own place below `--directory`, or `--file`; see `place_of`."""
    parser.add_argument("-f", "--format", choices=("json", "yaml"), help="default: as the file is named, else yaml")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-d", "--directory", type=stated, metavar="DIR", help="default: the current directory")
    stream = "stdout" if verb == "write" else "stdin"
    group.add_argument("--file", type=stated, metavar="PATH", help=f"the file to {verb}; - is {stream}")


def place_of(parsed_args: argparse.Namespace, folder: str, name: str) -> tuple[str, str]:
    """The path of the file and its format; without `--file` it is FOLDER/NAME.FORMAT below the directory."""
    if parsed_args.file == STDOUT:
        return STDOUT, parsed_args.format or "yaml"
    if parsed_args.file:
        path = os.path.abspath(parsed_args.file)
        return path, parsed_args.format or ("json" if path.lower().endswith(".json") else "yaml")
    form = parsed_args.format or "yaml"
    return os.path.abspath(os.path.join(parsed_args.directory or ".", folder, f"{name}.{form}")), form


def make_folder(path: str) -> None:
    """The folder of `path` is there, unless the directory that it lies in is not (the write says so). `Unavailable`
    where it may not be made."""
    from fuelclient.files.writing import permitted

    folder = os.path.dirname(path)
    if os.path.isdir(os.path.dirname(folder)) and not os.path.lexists(folder):
        with permitted(folder, to="made"):
            os.mkdir(folder)

"""Documents that commands write: to a file that is named, or to stdout."""

from __future__ import annotations

import argparse
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
            f"No serializer for provided file {path}", hint="Name it *.yaml or *.json, or say --format yaml."
        )
    return form


def put(stdout: TextIO, data: Any, path: str, form: str, *, force: bool) -> None:
    """`data` is in the file, whole, or on stdout. Raises `Conflict` for a file that exists and not `force`."""
    from fuelclient import files

    if path == STDOUT:
        stdout.write(files.dumps(data, form, encoding=encoding_of(stdout)))
    else:
        files.write(path, files.dumps(data, form), force=force)

"""Where commands read and write documents: a named file, stdout or stdin, or a place that the original client uses.

Such places are DIR/environment_1/settings.yaml and DIR/releases_1/compute.json.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, TextIO

from fuelclient.commands.arguments import Arguments, flag, one_of, option
from fuelclient.commands.formatters import encoding_of
from fuelclient.commands.shell import LOG
from fuelclient.errors import UsageError

if TYPE_CHECKING:
    from fuelclient.commands.base import Command

STDOUT = "-"
_FORMATS = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def output_options(*spellings: str, default: str) -> Arguments:
    """Return where to write, and how: `file` (or None) and `format` (or None)."""
    where = f"the file to write; - is stdout (default: {default})"
    return option(*spellings, metavar="PATH", dest="file", help=where), FORMAT_OF_FILE


FORMAT_OF_FILE = option("--format", choices=("yaml", "json"), help="default: by the name of the file, else yaml")

OUTPUT = option("-o", "--output", metavar="PATH", default=STDOUT, help="default: - (stdout)")
FORCE = flag("--force", help="overwrite an existing file")

OVERWRITING = one_of(
    flag("--force", help="overwrite an existing file without asking"),
    flag("--no-clobber", help="refuse to overwrite an existing file (exit code 6)"),
)
"""What a command of the original client does about existing files, which `overwrites` reads."""


def overwrites(command: Command, parsed_args: argparse.Namespace, path: str, *, exists: bool | None = None) -> bool:
    """Return whether a download may overwrite what exists at `path` (None: find out).

    The original client overwrites without a word, and scripts rely on it: so do we without a terminal, with a
    line on stderr. On a terminal, ask; raise `Declined` if the answer is no.
    """
    if exists is None:
        exists = os.path.isfile(path) or os.path.islink(path)
    if parsed_args.force or parsed_args.no_clobber or not exists:
        return bool(parsed_args.force)
    if command.app.stdin.isatty():
        command.confirm(f"Overwrite {path}?")
    else:
        LOG.warning("%s exists and is overwritten.", path)
    return True


def format_of(path: str, asked: str | None) -> str:
    """Return the format that was asked for, or that of the file's name.

    Raise `UsageError`, in the words of the original client, if the name does not show it.

    >>> format_of("a.json", None), format_of("-", None), format_of("a.txt", "yaml")
    ('json', 'yaml', 'yaml')
    """
    if asked or path == STDOUT:
        return asked or "yaml"
    form = next((form for ending, form in _FORMATS.items() if path.lower().endswith(ending)), None)
    if form is None:
        raise UsageError(
            f"No serializer for provided file {path}.", hint="Name it *.yaml or *.json, or use --format yaml."
        )
    return form


def put(command: Command, parsed_args: argparse.Namespace, data: Any, path: str, form: str) -> None:
    """Write `data` to the file or to stdout. Raise `Conflict` if the file exists and is not overwritten."""
    stdout: TextIO = command.app.stdout
    text = dumped(stdout, data, path, form)
    put_text(stdout, text, path, force=path != STDOUT and overwrites(command, parsed_args, path))


def dumped(stdout: TextIO, data: Any, path: str, form: str) -> str:
    """Return `data` as text for the file or for stdout, which may lack some characters."""
    from fuelclient import files

    return files.dumps(data, form, encoding=encoding_of(stdout)) if path == STDOUT else files.dumps(data, form)


def put_text(stdout: TextIO, text: str, path: str, *, force: bool) -> None:
    """As `put`, but write a text."""
    from fuelclient import files

    if path == STDOUT:
        stdout.write(text)
    else:
        files.write(path, text, force=force)


def place_options(verb: str) -> Arguments:
    """Return the options of a file to read or to write (`verb`), which `place_of` reads."""
    stream = "stdout" if verb == "write" else "stdin"
    return (
        option("-f", "--format", choices=("json", "yaml"), help="default: by the name of the file, else yaml"),
        one_of(
            option("-d", "--directory", metavar="DIR", help="directory of the files (default: .)"),
            option("--file", metavar="PATH", help=f"the file to {verb}; - is {stream}"),
        ),
        *((OVERWRITING,) if verb == "write" else ()),
    )


def place_of(parsed_args: argparse.Namespace, folder: str, name: str) -> tuple[str, str]:
    """Return the path of the file and its format; without `--file` the path is DIRECTORY/FOLDER/NAME.FORMAT."""
    form = parsed_args.format or "yaml"
    if parsed_args.file == STDOUT:
        return STDOUT, form
    if parsed_args.file:
        path = os.path.abspath(parsed_args.file)
        return path, parsed_args.format or ("json" if path.lower().endswith(".json") else "yaml")
    return os.path.abspath(os.path.join(parsed_args.directory or ".", folder, f"{name}.{form}")), form


def make_folder(path: str) -> None:
    """Make the folder of `path` if only that is missing; if its parent is missing too, the write will say so.

    Raise `Unavailable` if permissions forbid it.
    """
    from fuelclient.files.writing import permitted

    folder = os.path.dirname(path)
    if os.path.isdir(os.path.dirname(folder)) and not os.path.lexists(folder):
        with permitted(folder, to="made"):
            os.mkdir(folder)

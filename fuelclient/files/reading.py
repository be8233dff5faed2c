"""Read documents in safe mode and within limits, and find the files of a graph in a directory.

YAML is read as version 1.1, as PyYAML and therefore everything around Fuel reads it. A file is JSON if its
name ends in `.json`; standard input is JSON if it looks like it.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn, TextIO

from fuelclient.errors import NotFound, Unavailable, UsageError
from fuelclient.files.json_text import is_json as is_json_text
from fuelclient.files.json_text import parse as parse_json
from fuelclient.files.limits import DOCUMENT, Limits, unreadable
from fuelclient.files.writing import permitted, refused
from fuelclient.files.yaml_text import parse as parse_yaml
from fuelclient.model.document import Document

STDIN = "-"
STDIN_NAME = "<stdin>"


def load(path: str | os.PathLike[str], *, stdin: TextIO | None = None, limits: Limits = DOCUMENT) -> Document:
    """Read the document in the file `path`, or on standard input if `path` is `-`.

    Raise `NotFound` if the file does not exist, `UsageError` if `path` is not a file, `Unavailable` if it cannot be
    read, and `InvalidDocument` with exactly one finding (G001, with a line if one is known) if the content is not a
    document that is safe to use.
    """
    path = os.fspath(path)
    name = STDIN_NAME if path == STDIN else path
    raw = _read_stdin(stdin or sys.stdin, limits.bytes) if path == STDIN else _read_file(path, limits.bytes)
    if len(raw) > limits.bytes:
        message = f"the document is larger than {limits.bytes // 2**20} MiB"
        raise unreadable(name, 0, message, "Split it into several files.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise unreadable(name, line, "this is not UTF-8 text", "Save the file as UTF-8.") from error
    if path == STDIN:
        # Without a file name, the text has to show the format: YAML 1.1 reads some JSON differently (`1e5`, `\\ud83d`).
        is_json = text.lstrip()[:1] in ("{", "[") and is_json_text(text)
    else:
        is_json = path.lower().endswith(".json")
    return (parse_json if is_json else parse_yaml)(text, name, limits)


def _read_file(path: str, max_bytes: int) -> bytes:
    with permitted(path, to="read"):
        try:
            with open(path, "rb") as stream:
                return stream.read(max_bytes + 1)
        except FileNotFoundError:
            raise NotFound("file", path, hint="Check the path; `-` stands for standard input.") from None
        except NotADirectoryError:
            raise NotFound("file", path, hint="A part of this path is a file, not a directory.") from None
        except IsADirectoryError:
            raise UsageError(f"{path} is a directory.", hint="Name a file in it.") from None
        except ValueError:
            raise UsageError(f"{path!r} cannot be the name of a file.") from None


def _read_stdin(stdin: TextIO, max_bytes: int) -> bytes:
    """Read from the binary buffer, if there is one, so that the encoding of the locale does not matter."""
    try:
        if (binary := getattr(stdin, "buffer", None)) is not None:
            return bytes(binary.read(max_bytes + 1))
        return stdin.read(max_bytes + 1).encode("utf-8", "surrogateescape")
    except (OSError, ValueError) as error:
        raise Unavailable(f"Standard input cannot be read: {error}.", hint="Name a file instead of -.") from error


def task_files(directory: str) -> list[str]:
    """Find every `tasks.yaml` (or `tasks.yml`) in `directory` and below, parents first, siblings by name.

    Symbolic links to directories are followed, each directory once. Unlike in the original client, the order is the
    same on every machine. Raise `NotFound` if there is no such file.
    """
    _require_directory(directory)
    paths: list[str] = []
    seen: set[str] = set()
    for folder, folders, names in os.walk(directory, followlinks=True, onerror=_raise_unavailable):
        if (real := os.path.realpath(folder)) in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        paths += [os.path.join(folder, name) for name in ("tasks.yaml", "tasks.yml") if name in names]
    if not paths:
        hint = "Name the directory above such files."
        raise NotFound("file", directory, message=f"There is no tasks.yaml below {directory}.", hint=hint)
    return paths


def metadata_file(directory: str) -> str | None:
    """The `metadata.yaml` (or `metadata.yml`) in `directory` itself, or None: a graph does not need the file."""
    _require_directory(directory)
    paths = [os.path.join(directory, name) for name in ("metadata.yaml", "metadata.yml")]
    return next(filter(os.path.lexists, paths), None)


def _require_directory(directory: str) -> None:
    if not os.path.lexists(directory):
        raise NotFound("directory", directory, hint="Check the path.")
    if not os.path.isdir(directory):
        raise UsageError(f"{directory} is not a directory.", hint="Use --file for a single file.")


def _raise_unavailable(error: OSError) -> NoReturn:
    raise refused(str(error.filename), "read", error) from error

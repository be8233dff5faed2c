"""Reading: bytes to text to a `Document`, in safe mode and within limits.

YAML is read as version 1.1, as PyYAML and so everything around Fuel reads it. JSON is read as JSON where it
is named so (`*.json`), and on standard input where it looks like it.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from fuelclient.errors import NotFound, Unavailable, UsageError
from fuelclient.files import json_text, yaml_text
from fuelclient.files.limits import MAX_BYTES, unreadable
from fuelclient.model.document import Document

STDIN = "-"
STDIN_NAME = "<stdin>"


def load(path: str | os.PathLike[str], *, stdin: TextIO | None = None) -> Document:
    """The document in the file `path`, or on standard input where `path` is `-`.

    Raises `NotFound` when there is no such file, `UsageError` for what is no file, `Unavailable` when it
    cannot be read, and `InvalidDocument` with exactly one finding (G001, with its line where there is one)
    when it holds no document that is safe to use.
    """
    path = os.fspath(path)
    name = STDIN_NAME if path == STDIN else path
    raw = _read_stdin(stdin or sys.stdin) if path == STDIN else _read_file(path)
    if len(raw) > MAX_BYTES:
        raise unreadable(
            name,
            0,
            f"the document is larger than {MAX_BYTES // 2**20} MiB",
            "Split it into several files.",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise unreadable(name, line, "this is not UTF-8 text", "Save the file as UTF-8.") from error
    if _is_json(path, text):
        return json_text.parse(text, name)
    return yaml_text.parse(text, name)


def _is_json(path: str, text: str) -> bool:
    """Standard input has no name to go by: what JSON can read there is read as JSON, which YAML 1.1 does not
    always understand alike (`1e5`, `\\ud83d`)."""
    if path == STDIN:
        return text.lstrip()[:1] in ("{", "[") and json_text.is_json(text)
    return path.lower().endswith(".json")


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFound("file", path, hint="Check the path; `-` stands for standard input.") from None
    except NotADirectoryError:
        raise NotFound("file", path, hint="A part of this path is a file, not a directory.") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory.", hint="Name a file in it.") from None
    except ValueError:
        raise UsageError(f"{path!r} cannot be the name of a file.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Unavailable(f"{path} cannot be read: {reason}.", hint="Check its permissions.") from error


def _read_stdin(stdin: TextIO) -> bytes:
    """The bytes below the text layer where there are any, so that the locale's encoding plays no part."""
    try:
        below = getattr(stdin, "buffer", None)
        if below is not None:
            return bytes(below.read(MAX_BYTES + 1))
        return stdin.read(MAX_BYTES + 1).encode("utf-8", "surrogateescape")
    except (OSError, ValueError) as error:
        raise Unavailable(f"Standard input cannot be read: {error}.", hint="Name a file instead of -.") from error

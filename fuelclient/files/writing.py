"""Writing: data to text, and text or bytes to a file that is there whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, BinaryIO, Literal

import yaml

from fuelclient.errors import Conflict, FuelError, NotFound, Unavailable, UsageError


class _Dumper(yaml.CSafeDumper):
    """Block style without aliases: every value stands where it counts."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=style)


def _mapping(dumper: _Dumper, data: Mapping[str, Any]) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items())


def _sequence(dumper: _Dumper, data: Sequence[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data)


_Dumper.add_representer(str, _text)
_Dumper.add_multi_representer(StrEnum, _text)
_Dumper.add_multi_representer(dict, _mapping)
_Dumper.add_multi_representer(list, _sequence)

SPOOL = ".fuel-"
"""How the hidden names begin that files have until they are whole."""

_UNFOLDED = 2**30
"""A line width that no text reaches: a folded command line cannot be searched for."""


def dumps(data: Any, fmt: Literal["yaml", "json"] | str, *, encoding: str = "utf-8") -> str:
    """`data` as text that ends with a newline: keys in their order, characters as they are. When `encoding` lacks one
    of them, they are escaped as the format has it.

    Texts of several lines are written as such in YAML. Raises `UsageError` for another `fmt`, and for numbers that
    JSON does not have.
    """
    if fmt not in _WRITERS:
        raise UsageError(f"{fmt} is no format of documents.", hint="Use yaml or json.")
    text = _WRITERS[fmt](data, False)
    return text if _fits(text, encoding) else _WRITERS[fmt](data, True)


def _fits(text: str, encoding: str) -> bool:
    """Whether `encoding` has all characters of `text`."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _json(data: Any, ascii_only: bool) -> str:
    try:
        return json.dumps(data, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str) + "\n"
    except ValueError as error:
        raise UsageError("JSON has no way to write infinity.", hint="Use yaml.") from error


def _yaml(data: Any, ascii_only: bool) -> str:
    text: str = yaml.dump(
        data, Dumper=_Dumper, default_flow_style=False, allow_unicode=not ascii_only, sort_keys=False, width=_UNFOLDED
    )
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text


_WRITERS = {"json": _json, "yaml": _yaml}


def write(path: str, text: str, *, force: bool = False) -> None:
    """`path` holds `text`, whole; when anything goes wrong, it holds what it held before.

    Without `force` a file that exists is never touched, not even one that appears meanwhile (`Conflict`).
    Devices and pipes are written to as they are. Raises `NotFound` for a missing directory, `UsageError` for a
    path that cannot be a file, `Unavailable` when the disk or the permissions refuse.
    """
    try:
        if _is_stream(path):
            with open(path, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            return
        if os.path.isdir(path):
            raise UsageError(f"{path} is a directory.", hint="Name a file in it.")
        if not force and os.path.lexists(path):
            raise _exists(path)
        with placed(path, force=force) as target:
            target.write(text.encode("utf-8"))
    except FileExistsError:
        raise _exists(path) from None
    except FileNotFoundError:
        folder = os.path.dirname(path) or "."
        raise NotFound("directory", folder, hint="Create it first.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "Check the path, its permissions and the space on the disk."
        raise Unavailable(f"{path} cannot be written: {reason}.", hint=hint) from error
    except ValueError as error:
        raise UsageError(f"{path!r} cannot be written: {error}.") from error


@contextmanager
def permitted(path: str, *, to: str) -> Iterator[None]:
    """What the block does to `path` is done; `Unavailable`, when the disk or the permissions refuse, says that it
    cannot be `to` ("made", "read")."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "Check the path, its permissions and the space on the disk."
        raise Unavailable(f"{path} cannot be {to}: {reason}.", hint=hint) from error


@contextmanager
def placed(path: str, *, force: bool) -> Iterator[BinaryIO]:
    """What is written to the stream becomes the file `path` when the block ends well, safely on the disk; otherwise
    there is nothing new.

    Until then it has a hidden name in the same directory. A file that is replaced keeps its mode, and a link leads
    where it led. Errors of the system stay as they are; `FileExistsError` is raised for a file that is there, or
    appears meanwhile, without `force`.
    """
    target = os.path.realpath(path) if force else path
    spool = os.path.join(os.path.dirname(target), f"{SPOOL}{secrets.token_hex(8)}.tmp")
    descriptor = os.open(spool, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _place(spool, target, force=force)
    finally:
        if os.path.lexists(spool):
            os.unlink(spool)


def _exists(path: str) -> FuelError:
    return Conflict(f"{path} exists already.", hint="Overwrite it with --force, or name another file.")


def _is_stream(path: str) -> bool:
    """Whether `path` is a device, a pipe or a socket; replacing `/dev/null` by a file would be a disaster."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _place(spool: str, target: str, *, force: bool) -> None:
    """`spool` becomes `target` in one step. `FileExistsError` unless `force`."""
    if force:
        if os.path.exists(target):
            os.chmod(spool, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(spool, target)
        return
    try:
        os.link(spool, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: take the name first, then fill it
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        os.replace(spool, target)

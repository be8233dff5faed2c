"""Turn data into text, and write text or bytes to a file so that it appears whole or not at all."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any, BinaryIO, Literal

import yaml

from fuelclient.errors import Conflict, NotFound, Unavailable, UsageError

_TAG = "tag:yaml.org,2002:"


class _Dumper(yaml.CSafeDumper):
    """Block style without aliases, so that every value stands where it is used."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    return dumper.represent_scalar(f"{_TAG}str", str(text), style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
_Dumper.add_multi_representer(StrEnum, _text)
_Dumper.add_multi_representer(dict, lambda dumper, data: dumper.represent_mapping(f"{_TAG}map", data.items()))
_Dumper.add_multi_representer(list, lambda dumper, data: dumper.represent_sequence(f"{_TAG}seq", data))

TEMPORARY_PREFIX = ".fuel-"
"""Until a file is complete, it has a hidden name with this prefix."""

_TEMPORARY_NAME = re.compile(rf"({re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{16}}\.tmp)(-journal|-shm|-wal)?")

_LARGE = 1 << 16
"""Characters of JSON text from which it is not indented by Python's own library."""

_MAX_WIDTH = 2**30
"""A line width that no text reaches, because a folded command line cannot be searched for."""


def dumps(data: Any, fmt: Literal["yaml", "json"] | str, *, encoding: str = "utf-8") -> str:
    """Write `data` as text that ends with a newline, with keys in their order.

    If `encoding` lacks a character, all that are not ASCII are written as escapes of the format. YAML has texts of
    several lines as blocks. Raise `UsageError` for another `fmt`, and for a number that JSON cannot hold.
    """
    if fmt not in _WRITERS:
        raise UsageError(f"{fmt} is not a format of documents.", hint="Use yaml or json.")
    text = _WRITERS[fmt](data, False)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return _WRITERS[fmt](data, True)
    return text


def _json(data: Any, ascii_only: bool) -> str:
    write = functools.partial(json.dumps, ensure_ascii=ascii_only, allow_nan=False, default=str)
    try:
        text = write(data)
    except ValueError as error:
        raise UsageError("JSON cannot hold a number that is infinite.", hint="Use yaml.") from error
    if len(text) > _LARGE:
        import msgspec  # it indents in C, but takes longer to import than a small text

        with suppress(UnicodeEncodeError, msgspec.DecodeError):  # half of a surrogate pair
            return f"{msgspec.json.format(text, indent=2)}\n"
    return f"{write(data, indent=2)}\n"


def _yaml(data: Any, ascii_only: bool) -> str:
    text: str = yaml.dump(
        data, Dumper=_Dumper, default_flow_style=False, allow_unicode=not ascii_only, sort_keys=False, width=_MAX_WIDTH
    )
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text


_WRITERS = {"json": _json, "yaml": _yaml}


def write(path: str, content: str | bytes, *, force: bool = False, shared: bool = False) -> None:
    """Write `content` to `path`, text as UTF-8. If anything goes wrong, the file stays as it was.

    What commands write may contain passwords, so only its owner can read a new file, unless it is `shared`. A file
    that is replaced keeps its mode. Devices and pipes are written to directly. Without `force`, raise `Conflict` if the
    file exists, even if it appears while we write. Raise `NotFound` if the directory is missing, `UsageError` if `path`
    cannot be a file, and `Unavailable` if the disk or the permissions refuse.
    """
    with permitted(path, to="written"):
        try:
            data = content.encode("utf-8") if isinstance(content, str) else content
            if _is_stream(path):
                with open(path, "wb") as stream:
                    stream.write(data)
                return
            if os.path.isdir(path):
                raise UsageError(f"{path} is a directory.", hint="Name a file in it.")
            if not force and os.path.lexists(path):
                raise _exists(path)
            with whole_file(path, force=force, shared=shared) as target:
                target.write(data)
        except FileExistsError:
            raise _exists(path) from None
        except FileNotFoundError:
            if os.path.isdir(os.path.dirname(path) or "."):  # /proc
                raise UsageError(f"No file can be made at {path}.", hint="Name another directory.") from None
            raise no_directory(path) from None
        except ValueError as error:
            raise UsageError(f"{path!r} cannot be written: {error}.") from error


def first_missing(directory: str) -> str:
    """The first part of a path to a directory that does not exist.

    >>> first_missing("/no such/directory/below")
    '/no such'
    """
    missing = directory or "."
    while (parent := os.path.dirname(missing)) and not os.path.lexists(parent):
        missing = parent
    return missing


def no_directory(path: str) -> NotFound:
    """The error for a file that cannot be made, because its directory does not exist."""
    return NotFound("directory", first_missing(os.path.dirname(path)), hint="Create it first.")


@contextmanager
def permitted(path: str, *, to: str) -> Iterator[None]:
    """Turn an `OSError` in the block into `Unavailable`; the arguments are those of `refused`."""
    try:
        yield
    except OSError as error:
        raise refused(path, to, error) from error


def refused(
    path: str, to: str, error: Exception, hint: str = "Check the path, its permissions and the space on the disk."
) -> Unavailable:
    """The error that says that `path` cannot be `to` (such as "made" or "read"), with the system's reason."""
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return Unavailable(f"{path} cannot be {to}: {reason}.", hint=hint)


@contextmanager
def whole_file(path: str, *, force: bool, shared: bool = False) -> Iterator[BinaryIO]:
    """Yield a stream. If the block succeeds, what was written is flushed to the disk and becomes the file `path`.

    Until then the data has a hidden name in the same directory, so that nobody sees half a file. Such files that killed
    processes have left there are removed. Only its owner can read a new file, unless it is `shared`; an existing file
    keeps its mode. With `force`, links are followed. Errors of the system are not translated; without `force`, raise
    `FileExistsError` if the file exists or appears while we write.
    """
    target = os.path.realpath(path) if force else path
    with temporary_file(os.path.dirname(target), 0o666 if shared else 0o600) as (temporary, descriptor):
        with open(os.dup(descriptor), "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _place(temporary, target, force=force)


@contextmanager
def temporary_file(directory: str, mode: int) -> Iterator[tuple[str, int]]:
    """Create an empty hidden file with a unique name, yield its path and descriptor, and remove it at the end.

    Such files that killed processes have left in the directory are removed, too.
    """
    remove_abandoned(directory)
    temporary, descriptor = _new_temporary_file(directory, mode)
    try:
        yield temporary, descriptor
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        os.close(descriptor)


def _new_temporary_file(directory: str, mode: int) -> tuple[str, int]:
    """Create a hidden file, and lock it as long as its descriptor or a duplicate is open."""
    while True:
        temporary = os.path.join(directory, f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return temporary, descriptor
        os.close(descriptor)  # before it was locked, another process removed it as abandoned


def remove_abandoned(directory: str) -> None:
    """Remove our own hidden files that no process has locked: they may contain passwords. The files that SQLite has
    left beside them are removed too. Errors of the system are ignored."""
    with suppress(OSError):
        for match in filter(None, map(_TEMPORARY_NAME.fullmatch, sorted(os.listdir(directory or ".")))):
            with suppress(OSError):
                path, main = os.path.join(directory, match[0]), os.path.join(directory, match[1])
                if match[2] and not os.path.lexists(main) and os.lstat(path).st_uid == os.geteuid():
                    os.unlink(path)
                elif not match[2]:
                    _remove_unlocked(path)


def _remove_unlocked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.geteuid():
            os.unlink(path)
    finally:
        os.close(descriptor)


def _exists(path: str) -> Conflict:
    return Conflict(f"{path} already exists.", hint="Overwrite it with --force, or name another file.")


def _is_stream(path: str) -> bool:
    """Whether `path` is a device, a pipe or a socket. Replacing `/dev/null` with a file would be a disaster."""
    with suppress(OSError):
        mode = os.stat(path).st_mode
        return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
    return False


def _place(temporary: str, target: str, *, force: bool) -> None:
    """Rename `temporary` to `target` in one step. Without `force`, raise `FileExistsError` if `target` exists."""
    if force:
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: take the name first, then fill it
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        os.replace(temporary, target)

"""The file that a build makes: there whole, or not at all; and the one date that everything in it bears."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fuelclient.errors import Conflict, NotFound, Unavailable, UsageError
from fuelclient.files.writing import SPOOL, placed
from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.archive.reading import unusable

_SPACE = "Check permissions, and the space on the disk."
_NEWTON = 1475712000
"""2016-10-06, the day of the last release that the package format belongs to. Dates of files would differ from
one checkout to the next, and with them the bytes of the package."""


def build_date(environment: Mapping[str, str]) -> int:
    """Seconds since 1970 for every date in a package: `SOURCE_DATE_EPOCH`, or a constant.

    Raises `UsageError` when the variable holds no such number.

    >>> build_date({}), build_date({"SOURCE_DATE_EPOCH": "7"})
    (1475712000, 7)
    """
    stated = environment.get("SOURCE_DATE_EPOCH", "")
    if not stated:
        return _NEWTON
    if not stated.isascii() or not stated.isdigit() or len(stated) > 10 or int(stated) >= 2**32:
        hint = "Give seconds since 1970, or unset it."
        raise UsageError(f"SOURCE_DATE_EPOCH is {stated!r}, which is no date.", hint=hint)
    return int(stated)


def require_free(target: Path, *, force: bool) -> None:
    """Raises `Conflict` when `target` exists and may not be overwritten, `NotFound` without its directory, and
    `UsageError` when that is a file."""
    if target.parent.is_file():
        raise UsageError(f"{target.parent} is a file.", hint="Name the directory that the package is written to.")
    if not target.parent.is_dir():
        raise NotFound("directory", str(target.parent), hint="Create it first.")
    if target.is_dir():
        raise Conflict(f"{target} is a directory.", hint="Move it away.")
    if not force and os.path.lexists(target):
        raise _exists(target)


@contextmanager
def written(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """What is written to the stream becomes `target` when the block ends well; otherwise there is nothing new.

    Without `force`, a file that appeared meanwhile is not touched (`Conflict`). Raises `Unavailable` when the disk or
    the permissions refuse it.
    """
    try:
        with placed(str(target), force=force) as stream:
            yield stream
    except FileExistsError:
        raise _exists(target) from None
    except PermissionError as error:
        if not os.path.basename(error.filename or "").startswith(SPOOL):
            raise  # it is about a file that goes into the package
        reason = (error.strerror or str(error)).lower()
        raise Unavailable(f"{target} cannot be written: {reason}.", hint=_SPACE) from error


@contextmanager
def reported(directory: Path) -> Iterator[None]:
    """`Unusable` becomes the error for the package in `directory` (P001), the disk's complaints `Unavailable`."""
    try:
        yield
    except Unusable as error:
        raise unusable(str(directory), error) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        where = error.filename or directory
        raise Unavailable(f"{where}: {reason}.", hint=_SPACE) from error


def _exists(target: Path) -> Conflict:
    return Conflict(f"{target} exists already.", hint="Overwrite it with --force, or choose another directory.")

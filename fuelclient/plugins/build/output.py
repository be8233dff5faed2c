"""Write the file of a build, complete or not at all, and choose the one date that everything in it carries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fuelclient.errors import Conflict, NotFound, Unavailable, UsageError
from fuelclient.files.writing import SPOOL, placed
from fuelclient.plugins.archive import unusable
from fuelclient.plugins.archive.limits import Unusable

_SPACE = "Check permissions and free disk space."
_NEWTON = 1475712000
"""2016-10-06, the day of the last release with this package format. The dates of the files themselves differ from one
checkout to the next, and the bytes of the package would too."""


def build_date(environment: Mapping[str, str]) -> int:
    """Return the date for everything in a package, in seconds since 1970: `SOURCE_DATE_EPOCH`, or a constant.

    Raise `UsageError` if the variable is not such a number.

    >>> build_date({}), build_date({"SOURCE_DATE_EPOCH": "7"})
    (1475712000, 7)
    """
    stated = environment.get("SOURCE_DATE_EPOCH", "")
    if not stated:
        return _NEWTON
    if not stated.isascii() or not stated.isdigit() or len(stated) > 10 or int(stated) >= 2**32:
        hint = "Set it to seconds since 1970, or unset it."
        raise UsageError(f"SOURCE_DATE_EPOCH is {stated!r}, which is not a date.", hint=hint)
    return int(stated)


def require_free(target: Path, *, force: bool) -> None:
    """Raise `Conflict` if `target` exists and may not be overwritten, `NotFound` if its directory does not exist, and
    `UsageError` if that is a file."""
    if target.parent.is_file():
        raise UsageError(f"{target.parent} is a file.", hint="Name the directory to write the package to.")
    if not target.parent.is_dir():
        raise NotFound("directory", str(target.parent), hint="Create it first.")
    if target.is_dir():
        raise Conflict(f"{target} is a directory.", hint="Move or rename it.")
    if not force and os.path.lexists(target):
        raise _exists(target)


@contextmanager
def written(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Yield a stream that becomes `target` if the block succeeds, and is discarded otherwise.

    Raise `Conflict` if `target` has appeared meanwhile and `force` is not given, and `Unavailable` if it cannot be
    written.
    """
    try:
        with placed(str(target), force=force, shared=True) as stream:
            yield stream
    except FileExistsError:
        raise _exists(target) from None
    except PermissionError as error:
        if not os.path.basename(error.filename or "").startswith(SPOOL):
            raise  # this is about a file that goes into the package
        reason = (error.strerror or str(error)).lower()
        raise Unavailable(f"{target} cannot be written: {reason}.", hint=_SPACE) from error


@contextmanager
def reported(directory: Path) -> Iterator[None]:
    """Turn `Unusable` into the error for the package in `directory` (P001), and `OSError` into `Unavailable`."""
    try:
        yield
    except Unusable as error:
        raise unusable(str(directory), error) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Unavailable(f"{error.filename or directory}: {reason}.", hint=_SPACE) from error


def _exists(target: Path) -> Conflict:
    return Conflict(f"{target} already exists.", hint="Overwrite it with --force, or choose another directory.")

"""Read package archives: unpack an `.fp` or `.rpm` into a directory, or fail with one error and leave nothing behind.

::

    tar, rpm      the two formats
    decompress    decompression, chunk by chunk, within limits
    unpack        writes members below a directory; links come last, and only if all of them stay inside
    limits        of sizes, names and links; `plugins.pack` obeys them too

Nothing in a package is executed, and no other program is called.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from fuelclient.errors import Conflict, InvalidDocument, NotFound, Unavailable, UsageError
from fuelclient.files.writing import refused
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.archive import rpm, tar
from fuelclient.plugins.archive.limits import LIMITS, TOO_LARGE, Limits, Unusable, size_of
from fuelclient.plugins.archive.unpack import Unpacker

_CODE = "P001"
_OVERHEAD = 16 * 2**20
"""Bytes an archive may have beyond the largest contents: headers, and data that compression made longer."""


def extract(path: Path, target: Path, *, limits: Limits = LIMITS) -> Mapping[str, str]:
    """Unpack the archive `path` into the empty directory `target`, and return its scripts by section (`%pre` ...).

    `rpm` would run these scripts as root when it installs or removes the package. An `.fp` has none.

    The directories around every package are stripped: the one top directory of an `.fp`, and
    `/var/www/nailgun/plugins/<one>` of an `.rpm`. Files get mode 0644, or 0755 if they were executable; owners, times
    and all other bits are dropped. Nothing is executed, least of all the scripts of an RPM.

    Raise `NotFound`, `UsageError`, `Conflict` (`target` is not empty), `Unavailable` (a disk error), or
    `InvalidDocument` with one finding (P001) if the archive is damaged, of another format, too large or hostile.
    `target` is empty again then, but not after a crash: unpack into a temporary directory if that matters.
    """
    suffix = _suffix(path)
    if not target.is_dir():
        raise NotFound("directory", str(target), hint="Create it first.")
    if any(target.iterdir()):
        raise Conflict(f"{target} is not empty.", hint="Name an empty directory.")
    scripts: Mapping[str, str] = {}
    try:
        with _opened(path, limits) as source:
            # Twice, so that an error at the end of the archive is found before the first file is written. Deleting
            # 20 000 files again takes longer than reading them once more.
            for destination in (None, target):
                unpacker = Unpacker(destination, rpm.PLUGINS if suffix == ".rpm" else (), limits)
                source.seek(0)
                if suffix == ".rpm":
                    scripts = rpm.extract_rpm(source, unpacker, limits)
                else:
                    tar.extract_fp(source, unpacker, str(target), limits)
                unpacker.finish()
    except BaseException:
        for child in target.iterdir():
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child)
            else:
                child.unlink()
        raise
    return scripts


@contextmanager
def opened_package(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the directory of a package, and its name for messages: `path` and "" for a directory, or a temporary
    directory with the content of the archive `path`, and `PATH!`. Raise what `extract` raises."""
    if path.is_dir():
        yield path, ""
        return
    with TemporaryDirectory(prefix="fuel2-") as target:
        extract(path, Path(target))
        yield Path(target), f"{path}!"


def unusable(file: str, error: Unusable) -> InvalidDocument:
    """The error for an archive or a package that cannot be used: one finding, P001, at `file`."""
    place = Place(file)
    finding = Finding(Severity.ERROR, _CODE, error.message, place, hint=error.hint)
    return InvalidDocument(f"{place}: {error.message}.", findings=[finding], hint=error.hint)


def _suffix(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("plugin file", str(path), hint="Check the path.") from None
    except (OSError, ValueError) as error:
        hint = "Check its permissions." if isinstance(error, PermissionError) else "Check the path."
        raise refused(str(path), "read", error, hint) from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is not a regular file.", hint="Name an .fp or .rpm file, or a directory.")
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise Unavailable(f"{path} cannot be read: permission denied.", hint="Check its permissions.")
    if (suffix := path.suffix.lower()) not in (".fp", ".rpm"):
        message = f"Plugin {path.name} has unsupported format {path.suffix}".rstrip()
        hint = "Name a directory, or a file that ends in .fp or .rpm."
        finding = Finding(Severity.ERROR, _CODE, message, Place(path.name), hint=hint)
        raise InvalidDocument(f"{message}.", findings=[finding], hint=hint)
    return suffix


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[BinaryIO]:
    """Open the archive. Errors in the block become errors that name the archive."""
    if path.stat().st_size > limits.stream + _OVERHEAD:
        raise unusable(str(path), Unusable(f"the archive is larger than {size_of(limits.total)}", TOO_LARGE))
    try:
        with path.open("rb") as source:
            yield source
    except Unusable as error:
        raise unusable(str(path), error) from None
    except OSError as error:
        raise refused(str(path), "unpacked", error, "Check permissions and free disk space.") from error

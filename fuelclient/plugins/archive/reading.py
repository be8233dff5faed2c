"""What the rest of the program asks of package archives: unpack one, name one, show the scripts of one."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fuelclient.errors import Conflict, InvalidDocument, NotFound, Unavailable, UsageError
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.archive import rpm, tar
from fuelclient.plugins.archive.limits import LIMITS, Limits, Unusable, size_of
from fuelclient.plugins.archive.unpack import Unpacker

_CODE = "P001"
_OVERHEAD = 16 * 2**20
"""Bytes that an archive may have beyond the largest contents: headers, and data that compression made longer."""


@dataclass(frozen=True, slots=True)
class PackageName:
    """Name and version of a package as its archive states them; for messages, `metadata.yaml` is the truth."""

    name: str
    version: str


def extract(path: Path, target: Path, *, limits: Limits = LIMITS) -> None:
    """The package in the archive `path` is unpacked into `target`, an empty directory that exists.

    The directories that every package has around it are stripped: the one top directory of an `.fp`, and
    `/var/www/nailgun/plugins/<one>` of an `.rpm`. Files are 0644, or 0755 where they were executable; owners, times
    and all other bits are not taken over. Nothing of the package is executed, least of all the scripts of an RPM.

    Raises `NotFound`, `UsageError`, `Conflict` (`target` is not empty), `Unavailable` (the disk), and
    `InvalidDocument` with one finding (P001) for an archive that is damaged, of another kind, too large or hostile;
    then `target` is empty again. Whoever needs that after a crash as well unpacks into a temporary directory.
    """
    suffix = _suffix(path)
    _require_empty(target)
    try:
        with _reported(path), _opened(path, limits) as source:
            # Twice: what is wrong at the end of an archive is known before its first file is written. Deleting
            # 20 000 files again takes longer than looking at them.
            for where in (None, target):
                unpacker = Unpacker(where, rpm.PLUGINS if suffix == ".rpm" else (), limits)
                source.seek(0)
                if suffix == ".rpm":
                    rpm.extract_rpm(source, unpacker, limits)
                else:
                    tar.extract_fp(source, unpacker, str(target), limits)
                unpacker.finish()
    except BaseException:
        _clear(target)
        raise


def package_name(path: Path) -> PackageName:
    """Name and version from the header of an `.rpm`, or from the top directory of an `.fp`; for messages.

    An RPM is named `<name>-<x.y>`, the top directory `<name>-<version>`. Raises what `extract` raises.
    """
    suffix = _suffix(path)
    with _reported(path), _opened(path, LIMITS) as source:
        if suffix == ".rpm":
            headers = rpm.read_headers(source)
            full, version = headers.text("name"), headers.text("version")
            return PackageName(full.rpartition("-")[0] or full, version)
        full = tar.first_directory(source)
        name, _, version = full.rpartition("-")
        return PackageName(name or full, version if name else "")


def scripts(path: Path) -> dict[str, str]:
    """The scripts that `rpm` would run as root on installing and removing the package, by section (`%pre`, ...).

    They are for display, and never run here. Empty for an `.fp`, which has none. Raises what `extract` raises.
    """
    if _suffix(path) != ".rpm":
        return {}
    with _reported(path), _opened(path, LIMITS) as source:
        return rpm.scripts_of(rpm.read_headers(source))


def unusable(file: str, error: Unusable) -> InvalidDocument:
    """The error for an archive or a package that cannot be used: one finding, P001, at `file`."""
    place = Place(file)
    finding = Finding(Severity.ERROR, _CODE, error.message, place, hint=error.hint)
    return InvalidDocument(f"{place}: {error.message}.", findings=[finding], hint=error.hint)


def _suffix(path: Path) -> str:
    """`.fp` or `.rpm`, of a file that is there."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("plugin file", str(path), hint="Check the path.") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        hint = "Check its permissions." if isinstance(error, PermissionError) else "Check the path."
        raise Unavailable(f"{path} cannot be read: {reason}.", hint=hint) from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is no plain file.", hint="Name an .fp or .rpm file.")
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise Unavailable(f"{path} cannot be read: permission denied.", hint="Check its permissions.")
    suffix = path.suffix.lower()
    if suffix not in (".fp", ".rpm"):
        message, hint = f"Plugin {path.name} has unsupported format {path.suffix}".rstrip(), "Use .fp or .rpm."
        finding = Finding(Severity.ERROR, _CODE, message, Place(path.name), hint=hint)
        raise InvalidDocument(f"{message}.", findings=[finding], hint=hint)
    return suffix


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[BinaryIO]:
    with path.open("rb") as source:
        if path.stat().st_size > limits.stream + _OVERHEAD:
            raise Unusable(f"the archive is larger than {size_of(limits.total)}", "Fuel plugins are smaller.")
        yield source


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except Unusable as error:
        raise unusable(path.name, error) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "Check permissions, and the space on the disk."
        raise Unavailable(f"{path.name} cannot be unpacked: {reason}.", hint=hint) from error


def _require_empty(target: Path) -> None:
    if not target.is_dir():
        raise NotFound("directory", str(target), hint="Create it first.")
    if any(target.iterdir()):
        raise Conflict(f"{target} is not empty.", hint="Name an empty directory.")


def _clear(target: Path) -> None:
    for child in target.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()

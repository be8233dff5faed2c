"""Build package archives: a directory becomes an `.fp` or `.rpm`, with the same bytes wherever it is built.

::

    entries        the files of the package, in one order and with fixed modes; checksums.sha1
    repositories   indexes of the package's Debian repositories
    rpm            the headers and the payload of an RPM

An `.fp` (package version 1.0.0) is a compressed tar with one top directory. An `.rpm` (2.0.0 and later) is written
without rpmbuild, but with all of its checksums. The file that a build writes is complete, or it is not there.
The only program that is ever called is the package's own `pre_build_hook`, and only on request.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from fuelclient.errors import Conflict, NotFound, Unavailable, UsageError
from fuelclient.files.writing import TEMPORARY_PREFIX, refused, whole_file
from fuelclient.plugins.archive import unusable
from fuelclient.plugins.archive.limits import Unusable, quoted
from fuelclient.plugins.pack.entries import RELEASE, VERSION, Entry, EntryType, changed, checksums, collect, ordered
from fuelclient.plugins.pack.repositories import indexes, repository_findings, unlistable_packages
from fuelclient.plugins.pack.rpm import Payload, RpmPackage, fields_of, write_rpm
from fuelclient.plugins.package_files import require_directory
from fuelclient.plugins.releases import name_form

__all__ = ["HOOK", "build_fp", "build_rpm", "refusals", "repository_findings", "run_pre_build_hook"]

HOOK = "pre_build_hook"


@dataclass(frozen=True, slots=True)
class _Identity:
    """Name and version of a package, and `build_version`, which becomes the release of an RPM."""

    name: str
    version: str
    build_version: str

    @property
    def series(self) -> str:
        """The `x.y` of the version. Packages of one series replace one another; different series coexist.

        >>> _Identity("a", "1.2.3", "").series
        '1.2'
        """
        return ".".join(re.findall(r"[0-9]+", self.version)[:2])

    @property
    def rpm_name(self) -> str:
        return f"{self.name}-{self.series}"

    @property
    def release(self) -> str:
        if not re.fullmatch(RELEASE, self.build_version):
            message = f"build_version {quoted(self.build_version)} cannot be the release of a package"
            raise Unusable(message, "Use a number, such as 1.")
        return self.build_version


def build_fp(directory: Path, output_dir: Path, metadata: Mapping[str, Any], *, force: bool = False) -> Path:
    """Build `output_dir/<name>-<version>.fp` from `directory`, and return its path.

    The one top directory of the archive is `<name>-<version>`. The bytes depend only on names, contents and executable
    bits (and on SOURCE_DATE_EPOCH). `metadata` is the checked content of metadata.yaml.

    Raise `NotFound`, `Conflict` (the file exists, and `force` is not given), `Unavailable`, or `InvalidDocument`
    (P001) if the directory cannot be packed.
    """
    return _build(directory, output_dir, metadata, "fp", force=force)


def build_rpm(directory: Path, output_dir: Path, metadata: Mapping[str, Any], *, force: bool = False) -> Path:
    """Build `output_dir/<name>-<x.y>-<version>-<release>.noarch.rpm` from `directory`, and return its path.

    The release is `build_version` of the metadata, or 1. The RPM installs to `/var/www/nailgun/plugins/<name>-<x.y>`.
    Its bytes depend only on names, contents, executable bits and `metadata` (and on SOURCE_DATE_EPOCH). It has
    checksums but no signature. Raise what `build_fp` raises.
    """
    return _build(directory, output_dir, metadata, "rpm", force=force)


def refusals(directory: Path, metadata: Mapping[str, Any]) -> Iterator[tuple[str, Unusable]]:
    """Yield each reason why `directory` cannot be built, with the key of the metadata that it concerns, if any."""
    is_rpm = not str(metadata.get("package_version")).startswith("1.")
    identity = _Identity("name", "1.0.0", "1")  # used for the other checks if the real one is refused
    try:
        identity = _identity_of(metadata)
    except Unusable as error:
        has_valid_name = re.fullmatch(name_form(metadata), str(metadata.get("name")))
        yield "version" if has_valid_name else "name", error
    try:
        release = identity.release if is_rpm else ""
    except Unusable as error:
        yield "build_version", error
        release = "1"
    try:
        entries = collect(directory, identity.name)
    except Unusable as error:
        yield "", error
        return
    for reason in unlistable_packages(entries, metadata):
        yield "", reason
    if is_rpm:
        package = RpmPackage(identity.rpm_name, identity.version, release, 0, metadata, entries)
        try:
            fields_of(package, Payload("", "", 0, ("",) * len(entries)))
        except Unusable as error:
            yield "", error


def run_pre_build_hook(directory: Path) -> None:
    """Run the package's own `pre_build_hook`, if it has one, in its directory.

    The hook is a program by the package's author that runs with the rights of the user who builds, so it only runs on
    request. Its output goes to stderr. Read `metadata.yaml` afterwards, because the hook may write it. Raise
    `InvalidDocument` (P001) if the hook cannot be run or fails.
    """
    require_directory(directory)
    hook = directory.resolve() / HOOK
    if not hook.exists():
        return
    with reported(directory):
        if not os.access(hook, os.X_OK):
            raise Unusable(f"{HOOK} is not executable", f"Run chmod +x {HOOK}, or build without it.")
        try:
            result = subprocess.run([str(hook)], cwd=directory, stdout=2, check=False)  # noqa: S603 - asked for
        except OSError as error:
            raise Unusable(f"{HOOK} cannot be run: {error.strerror}", "Check its first line.") from None
        if result.returncode:
            raise Unusable(f"{HOOK} failed with exit code {result.returncode}", "See its output above.")


def add_indexes(directory: Path, metadata: Mapping[str, Any]) -> None:
    """Write into the copy of a package what a build adds, so that both have the same content; nothing for a package
    that cannot be built."""
    with suppress(Unusable):
        identity = _identity_of(metadata)
        for entry in list(indexes(collect(directory, identity.name), metadata, identity.series)):
            path = directory / entry.path
            is_directory, was_directory = entry.type is EntryType.DIRECTORY, path.is_dir() and not path.is_symlink()
            if was_directory and not is_directory:  # a build does not pack it either
                shutil.rmtree(path)
            elif not was_directory:
                path.unlink(missing_ok=True)
            if is_directory:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(entry.content)
            path.chmod(entry.mode)


def _build(directory: Path, output_dir: Path, metadata: Mapping[str, Any], suffix: str, *, force: bool) -> Path:
    require_directory(directory)
    date = build_date(os.environ)
    with reported(directory):
        identity = _identity_of(metadata)
        name, version = identity.rpm_name, identity.version
        file = f"{identity.name}-{version}.fp" if suffix == "fp" else f"{name}-{version}-{identity.release}.noarch.rpm"
        target = output_dir / file
        require_free(target, force=force)
        entries = collect(directory, identity.name)
        entries = ordered([*entries, *indexes(entries, metadata, identity.series)])
        entries = ordered([*entries, checksums(entries)])
        try:
            with whole_file(str(target), force=force, shared=True) as stream:
                if suffix == "fp":
                    _write_fp(stream, target.stem, entries, date)
                else:
                    entries = (Entry("", EntryType.DIRECTORY), *entries)
                    write_rpm(stream, RpmPackage(name, version, identity.release, date, metadata, entries))
        except FileExistsError:
            raise _exists(target) from None
        except PermissionError as error:
            if not os.path.basename(error.filename or "").startswith(TEMPORARY_PREFIX):
                raise  # this is about a file that goes into the package
            raise refused(str(target), "written", error, _SPACE) from error
    return target


def _identity_of(metadata: Mapping[str, Any]) -> _Identity:
    """Read name and version in `metadata.yaml`. Raise `Unusable` if they cannot be part of a file name."""
    name, version = str(metadata.get("name") or ""), str(metadata.get("version") or "")
    if not re.fullmatch(name_form(metadata), name):
        hint = "Use lower case letters, digits, - and _. Only a package that defines a release may use capitals."
        raise Unusable(f"the plugin's name {quoted(name)} cannot be the name of a package", hint)
    if not re.fullmatch(VERSION, version):
        raise Unusable(f"the plugin's version {quoted(version)} cannot be that of a package", "Write it as 1.2.3.")
    return _Identity(name, version, str(metadata.get("build_version") or "1"))


_SPACE = "Check permissions and free disk space."
_DEFAULT_DATE = 1475712000
"""2016-10-06, the day of the last release with this package format. The dates of files differ from one
checkout to the next, and would make the bytes of the package differ too."""


def build_date(environment: Mapping[str, str]) -> int:
    """The date of everything in a package, in seconds since 1970: `SOURCE_DATE_EPOCH`, or a constant.

    Raise `UsageError` if the variable is not such a number.

    >>> build_date({}), build_date({"SOURCE_DATE_EPOCH": "7"})
    (1475712000, 7)
    """
    if not (given := environment.get("SOURCE_DATE_EPOCH", "")):
        return _DEFAULT_DATE
    if not given.isascii() or not given.isdigit() or len(given) > 10 or int(given) >= 2**32:
        hint = "Set it to seconds since 1970, or unset it."
        raise UsageError(f"SOURCE_DATE_EPOCH is {given!r}, which is not a date.", hint=hint)
    return int(given)


def require_free(target: Path, *, force: bool) -> None:
    """Raise `Conflict` if `target` exists and may not be overwritten, `NotFound` if its directory does not exist, and
    `UsageError` if its directory is a file."""
    if target.parent.is_file():
        raise UsageError(f"{target.parent} is a file.", hint="Name the directory to write the package to.")
    if not target.parent.is_dir():
        raise NotFound("directory", str(target.parent), hint="Create it first.")
    if target.is_dir():
        raise Conflict(f"{target} is a directory.", hint="Move or rename it.")
    if not force and os.path.lexists(target):
        raise _exists(target)


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


_TAR_TYPES = {EntryType.DIRECTORY: tarfile.DIRTYPE, EntryType.FILE: tarfile.REGTYPE, EntryType.SYMLINK: tarfile.SYMTYPE}


def _write_fp(stream: BinaryIO, top: str, entries: Iterable[Entry], date: int) -> None:
    """Write an archive of `entries` below the directory `top`. Raise `Unusable` if a file changes during this."""
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as packer,
        tarfile.open(fileobj=packer, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.addfile(_tar_member(top, Entry("", EntryType.DIRECTORY), date))
        for entry in entries:
            member = _tar_member(f"{top}/{entry.path}", entry, date)
            if entry.type is not EntryType.FILE:
                tar.addfile(member)
                continue
            with entry.open() as content:
                try:
                    tar.addfile(member, content)
                except OSError as error:
                    if error.errno is not None:
                        raise
                    # Without an errno, this is tarfile's error for a file that is shorter than it was.
                    raise changed(entry) from None


def _tar_member(name: str, entry: Entry, date: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = _TAR_TYPES[entry.type]
    member.mode = entry.mode
    member.size = entry.size
    member.linkname = entry.target
    member.mtime = date
    member.uname = member.gname = "root"
    return member

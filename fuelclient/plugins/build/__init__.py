"""Build package archives: a directory becomes an `.fp` or `.rpm`, with the same bytes wherever it is built.

::

    entries        the files of the package, in one order and with fixed modes; checksums.sha1
    repositories   indexes of the package's Debian repositories
    fp, rpm        the two formats; `rpm_header` encodes the headers of an RPM
    output         the file a build writes, complete or not at all

The only program that is ever called is the package's own `pre_build_hook`, and only on request.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuelclient.plugins.archive.limits import Unusable, quoted
from fuelclient.plugins.build import fp, rpm
from fuelclient.plugins.build.entries import RELEASE, VERSION, Entry, EntryType, checksums, collect, ordered
from fuelclient.plugins.build.output import build_date, reported, require_free, written
from fuelclient.plugins.build.repositories import indexes, repository_findings, unlistable
from fuelclient.plugins.build.rpm_header import Payload, RpmPackage, fields_of
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
    def fp_file(self) -> str:
        return f"{self.name}-{self.version}.fp"

    @property
    def rpm_name(self) -> str:
        return f"{self.name}-{self.series}"

    @property
    def rpm_file(self) -> str:
        return f"{self.rpm_name}-{self.version}-{self.release}.noarch.rpm"

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
    """Yield each reason for which a build of `directory` would be refused, with the key of the metadata it is about."""
    is_rpm = not str(metadata.get("package_version")).startswith("1.")
    stated = _Identity("name", "1.0.0", "1")  # in place of what is refused
    try:
        stated = _identity_of(metadata)
    except Unusable as error:
        is_named = re.fullmatch(name_form(metadata), str(metadata.get("name")))
        yield "version" if is_named else "name", error
    try:
        release = stated.release if is_rpm else ""
    except Unusable as error:
        yield "build_version", error
        release = "1"
    try:
        entries = collect(directory, stated.name)
    except Unusable as error:
        yield "", error
        return
    for reason in unlistable(entries, metadata):
        yield "", reason
    if is_rpm:
        package = RpmPackage(stated.rpm_name, stated.version, release, 0, metadata, entries)
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
            done = subprocess.run([str(hook)], cwd=directory, stdout=2, check=False)  # noqa: S603 - asked for
        except OSError as error:
            raise Unusable(f"{HOOK} cannot be run: {error.strerror}", "Check its first line.") from None
        if done.returncode:
            raise Unusable(f"{HOOK} failed with exit code {done.returncode}", "See its output above.")


def _build(directory: Path, output_dir: Path, metadata: Mapping[str, Any], suffix: str, *, force: bool) -> Path:
    require_directory(directory)
    date = build_date(os.environ)
    with reported(directory):
        identity = _identity_of(metadata)
        target = output_dir / (identity.fp_file if suffix == "fp" else identity.rpm_file)
        require_free(target, force=force)
        entries = collect(directory, identity.name)
        entries = ordered([*entries, *indexes(entries, metadata, identity.series)])
        entries = ordered([*entries, checksums(entries)])
        with written(target, force=force) as stream:
            if suffix == "fp":
                fp.write(stream, target.stem, entries, date)
            else:
                entries = (Entry("", EntryType.DIRECTORY), *entries)
                name, version, release = identity.rpm_name, identity.version, identity.release
                rpm.write(stream, RpmPackage(name, version, release, date, metadata, entries))
    return target


def _identity_of(metadata: Mapping[str, Any]) -> _Identity:
    """Return name and version from `metadata.yaml`. Raise `Unusable` if they cannot be part of a file name."""
    name, version = str(metadata.get("name") or ""), str(metadata.get("version") or "")
    if not re.fullmatch(name_form(metadata), name):
        hint = "Use lower case letters, digits, - and _. Only a package that defines a release may use capitals."
        raise Unusable(f"the plugin's name {quoted(name)} cannot be the name of a package", hint)
    if not re.fullmatch(VERSION, version):
        raise Unusable(f"the plugin's version {quoted(version)} cannot be that of a package", "Write it as 1.2.3.")
    return _Identity(name, version, str(metadata.get("build_version") or "1"))

"""What a build starts from: the names and versions of the package, and everything that will be in it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuelclient.plugins.archive.limits import LIMITS, Limits, Unusable
from fuelclient.plugins.archive.names import quoted
from fuelclient.plugins.build.checksums import checksums
from fuelclient.plugins.build.files import Entry, collect, ordered
from fuelclient.plugins.build.output import reported
from fuelclient.plugins.build.repositories import indexes
from fuelclient.plugins.directory import require_directory
from fuelclient.plugins.releases import name_form

HOOK = "pre_build_hook"

_VERSION = re.compile(r"[0-9]+\.[0-9]+[A-Za-z0-9._+~]*")
"""What Fuel takes for a version, and rpm as well: no dash, which separates it from the release."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The names of a package."""

    name: str
    version: str

    @property
    def series(self) -> str:
        """The `x.y` of the version: packages of one series replace one another, those of two stand side by side.

        >>> Identity("a", "1.2.3").series
        '1.2'
        """
        return ".".join(re.findall(r"[0-9]+", self.version)[:2])


def identity_of(metadata: Mapping[str, Any]) -> Identity:
    """Name and version from `metadata.yaml`. Raises `Unusable` when a file cannot be named after them."""
    name, version = str(metadata.get("name") or ""), str(metadata.get("version") or "")
    if not re.fullmatch(name_form(metadata), name):
        hint = "Use lower case letters, digits, - and _; capitals only in the name of a release's package."
        raise Unusable(f"the plugin's name {quoted(name)} cannot be the name of a package", hint)
    if not _VERSION.fullmatch(version):
        raise Unusable(f"the plugin's version {quoted(version)} cannot be that of a package", "Write it as 1.2.3.")
    return Identity(name, version)


def packed(directory: Path, metadata: Mapping[str, Any], limits: Limits = LIMITS) -> tuple[Entry, ...]:
    """Everything that the package of `directory` has, sorted by path: its files, the indexes of its
    repositories, and the checksums of all that. Raises `Unusable`."""
    identity = identity_of(metadata)
    files = collect(directory, identity.name, limits)
    files = ordered([*files, *indexes(files, metadata, identity.series)])
    return ordered([*files, checksums(files)])


def run_pre_build_hook(directory: Path) -> None:
    """The package's own `pre_build_hook` ran in its directory and ended well; nothing where it has none.

    It is a program of the package's author with the rights of whoever builds, so it runs only where that was asked
    for. What it prints goes to stderr. Whoever reads `metadata.yaml` reads it afterwards: the hook may write it.
    Raises `InvalidDocument` (P001) when it cannot be run or fails.
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
            raise Unusable(f"{HOOK} cannot be run: {error.strerror}", "Look at its first line.") from None
        if done.returncode:
            raise Unusable(f"{HOOK} failed with exit code {done.returncode}", "What it printed says why.")

"""Packages of linked plugins: read from the directory of their author at each use, instead of from a copy."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fuelclient.errors import Conflict, NotFound
from fuelclient.model.package import Package
from fuelclient.model.plugin import Plugin
from fuelclient.plugins.load import load_package, plugin_of

_Stamp = tuple[tuple[str, int, int], ...]
_READ: dict[str, tuple[_Stamp, Package]] = {}
"""What this process has read last, by directory: one command asks for a package several times."""


def current(plugin: Plugin) -> Package:
    """Return the package of a linked plugin as it is in its directory now.

    Raise `NotFound` if the directory is gone, `InvalidDocument` with all findings if the package cannot be used, and
    `Conflict` if it has become another plugin or defines releases.
    """
    directory = plugin.unpacked
    if not os.path.isdir(directory):
        hint = "Bring it back, or link its new directory: `fuel2 plugins install --link DIR --force`."
        raise NotFound("directory", directory, hint=f"Plugin {plugin.label} is linked to it. {hint}")
    stamp = _stamp(directory)
    known = _READ.get(directory)
    if known is None or known[0] != stamp:
        known = _READ[directory] = stamp, load_package(Path(directory))
    require_linkable(known[1], directory)
    if known[1].name != plugin.name:
        raise Conflict(
            f"Plugin {plugin.name} is linked to {directory}, where the plugin {known[1].name} is now.",
            hint=f"Change the name back in metadata.yaml, or run `fuel2 plugins install --link {directory} --force`.",
        )
    return known[1]


def require_linkable(package: Package, directory: str) -> None:
    """Raise `Conflict` if a package defines releases: environments keep those, whatever becomes of a directory."""
    if package.releases:
        raise Conflict(
            f"The package in {directory} defines a release, so it cannot be linked.",
            hint="Install it without --link.",
        )


def as_now(plugin: Plugin, package: Package) -> Plugin:
    """Return a registered plugin with what its package states now."""
    kept = {name: getattr(plugin, name) for name in ("id", "clusters", "unpacked", "by_release", "origin")}
    return replace(plugin_of(package), **kept)


def _stamp(directory: str) -> _Stamp:
    """Return what changes with the files of a directory: their names, sizes and times.

    Hidden files at its root, such as those of a version control system, are no part of a package.
    """
    files = []
    for folder, folders, names in os.walk(directory):
        if folder == directory:
            folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # an editor replaces it now
                stated = os.lstat(path)
                files.append((path, stated.st_size, stated.st_mtime_ns))
    return tuple(sorted(files))

"""Skeletons: directories that a plugin starts from, whole and working from the first minute.

The files below `templates/` are laid over one another, later ones win (`_LAYERS`). In them `@{name}` and its like are
replaced; everything else, shell and Puppet variables among it, stays as it is.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import string
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from fuelclient.errors import Conflict, NotFound, Unavailable, UsageError, nearest


class Kind(StrEnum):
    """What the package is to bring."""

    PLUGIN = "plugin"
    """Tasks, a role and settings for releases that exist."""
    RELEASE = "release"
    """A release of its own, with its graphs."""
    MULTI_RELEASE = "multi-release"
    """A plugin that is different for each release."""


VERSIONS = ("3.0.0", "4.0.0", "5.0.0")
"""The package versions that skeletons are written in; 1.0.0 and 2.0.0 know stages only, and are read but not made."""

LATEST = VERSIONS[-1]

_LAYERS: Mapping[tuple[Kind, str], tuple[str, ...]] = {
    (Kind.PLUGIN, "3.0.0"): ("base", "v3"),
    (Kind.PLUGIN, "4.0.0"): ("base", "v3", "v4"),
    (Kind.PLUGIN, "5.0.0"): ("base", "v3", "v4", "v5"),
    (Kind.MULTI_RELEASE, "5.0.0"): ("base", "v3", "v4", "v5", "multi-release"),
    (Kind.RELEASE, "5.0.0"): ("release",),
}

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z0-9_-]+")
_VERSION = "1.0.0"


class _Text(string.Template):
    """`@{word}` is replaced. The delimiter is none of YAML, shell or Puppet, whose own must survive."""

    delimiter = "@"


def create(path: Path, *, package_version: str = LATEST, kind: Kind = Kind.PLUGIN) -> list[Path]:
    """A package named after the last part of `path` stands in `path`; its files, sorted.

    It is written beside `path` and moved there whole: whatever fails leaves nothing behind. Raises `UsageError` for
    a name that no plugin can have, or a version that `kind` does not exist in, `Conflict` when `path` exists,
    `NotFound` without the directory that it goes to, and `Unavailable` when the disk refuses.
    """
    version = version_of(package_version)
    path = Path(os.path.abspath(path))
    words = _words(path.name)
    if (kind, version) not in _LAYERS:
        raise UsageError(f"There is no {kind} package of version {version}.", hint=f"It needs version {LATEST}.")
    if os.path.lexists(path):
        raise Conflict(f"Plugins directory {path} already exists, choose another name.")
    if not path.parent.is_dir():
        raise NotFound("directory", str(path.parent), hint="Create it first.")
    spool = path.parent / f".{path.name[:64]}.{secrets.token_hex(4)}.tmp"
    try:
        files = _write(spool, _LAYERS[kind, version], words)
        spool.rename(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "Check permissions, and the space on the disk."
        raise Unavailable(f"{path} cannot be written: {reason}.", hint=hint) from error
    finally:
        shutil.rmtree(spool, ignore_errors=True)
    return [path / name for name in files]


def version_of(stated: str) -> str:
    """The package version that `5`, `5.0` or `5.0.0` means. Raises `UsageError` for one that no skeleton has.

    >>> version_of("4"), version_of("5.0.0")
    ('4.0.0', '5.0.0')
    """
    for version in VERSIONS:
        if stated in (version, version[:3], version[0]):
            return version
    close = nearest(stated, VERSIONS)
    hint = f"Skeletons exist for {', '.join(VERSIONS)}."
    raise UsageError(f'Wrong package version "{stated}".', hint=f"Did you mean {close}? {hint}" if close else hint)


def _words(name: str) -> dict[str, str]:
    """What stands in templates, from the name of the plugin. Raises `UsageError` for a name that cannot be one.

    Settings are addressed with `.` and `:` between names, in which a dash is read differently from place to place.

    >>> _words("disk-cache")["title"], _words("disk-cache")["setting"], _words("disk-cache")["directory"]
    ('Disk cache', 'disk_cache', 'disk-cache-1.0')
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            "Plugin name is invalid, use only lower case letters, numbers, '_', '-' symbols",
            hint=f"(it is '{name}', the last part of the path).",
        )
    title = re.sub(r"[_-]+", " ", name).strip().capitalize() or name
    series = ".".join(_VERSION.split(".")[:2])
    return {"name": name, "title": title, "setting": name.replace("-", "_"), "directory": f"{name}-{series}"}


def _write(target: Path, layers: tuple[str, ...], words: Mapping[str, str]) -> list[str]:
    """The rendered files of `layers` are in the new directory `target`; their names, sorted."""
    sources = {
        path.relative_to(_TEMPLATES / layer).as_posix(): path
        for layer in layers
        for path in (_TEMPLATES / layer).rglob("*")
        if path.is_file()
    }
    target.mkdir()
    for name, source in sources.items():
        text = _Text(source.read_text(encoding="utf-8")).substitute(words)
        written = target / name
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            written.chmod(0o755)
    return sorted(sources)

"""Create a new plugin from templates: a complete package that works before anything in it is edited.

The files of several directories below `templates/` are combined (`_LAYERS`); later ones win. `@{name}` and similar
placeholders are replaced; everything else, including shell and Puppet variables, is kept.
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

from fuelclient.environment.checks import require_name
from fuelclient.errors import Conflict, NotFound, UsageError, did_you_mean
from fuelclient.files.writing import refused


class Skeleton(StrEnum):
    """What a new package is for."""

    PLUGIN = "plugin"
    """Tasks, a role and settings for existing releases."""
    RELEASE = "release"
    """A release of its own, with its graphs."""
    MULTI_RELEASE = "multi-release"
    """A plugin that differs from release to release."""


VERSIONS = ("1.0.0", "2.0.0", "3.0.0", "4.0.0", "5.0.0", "6.0.0")
"""The package versions that can be created. The first two only have stages; the last one adds tags to version 5."""

LATEST = "5.0.0"
"""The version of a new package unless another one is asked for: the latest that the original builder knows."""

_LAYERS: Mapping[tuple[Skeleton, str], tuple[str, ...]] = {
    (Skeleton.PLUGIN, "1.0.0"): ("base", "v1"),
    (Skeleton.PLUGIN, "2.0.0"): ("base", "v1", "v2"),
    (Skeleton.PLUGIN, "3.0.0"): ("base", "v3"),
    (Skeleton.PLUGIN, "4.0.0"): ("base", "v3", "v4"),
    (Skeleton.PLUGIN, "5.0.0"): ("base", "v3", "v4", "v5"),
    (Skeleton.PLUGIN, "6.0.0"): ("base", "v3", "v4", "v5", "v6"),
    (Skeleton.MULTI_RELEASE, "5.0.0"): ("base", "v3", "v4", "v5", "multi-release"),
    (Skeleton.RELEASE, "5.0.0"): ("release",),
}

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z0-9_-]+")
_SERIES = "1.0"


class _Text(string.Template):
    """Replaces `@{word}`. The delimiter means nothing in YAML, shell or Puppet, whose own `$` must be kept."""

    delimiter = "@"


def create(path: Path, *, package_version: str = LATEST, skeleton: Skeleton = Skeleton.PLUGIN) -> list[Path]:
    """Create a package in `path`, named after the last part of `path`, and return its files, sorted.

    It is written next to `path` and then moved, so a failure leaves nothing behind. Raise `UsageError` for an invalid
    name, or a version that `skeleton` does not exist in; `Conflict` if `path` exists; `NotFound` if its parent
    directory does not; and `Unavailable` if it cannot be written.
    """
    version = version_of(package_version)
    path = Path(os.path.abspath(path))
    words = _words(path.name)
    if (skeleton, version) not in _LAYERS:
        message = f"A {skeleton} package cannot have version {version}."
        raise UsageError(message, hint=f"Use --package-version {LATEST}.")
    if os.path.lexists(path):
        raise Conflict(f"Plugins directory {path} already exists, choose another name.")
    if not path.parent.is_dir():
        raise NotFound("directory", str(path.parent), hint="Create it first.")
    spool = path.parent / f".{path.name[:64]}.{secrets.token_hex(4)}.tmp"
    sources = {
        source.relative_to(_TEMPLATES / layer).as_posix(): source
        for layer in _LAYERS[skeleton, version]
        for source in (_TEMPLATES / layer).rglob("*")
        if source.is_file()
    }
    try:
        spool.mkdir()
        for name, source in sources.items():
            text = _Text(source.read_text(encoding="utf-8")).substitute(words)
            written = spool / name
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                written.chmod(0o755)
        spool.rename(path)
    except OSError as error:
        raise refused(str(path), "written", error, "Check permissions and free disk space.") from error
    finally:
        shutil.rmtree(spool, ignore_errors=True)
    return [path / name for name in sorted(sources)]


def version_of(given: str) -> str:
    """Complete the package version: `5`, `5.0` or `5.0.0`. Raise `UsageError` if it cannot be created.

    >>> version_of("4"), version_of("5.0.0")
    ('4.0.0', '5.0.0')
    """
    for version in VERSIONS:
        if given in (version, version[:3], version[0]):
            return version
    hint = f"{did_you_mean(given, VERSIONS, '')} Known: {', '.join(VERSIONS)}.".lstrip()
    raise UsageError(f'Wrong package version "{given}".', hint=hint)


def _words(name: str) -> dict[str, str]:
    """The values of placeholders for a plugin's name. Raise `UsageError` if the name is invalid.

    The name of a setting contains no dash: expressions separate names with `.` and `:`, and not all parts of Fuel
    read a dash in them in the same way.

    >>> _words("disk-cache")["title"], _words("disk-cache")["setting"], _words("disk-cache")["directory"]
    ('Disk cache', 'disk_cache', 'disk-cache-1.0')
    """
    if not _NAME.fullmatch(name):
        valid = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
        raise UsageError(
            "Plugin name is invalid, use only lower case letters, numbers, '_', '-' symbols",
            hint=f"The name is the last part of the path: '{name}'.{f' For example {valid}.' if valid else ''}",
        )
    require_name("plugin", name)
    title = re.sub(r"[_-]+", " ", name).strip().capitalize() or name
    return {"name": name, "title": title, "setting": name.replace("-", "_"), "directory": f"{name}-{_SERIES}"}

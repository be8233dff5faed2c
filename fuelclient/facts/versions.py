"""The version of Fuel that a release belongs to, which decides over a few keys."""

from __future__ import annotations

from fuelclient.model.release import Release


def environment_version(release: Release) -> str:
    """Return the version of Fuel in the version of a release, as Nailgun reads it.

    >>> environment_version(Release(1, "Newton", "newton-10.0"))
    '10.0'
    """
    return release.version.rpartition("-")[2]


def version_of(release: Release) -> tuple[int, ...]:
    """Return the version of Fuel as numbers; empty if it has none.

    >>> version_of(Release(1, "Mitaka", "mitaka-9.0")), version_of(Release(1, "x", "trunk"))
    ((9, 0), ())
    """
    parts = environment_version(release).split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else ()

"""P068: what a build refuses."""

from __future__ import annotations

from collections.abc import Iterator

from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.plugins.build import refusals
from fuelclient.plugins.reading import Reading


def check(package: Reading) -> Iterator[Finding]:
    """Yield an error for each reason why the package could not be built."""
    try:
        for key, reason in refusals(package.files.directory, package.metadata or {}):
            place = package.place(key) if key else Place(package.files.manifest)
            yield Finding(Severity.ERROR, "P068", f"the package cannot be built: {reason}", place, hint=reason.hint)
    except OSError as error:
        message = f"the package cannot be built: {error.strerror}: {error.filename}"
        yield Finding(Severity.ERROR, "P068", message, Place(package.files.manifest), hint="Check its permissions.")

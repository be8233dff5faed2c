"""The packages that `check` and `build` look at: directories, and archives as if they were unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding


@contextmanager
def opened(path: Path) -> Iterator[tuple[Path, str]]:
    """The directory of a package, and what to call it in messages (empty for its own name).

    An archive is unpacked into a directory that is gone afterwards. Raises `NotFound` when there is nothing, and what
    `archive.extract` raises.
    """
    if path.is_dir():
        yield path, ""
        return
    from fuelclient.plugins import archive

    with TemporaryDirectory(prefix="fuel2-") as target:
        archive.extract(path, Path(target))
        yield Path(target), f"{path}!"


def findings_of(path: Path) -> Sequence[Finding]:
    """Everything that a check of the package in `path` has to say. An archive that cannot be unpacked is a finding of
    its own, not a failure; a path that leads to nothing is one (`NotFound`)."""
    from fuelclient.plugins.checks import check

    try:
        with opened(path) as (directory, shown_as):
            return check(directory, shown_as=shown_as)
    except InvalidDocument as broken:
        if not broken.findings:
            raise
        return cast("Sequence[Finding]", broken.findings)

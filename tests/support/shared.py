"""Directories that many tests begin with, such as engines: made once for all workers, and copied for each test."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

PLACE = "SHARED_BY_TESTS"
"""The variable that says where the originals are. Benchmarks have none, and make their own."""

_made: dict[str, Path] = {}
"""Those that this process has seen complete."""


@contextlib.contextmanager
def sharing() -> Iterator[None]:
    """Have a place for them, for this process and all that it starts."""
    with tempfile.TemporaryDirectory(prefix="shared-") as directory:
        os.environ[PLACE] = directory
        yield


def shared(name: str, make: Callable[[Path], object], directory: Path) -> None:
    """Fill a directory as `make` does; `name` stands for what it makes."""
    place = os.environ.get(PLACE)
    if place is None:
        make(directory)
        return
    if name not in _made:
        _made[name] = _original(Path(place), name, make)
    _copy(_made[name], directory)


def _copy(original: Path, directory: Path) -> None:
    if any(map(Path.is_dir, original.iterdir())):  # `cp` takes a tenth of the time for hundreds of files
        directory.mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", f"{original}/.", str(directory)], check=True)
    else:
        shutil.copytree(original, directory, symlinks=True, dirs_exist_ok=True)


def _original(place: Path, name: str, make: Callable[[Path], object]) -> Path:
    complete = place / name
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            unfinished = Path(tempfile.mkdtemp(dir=place))  # a new one after one that failed
            make(unfinished)
            unfinished.rename(complete)
    return complete

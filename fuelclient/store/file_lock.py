"""The lock for creating, upgrading and replacing an engine file, and for work on the files beside it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lock(target: str) -> Iterator[None]:
    """Hold the lock for creating and upgrading `target`. Its file beside `target` is never removed, because then two
    processes could hold two locks of the same name."""
    make_directories(os.path.dirname(target))
    descriptor = os.open(f"{target}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def make_directories(path: str) -> None:
    """Create the missing directories of `path`, for their owner only."""
    if os.path.isdir(path):
        return
    make_directories(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # otherwise another process created it just now
            raise

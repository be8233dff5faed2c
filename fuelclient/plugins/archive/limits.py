"""Limits of package archives, and what is raised for those that cannot be used.

The largest Fuel plugins carry some hundred megabytes of repositories; a package without them has a few dozen
files. The limits keep a hostile archive from filling the memory, the disk or the afternoon.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_NAME = 1024
"""Bytes of a member's path; with the directory it goes to, it stays below what Linux accepts (4096)."""

MAX_PART = 255
"""Bytes of one part of a path: what every file system accepts."""

MAX_DEPTH = 64
"""Parts of a path: removing a tree takes one open directory a level."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an archive may hold: bytes in all, members (with the directories that they imply), bytes a member."""

    total: int = 256 * 2**20
    members: int = 20_000
    member: int = 64 * 2**20

    @property
    def stream(self) -> int:
        """Bytes that may come out of decompression: the contents, 2 KiB a member, and 1 MiB of padding at the end."""
        return self.total + self.members * 2048 + 2**20


LIMITS = Limits()


class Unusable(Exception):
    """What is wrong with an archive or a tree; its reader knows the file's name and makes the error of it."""

    def __init__(self, message: str, hint: str = "Get the package again, or build it anew.") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def size_of(count: int) -> str:
    """A limit as people write it.

    >>> size_of(64 * 2**20), size_of(1500)
    ('64 MiB', '1500 bytes')
    """
    whole, rest = divmod(count, 2**20)
    return f"{whole} MiB" if whole and not rest else f"{count} bytes"

"""Unpacking: what an archive's members may become below a directory, whatever kind of archive they come from."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path

from fuelclient.plugins.archive.limits import Limits, Unusable, size_of
from fuelclient.plugins.archive.links import require_inside
from fuelclient.plugins.archive.names import parts_of, quoted

PROGRAM, FILE = 0o755, 0o644
"""The only modes that are written. Of an archive's own, the executable bit is kept and nothing else."""


class _Kind(Enum):
    IMPLIED = "directory, not named so far"
    DIRECTORY = "directory"
    FILE = "file"
    SYMLINK = "symbolic link"


def kind_of_mode(mode: int) -> str:
    """What a mode's type bits call a member that no package may have."""
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "a named pipe" if stat.S_ISFIFO(mode) else "of an unknown kind"


class Unpacker:
    """Writes members below `target`; the directories of `prefix`, and the one directory below, are stripped.

    Without a target everything is checked and nothing written. The order makes writing safe: a member never goes
    through a link, because links are made last (`finish`), after all of them were followed to their ends.
    Everything raises `Unusable` with the member's name in it.
    """

    def __init__(self, target: Path | None, prefix: tuple[str, ...], limits: Limits) -> None:
        self.writing = target is not None
        self._target = str(target)
        self._prefix = prefix
        self._limits = limits
        self._top = ""
        self._kinds: dict[str, _Kind] = {}
        self._links: dict[str, str] = {}
        self._count = 0
        self._bytes = 0

    def directory(self, name: str) -> None:
        path = self._path(name, directory=True)
        if path is None:
            return
        if self._kinds.get(path) is _Kind.IMPLIED:
            self._kinds[path] = _Kind.DIRECTORY
            return
        self._claim(path, name, _Kind.DIRECTORY)
        if path:
            self._make(path)

    def file(self, name: str, size: int, *, executable: bool, read: Callable[[int], Iterable[bytes]]) -> None:
        """A file with the `size` bytes that `read(size)` gives."""
        self.require_small(name, size)
        self._bytes += size
        if self._bytes > self._limits.total:
            raise Unusable(
                f"the archive unpacks to more than {size_of(self._limits.total)} (with member {quoted(name)})",
                "Fuel plugins are smaller; put large files on a server of their own.",
            )
        path = self._new(name, _Kind.FILE)
        if not self.writing:
            for _ in read(size):
                pass
            return
        mode = PROGRAM if executable else FILE
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(self._below(path), flags, mode), "wb", buffering=0) as stream:
            for piece in read(size):
                stream.write(piece)
            os.fchmod(stream.fileno(), mode)  # whatever the umask is

    def symlink(self, name: str, target: str) -> None:
        self._links[self._new(name, _Kind.SYMLINK)] = target

    def hardlink(self, name: str, source: str) -> None:
        """One more name for the file that the earlier member `source` became."""
        found = self._path(source)
        if found is None or self._kinds.get(found) is not _Kind.FILE:
            raise Unusable(f"hard link {quoted(name)} leads to {quoted(source)}, which is no earlier file")
        path = self._new(name, _Kind.FILE)
        if self.writing:
            os.link(self._below(found), self._below(path), follow_symlinks=False)

    def require_small(self, name: str, size: int) -> None:
        """Raises `Unusable` when a member says that it is larger than one may be."""
        if not 0 <= size <= self._limits.member:
            raise Unusable(
                f"member {quoted(name)} is larger than {size_of(self._limits.member)}",
                "Fuel plugins are smaller; put large files on a server of their own.",
            )

    def finish(self) -> None:
        """Everything has its place: the links are made, and there is a package."""
        if not self._top:
            raise Unusable("the archive holds no package")
        require_inside(self._links)
        if self.writing:
            for path, target in self._links.items():
                os.symlink(target, self._below(path))

    def _make(self, path: str) -> None:
        if self.writing:
            os.mkdir(self._below(path))
            os.chmod(self._below(path), PROGRAM)  # whatever the umask is

    def _below(self, path: str) -> str:
        return f"{self._target}/{path}"

    def _new(self, name: str, kind: _Kind) -> str:
        """The path of a member that is no directory, claimed, with the directories above it made."""
        path = self._path(name)
        if not path:
            where = "/".join((*self._prefix, "<one directory>"))
            raise Unusable(f"member {quoted(name)} stands outside {where}", "A package has one top directory.")
        for end, letter in enumerate(path):
            if letter == "/" and self._kinds.get(path[:end]) not in (_Kind.IMPLIED, _Kind.DIRECTORY):
                self._claim(path[:end], name, _Kind.IMPLIED)
                self._make(path[:end])
        self._claim(path, name, kind)
        return path

    def _claim(self, path: str, name: str, kind: _Kind) -> None:
        taken = self._kinds.get(path)
        if taken is not None and kind is _Kind.IMPLIED:
            raise Unusable(f"member {quoted(name)} lies below {quoted(path)}, which is a {taken.value}")
        if taken is not None:
            raise Unusable(f"member {quoted(name)} is there twice")
        self._kinds[path] = kind
        self._one_more()

    def _one_more(self) -> None:
        self._count += 1
        if self._count > self._limits.members:
            raise Unusable(f"the archive has more than {self._limits.members} members")

    def _path(self, name: str, *, directory: bool = False) -> str | None:
        """Where a member goes, relative to the target and empty for the top directory itself; None above it."""
        parts, depth = parts_of(name), len(self._prefix)
        if parts[:depth] != self._prefix[: len(parts)]:
            raise Unusable(
                f"member {quoted(name)} stands outside /{'/'.join(self._prefix)}",
                "A plugin's files have their place there, and nowhere else.",
            )
        if len(parts) <= depth:
            self._one_more()
            return None
        if len(parts) == depth + 1 and not directory:
            return ""
        if self._top and parts[depth] != self._top:
            raise Unusable(f"member {quoted(name)} stands outside {quoted(self._top)}, the first top directory")
        self._top = parts[depth]
        return "/".join(parts[depth + 1 :])

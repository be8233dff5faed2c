"""Write the members of an archive of any format below a directory, safely."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path

from fuelclient.plugins.archive.limits import TOO_LARGE, Limits, Unusable, parts_of, quoted, require_inside, size_of

PROGRAM_MODE, FILE_MODE = 0o755, 0o644
"""The only modes that are written. Of the modes in an archive, only the executable bit is kept."""


class _Type(Enum):
    IMPLIED = "directory, not a member so far"
    DIRECTORY = "directory"
    FILE = "file"
    SYMLINK = "symbolic link"


def type_name(mode: int) -> str:
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "a named pipe" if stat.S_ISFIFO(mode) else "of an unknown type"


class Unpacker:
    """Writes members below `target`, without the directories in `prefix` and the one directory below these.

    Without a target, everything is checked and nothing is written. The order makes writing safe: a member never goes
    through a link, because links are made last (`finish`), after each has been followed to its end. Every method
    raises `Unusable`, naming the member.
    """

    def __init__(self, target: Path | None, prefix: tuple[str, ...], limits: Limits) -> None:
        self.writing = target is not None
        self._target = str(target)
        self._prefix = prefix
        self._limits = limits
        self._top = ""
        self._types: dict[str, _Type] = {}
        self._links: dict[str, str] = {}
        self._members = 0
        self._bytes = 0

    def directory(self, name: str) -> None:
        if (path := self._path(name, directory=True)) is None:
            return
        if self._types.get(path) is _Type.IMPLIED:
            self._types[path] = _Type.DIRECTORY
            return
        self._claim(path, name, _Type.DIRECTORY)
        if path:
            self._make_directory(path)

    def file(self, name: str, size: int, *, executable: bool, read: Callable[[int], Iterable[bytes]]) -> None:
        if not 0 <= size <= self._limits.member:
            raise Unusable(f"member {quoted(name)} is larger than {size_of(self._limits.member)}", TOO_LARGE)
        self._bytes += size
        if self._bytes > self._limits.total:
            message = f"the archive unpacks to more than {size_of(self._limits.total)} (with member {quoted(name)})"
            raise Unusable(message, TOO_LARGE)
        path = self._new_path(name, _Type.FILE)
        if not self.writing:
            for _ in read(size):
                pass
            return
        mode = PROGRAM_MODE if executable else FILE_MODE
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(self._on_disk(path), flags, mode), "wb", buffering=0) as stream:
            for piece in read(size):
                stream.write(piece)
            os.fchmod(stream.fileno(), mode)  # independent of the umask

    def symlink(self, name: str, target: str) -> None:
        self._links[self._new_path(name, _Type.SYMLINK)] = target

    def hardlink(self, name: str, source: str) -> None:
        """Add another name for the file of the earlier member `source`."""
        file = self._path(source)
        if file is None or self._types.get(file) is not _Type.FILE:
            raise Unusable(f"hard link {quoted(name)} leads to {quoted(source)}, which is not an earlier file")
        path = self._new_path(name, _Type.FILE)
        if self.writing:
            os.link(self._on_disk(file), self._on_disk(path), follow_symlinks=False)

    def finish(self) -> None:
        """Make the symbolic links. Raise `Unusable` if a link leaves the package, or if there was no package."""
        if not self._top:
            raise Unusable("the archive contains no package")
        require_inside(self._links)
        if self.writing:
            for path, target in self._links.items():
                os.symlink(target, self._on_disk(path))

    def _make_directory(self, path: str) -> None:
        if self.writing:
            os.mkdir(self._on_disk(path))
            os.chmod(self._on_disk(path), PROGRAM_MODE)  # independent of the umask

    def _on_disk(self, path: str) -> str:
        return f"{self._target}/{path}"

    def _new_path(self, name: str, member_type: _Type) -> str:
        """Claim and return the path of a member that is not a directory, and make the directories above it."""
        if not (path := self._path(name)):
            where = "/".join((*self._prefix, "<one directory>"))
            raise Unusable(f"member {quoted(name)} is outside {where}", "A package has one top directory.")
        for end, character in enumerate(path):
            if character == "/" and self._types.get(path[:end]) not in (_Type.IMPLIED, _Type.DIRECTORY):
                self._claim(path[:end], name, _Type.IMPLIED)
                self._make_directory(path[:end])
        self._claim(path, name, member_type)
        return path

    def _claim(self, path: str, name: str, member_type: _Type) -> None:
        if taken := self._types.get(path):
            is_below = member_type is _Type.IMPLIED
            problem = f"is below {quoted(path)}, which is a {taken.value}" if is_below else "appears twice"
            raise Unusable(f"member {quoted(name)} {problem}")
        self._types[path] = member_type
        self._count()

    def _count(self) -> None:
        self._members += 1
        if self._members > self._limits.members:
            raise Unusable(f"the archive has more than {self._limits.members} members")

    def _path(self, name: str, *, directory: bool = False) -> str | None:
        """The path of a member relative to the target: "" for the top directory itself, None for one above it."""
        parts, depth = parts_of(name), len(self._prefix)
        if parts[:depth] != self._prefix[: len(parts)]:
            message = f"member {quoted(name)} is outside /{'/'.join(self._prefix)}"
            raise Unusable(message, "All files of a plugin must be below this directory.")
        if len(parts) <= depth:
            self._count()
            return None
        if len(parts) == depth + 1 and not directory:
            return ""
        if self._top and parts[depth] != self._top:
            raise Unusable(f"member {quoted(name)} is outside {quoted(self._top)}, the first top directory")
        self._top = parts[depth]
        return "/".join(parts[depth + 1 :])

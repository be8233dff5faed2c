"""The tree of a package: every entry that will be packed, sorted, with normal modes and no trace of the builder."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from fuelclient.plugins.archive.limits import LIMITS, Limits, Unusable, size_of
from fuelclient.plugins.archive.links import require_inside
from fuelclient.plugins.archive.names import parts_of, quoted
from fuelclient.plugins.archive.stream import CHUNK

CHECKSUMS = "checksums.sha1"


class Kind(StrEnum):
    """What an entry is; nothing else is packed."""

    DIRECTORY = "directory"
    FILE = "file"
    SYMLINK = "symlink"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a package: `path` relative to its top, a file's content on the disk (`source`) or in memory."""

    path: str
    kind: Kind
    size: int = 0
    executable: bool = False
    source: Path | None = None
    content: bytes = b""
    target: str = ""
    """Where a symbolic link leads to."""

    @property
    def mode(self) -> int:
        """The permissions it is packed with: those of the builder's machine mean nothing elsewhere."""
        if self.kind is Kind.SYMLINK:
            return 0o777
        return 0o755 if self.executable or self.kind is Kind.DIRECTORY else 0o644

    def open(self) -> BinaryIO:
        return self.source.open("rb") if self.source else io.BytesIO(self.content)

    def chunks(self) -> Iterator[bytes]:
        """The content, chunk by chunk, `size` bytes in all. Raises `Unusable` when the file changed meanwhile."""
        left = self.size
        with self.open() as stream:
            while chunk := stream.read(CHUNK):
                left -= len(chunk)
                yield chunk
        if left:
            raise Unusable(f"{quoted(self.path)} changed while it was packed", "Build again.")


def generated(path: str, content: bytes) -> Entry:
    """A file that exists only in the package."""
    return Entry(path, Kind.FILE, len(content), content=content)


def collect(directory: Path, name: str, limits: Limits = LIMITS) -> tuple[Entry, ...]:
    """Everything in `directory` that belongs into the package `name`, sorted by path.

    Hidden files at the root stay out (`.git`, `.build`; hidden files below it are kept), as in Fuel's own builder;
    so do packages that were built here before, and the old checksums. Raises `Unusable` for what no package may
    have - the rules are those of reading: links that leave, devices, names that are no text, more than fits.
    """
    entries = [entry for entry in _walk(directory, "") if not _stays_out(entry.path, name)]
    require_inside({entry.path: entry.target for entry in entries if entry.kind is Kind.SYMLINK})
    if len(entries) > limits.members:
        raise Unusable(f"the package has more than {limits.members} files and directories", "Leave some out.")
    if sum(entry.size for entry in entries) > limits.total:
        raise Unusable(f"the package is larger than {size_of(limits.total)}", "Put large files on a server.")
    for entry in entries:
        if entry.size > limits.member:
            raise Unusable(f"{quoted(entry.path)} is larger than {size_of(limits.member)}", "Put it on a server.")
    return ordered(entries)


def ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries by path; of two with one path, the later one."""
    return tuple(sorted({entry.path: entry for entry in entries}.values(), key=lambda entry: entry.path))


def _stays_out(path: str, name: str) -> bool:
    top = path.split("/", 1)[0]
    packages = top == path and path.startswith(f"{name}-") and path.endswith((".fp", ".noarch.rpm"))
    return top.startswith(".") or packages or path == CHECKSUMS


def _walk(directory: Path, above: str) -> Iterator[Entry]:
    with os.scandir(directory) as listed:
        below = sorted(listed, key=lambda found: found.name)
    for found in below:
        path = f"{above}{found.name}"
        if not above and found.name.startswith("."):
            continue  # not even looked at: .git is large, and may hold anything
        parts_of(path)
        status = found.stat(follow_symlinks=False)
        if found.is_symlink():
            yield Entry(path, Kind.SYMLINK, target=os.readlink(found.path))
        elif found.is_dir():
            yield Entry(path, Kind.DIRECTORY)
            yield from _walk(Path(found.path), f"{path}/")
        elif stat.S_ISREG(status.st_mode):
            yield Entry(path, Kind.FILE, status.st_size, bool(status.st_mode & 0o100), Path(found.path))
        else:
            raise Unusable(f"{quoted(path)} is no file, directory or link", "Remove it.")

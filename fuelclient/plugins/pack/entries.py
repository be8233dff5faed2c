"""The files of a package, as entries that do not depend on the machine they are packed on: sorted, with fixed modes."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from fuelclient.plugins.archive.decompress import CHUNK
from fuelclient.plugins.archive.limits import LIMITS, Unusable, parts_of, quoted, require_inside, size_of

VERSION = r"[0-9]+\.[0-9]+[A-Za-z0-9._+~]*"
"""A version as Fuel and rpm accept it: without a dash, which separates it from the release."""

RELEASE = r"[A-Za-z0-9._+~]+"

_CHECKSUMS = "checksums.sha1"
_PACKAGE_SUFFIX = re.compile(rf"-{VERSION}\.fp|-[0-9]+\.[0-9]+-{VERSION}-{RELEASE}\.noarch\.rpm")
"""What follows the name of a plugin in the file names of its packages."""


class EntryType(StrEnum):
    """The types of entries that a package may contain."""

    DIRECTORY = "directory"
    FILE = "file"
    SYMLINK = "symlink"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a package. `path` is relative to its top. A file has a `source` on the disk, or else `content`."""

    path: str
    type: EntryType
    size: int = 0
    executable: bool = False
    source: Path | None = None
    content: bytes = b""
    target: str = ""
    """Where a symbolic link leads."""

    @property
    def mode(self) -> int:
        """The permissions it is packed with. Those on the builder's machine mean nothing elsewhere."""
        if self.type is EntryType.SYMLINK:
            return 0o777
        return 0o755 if self.executable or self.type is EntryType.DIRECTORY else 0o644

    def open(self) -> BinaryIO:
        return self.source.open("rb") if self.source else io.BytesIO(self.content)

    def chunks(self) -> Iterator[bytes]:
        """Yield the content, `size` bytes in all. Raise `Unusable` if the file has changed since it was listed."""
        left = self.size
        with self.open() as stream:
            while chunk := stream.read(CHUNK):
                left -= len(chunk)
                yield chunk
        if left:
            raise changed(self)


def changed(entry: Entry) -> Unusable:
    return Unusable(f"{quoted(entry.path)} changed while it was packed", "Build again.")


def generated(path: str, content: bytes) -> Entry:
    return Entry(path, EntryType.FILE, len(content), content=content)


def collect(directory: Path, name: str) -> tuple[Entry, ...]:
    """List everything in `directory` that belongs in the package of the plugin `name`, sorted by path.

    Left out are hidden files at the root (`.git`, `.build`), as in Fuel's own builder; `checksums.sha1`, which each
    build writes anew; and packages of this plugin that were built here before.

    Raise `Unusable` for what an archive may not contain (`plugins.archive.limits`): links that leave the package,
    devices, names that are not text, and more than the limits allow.
    """
    entries = [
        entry
        for entry in _walk(directory, "")
        if entry.path != _CHECKSUMS and (entry.type is EntryType.DIRECTORY or not is_built(entry.path, name))
    ]
    require_inside({entry.path: entry.target for entry in entries if entry.type is EntryType.SYMLINK})
    if len(entries) > LIMITS.members:
        raise Unusable(f"the package has more than {LIMITS.members} files and directories", "Remove some.")
    if sum(entry.size for entry in entries) > LIMITS.total:
        raise Unusable(f"the package is larger than {size_of(LIMITS.total)}", "Put large files on a server.")
    for entry in entries:
        if entry.size > LIMITS.member:
            raise Unusable(f"{quoted(entry.path)} is larger than {size_of(LIMITS.member)}", "Put it on a server.")
    return ordered(entries)


def is_built(path: str, name: str) -> bool:
    """Whether a file is, by its name, a package built from any version of the plugin `name`.

    Builds write into the current directory, which may be inside that of the plugin. Such a package must not become part
    of the next one.

    >>> is_built("lma-1.0.0.fp", "lma"), is_built("out/lma-1.0-1.0.0-1.noarch.rpm", "lma")
    (True, True)
    >>> is_built("repositories/lma-tools-1.0.0-1.noarch.rpm", "lma")
    False
    """
    file = path.rpartition("/")[2]
    return bool(name) and file.startswith(name) and _PACKAGE_SUFFIX.fullmatch(file, len(name)) is not None


def ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Sort entries by path. Of two entries with one path, the later one is kept."""
    return tuple(sorted({entry.path: entry for entry in entries}.values(), key=lambda entry: entry.path))


def checksums(entries: Iterable[Entry]) -> Entry:
    """Make `checksums.sha1`: a line `<sha1> <path>` for each file but itself, sorted by path.

    Symbolic links are left out, because what they lead to is listed already.

    >>> checksums([generated("a", b"fake file content")]).content
    b'5083c27641e7e4ae287d690cb3fafb4dd6e8f6ab a\\n'
    """
    lines = []
    for entry in sorted(entries, key=lambda entry: entry.path):
        if entry.type is EntryType.FILE:
            # The format prescribes SHA-1. It detects damage, not forgery.
            digest = hashlib.sha1(usedforsecurity=False)
            for chunk in entry.chunks():
                digest.update(chunk)
            lines.append(f"{digest.hexdigest()} {entry.path}\n")
    return generated(_CHECKSUMS, "".join(lines).encode())


def _walk(directory: Path, parent: str) -> Iterator[Entry]:
    with os.scandir(directory) as listing:
        children = sorted(listing, key=lambda child: child.name)
    for child in children:
        path = f"{parent}{child.name}"
        if not parent and child.name.startswith("."):
            continue  # not even listed: .git is large, and may contain anything
        parts_of(path)  # refuses unsafe names
        status = child.stat(follow_symlinks=False)
        if child.is_symlink():
            yield Entry(path, EntryType.SYMLINK, target=os.readlink(child.path))
        elif child.is_dir():
            yield Entry(path, EntryType.DIRECTORY)
            yield from _walk(Path(child.path), f"{path}/")
        elif stat.S_ISREG(status.st_mode):
            yield Entry(path, EntryType.FILE, status.st_size, bool(status.st_mode & 0o100), Path(child.path))
        else:
            raise Unusable(f"{quoted(path)} is not a file, directory or link", "Remove it.")

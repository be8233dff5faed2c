"""Write `.fp` packages (package version 1.0.0): a compressed tar with one top directory."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterable
from typing import BinaryIO

from fuelclient.plugins.build.entries import Entry, EntryType, changed

_TYPES = {
    EntryType.DIRECTORY: tarfile.DIRTYPE,
    EntryType.FILE: tarfile.REGTYPE,
    EntryType.SYMLINK: tarfile.SYMTYPE,
}


def write(stream: BinaryIO, top: str, entries: Iterable[Entry], date: int) -> None:
    """Write an archive of `entries` below the directory `top`. Raise `Unusable` if a file changes meanwhile."""
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as packer,
        tarfile.open(fileobj=packer, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.addfile(_member(top, Entry("", EntryType.DIRECTORY), date))
        for entry in entries:
            member = _member(f"{top}/{entry.path}", entry, date)
            if entry.type is not EntryType.FILE:
                tar.addfile(member)
                continue
            with entry.open() as content:
                try:
                    tar.addfile(member, content)
                except OSError as error:
                    if error.errno is not None:
                        raise
                    # Without a number, it is tarfile's way to say that the file is shorter than it was.
                    raise changed(entry) from None


def _member(name: str, entry: Entry, date: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = _TYPES[entry.type]
    member.mode = entry.mode
    member.size = entry.size
    member.linkname = entry.target
    member.mtime = date
    member.uname = member.gname = "root"
    return member

"""Read `.fp` archives (package version 1.0.0): a compressed tar with one top directory.

`tarfile` reads the headers, and its data filter (where Python has it) sees every member. That is not enough: tarfile
reads extended headers whole, however long they are, in time that grows with the square of their length; it takes a
damaged header for the end; and it follows "sparse" maps to files of any size. `_Header` and `Stream.allowance` prevent
that, and `unpack.Unpacker` decides where members go.
"""

from __future__ import annotations

import stat
import tarfile
from typing import IO, BinaryIO, cast

from fuelclient.plugins.archive.decompress import Stream, decompressed
from fuelclient.plugins.archive.limits import Limits, Unusable, parts_of, quoted
from fuelclient.plugins.archive.unpack import Unpacker, type_name

_GZIP = b"\x1f\x8b"
_MAX_HEADER = 64 * 2**10
"""Bytes that `tarfile` may read to find the next member. 2 kB are usual, with every extension."""

_MAX_EXTENSION = 8 * 2**10
"""The most bytes of one extended header. It holds two paths and some numbers."""

_MAX_GLOBAL = 1024
"""The most bytes of global extended headers, which tarfile copies for every member. git writes 52."""

_MAX_WORK = 500_000_000
"""The most squared bytes of all extended headers: tarfile needs a second or two to search so much."""

_EXTENSIONS = frozenset(
    {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
)
_data_filter = getattr(tarfile, "data_filter", None)
"""The standard library's own check of a member. Python 3.11.2, which Debian 12 ships, does not have it yet."""

_SPARSE = "is sparse: its size does not show how much data it has"


def extract_fp(source: BinaryIO, unpacker: Unpacker, directory: str, limits: Limits) -> None:
    """Pass all members of the archive `source` to `unpacker`, which writes them below `directory`.

    Raise `Unusable` if that is impossible.
    """
    if source.read(len(_GZIP)) != _GZIP:
        raise Unusable("this is not an .fp package: it is not compressed with gzip")
    source.seek(0)
    stream = Stream(decompressed(source, "gzip"), limits.stream)
    # One class per archive: tarfile only accepts a class, so the counts of this archive are kept in one.
    header_type: type[_Header] = type("_Vetted", (_Header,), {})
    stream.allowance = _MAX_HEADER
    try:
        with tarfile.open(
            fileobj=cast(IO[bytes], stream), mode="r:", tarinfo=header_type, encoding="utf-8", errors="surrogateescape"
        ) as tar:
            while member := tar.next():
                stream.allowance = None
                _unpack(member, stream, unpacker, directory)
                tar.members.clear()  # type: ignore[attr-defined]  # documented, but unknown to typeshed
                stream.allowance = _MAX_HEADER
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:  # a long chain of extended headers
        raise Unusable(f"this is not a tar archive, or a damaged one ({error})") from None
    stream.allowance = None
    if not header_type.ended:
        raise Unusable("the archive is truncated: the mark at its end is missing")
    stream.drain()


class _Header(tarfile.TarInfo):
    """A header that is checked before `tarfile` trusts it."""

    work = 0
    global_bytes = 0
    ended = False

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        """Parse the header in the block `buf`. tarfile calls this for every block it takes for a header."""
        if len(buf) == tarfile.BLOCKSIZE and not any(buf):
            cls.ended = True
        elif len(buf) < tarfile.BLOCKSIZE:
            raise Unusable("the archive is truncated: it ends before its last member")
        try:
            member = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if cls.ended:
                raise
            raise Unusable(f"the header of a member is damaged ({error})") from None
        if member.type == tarfile.GNUTYPE_SPARSE:
            raise Unusable(f"member {quoted(member.name)} {_SPARSE}")
        if member.type in _EXTENSIONS:
            cls.work += member.size**2
            cls.global_bytes += member.size if member.type == tarfile.XGLTYPE else 0
            if not 0 <= member.size <= _MAX_EXTENSION or cls.work > _MAX_WORK or cls.global_bytes > _MAX_GLOBAL:
                raise Unusable("the extended headers of the archive are too long")
        return member


def _require_filtered(member: tarfile.TarInfo, directory: str) -> None:
    """Raise `Unusable` if the standard library's data filter refuses `member`.

    This is a second line of defence: `Unpacker` refuses all that the filter refuses, and works on every Python.
    """
    try:
        if _data_filter is not None:
            _data_filter(member, directory)
    except (tarfile.TarError, OSError, ValueError):  # its own messages name paths on this machine
        target = f" -> {quoted(member.linkname)}" if member.linkname else ""
        raise Unusable(f"member {quoted(member.name)}{target} leaves the package") from None


def _unpack(member: tarfile.TarInfo, stream: Stream, unpacker: Unpacker, directory: str) -> None:
    parts_of(member.name)  # refuses unsafe names
    if member.issparse():
        raise Unusable(f"member {quoted(member.name)} {_SPARSE}")
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        mode = stat.S_IFIFO if member.isfifo() else stat.S_IFCHR if member.isdev() else 0
        raise Unusable(f"member {quoted(member.name)} is {type_name(mode)}")
    if unpacker.writing:  # not in the checking pass: the filter looks up every part of every path on the disk
        _require_filtered(member, directory)
    if member.isdir():
        unpacker.directory(member.name)
    elif member.issym():
        unpacker.symlink(member.name, member.linkname)
    elif member.islnk():
        unpacker.hardlink(member.name, member.linkname)
    else:
        stream.seek(member.offset_data)
        unpacker.file(member.name, member.size, executable=bool(member.mode & 0o100), read=stream.pieces)

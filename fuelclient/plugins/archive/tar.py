"""`.fp` archives (package version 1.0.0): a compressed tar with one top directory.

`tarfile` reads the headers, and its data filter (where Python has it) sees every member, but that is not enough by
itself: it reads extended headers whole however long they are, with a search whose time grows with the square of their
length, takes a damaged header for the end, and follows "sparse" maps to files of any size. `_vetted` and
`Stream.allowance` stand before that; `unpack.Unpacker` has the last word on where members go.
"""

from __future__ import annotations

import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO, cast

from fuelclient.plugins.archive.limits import LIMITS, Limits, Unusable
from fuelclient.plugins.archive.names import parts_of, quoted
from fuelclient.plugins.archive.stream import Stream, decompressed
from fuelclient.plugins.archive.unpack import Unpacker, kind_of_mode

_GZIP = b"\x1f\x8b"
_HEADER = 64 * 2**10
"""Bytes that `tarfile` may read to find the next member; with every extension, 2 kB are usual."""

_EXTENSION = 8 * 2**10
"""Bytes of one extended header: two paths, and some numbers."""

_SHARED = 1024
"""Bytes of all extended headers that count for every member: tarfile copies them for each (git writes 52)."""

_WORK = 500_000_000
"""Sum of the squares of the lengths of extended headers: a second or two of tarfile's search."""

_EXTENSIONS = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_data_filter = getattr(tarfile, "data_filter", None)
"""The standard library's own check of a member. Python 3.11.2, which Debian 12 has, does not know it yet."""

_SPARSE = "is sparse: its size says nothing about the data that it has"


def extract_fp(source: BinaryIO, unpacker: Unpacker, directory: str, limits: Limits) -> None:
    """All members of the archive `source` are in `directory`, through `unpacker`. Raises `Unusable`."""
    stream, vetted = _opened(source, limits)
    with _reading(stream, vetted) as tar:
        while member := _next(tar, stream):
            _unpack(member, stream, unpacker, directory)
            tar.members.clear()  # type: ignore[attr-defined]  # documented, but unknown to typeshed
    if not vetted.ended:
        raise Unusable("the archive is cut off: the mark at its end is missing")
    stream.drain()


def first_directory(source: BinaryIO) -> str:
    """The top directory of the archive `source`, as its first member has it. Raises `Unusable`."""
    stream, vetted = _opened(source, LIMITS)
    with _reading(stream, vetted) as tar:
        member = _next(tar, stream)
    parts = parts_of(member.name) if member else ()
    if not parts:
        raise Unusable("the archive holds no package")
    return parts[0]


class _Header(tarfile.TarInfo):
    """A header that is looked at before `tarfile` believes what it says."""

    work = 0
    shared = 0
    ended = False

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        """The header in the block `buf`. tarfile calls this for every block that it takes for a header."""
        if len(buf) == tarfile.BLOCKSIZE and not any(buf):
            cls.ended = True
        elif len(buf) < tarfile.BLOCKSIZE:
            raise Unusable("the archive is cut off: it ends before its last member")
        try:
            member = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if cls.ended:
                raise
            raise Unusable(f"the header of a member is damaged ({error})") from None
        cls._vet(member)
        return member

    @classmethod
    def _vet(cls, member: tarfile.TarInfo) -> None:
        if member.type == tarfile.GNUTYPE_SPARSE:
            raise Unusable(f"member {quoted(member.name)} {_SPARSE}")
        if member.type not in _EXTENSIONS:
            return
        cls.work += member.size**2
        cls.shared += member.size if member.type == tarfile.XGLTYPE else 0
        if not 0 <= member.size <= _EXTENSION or cls.work > _WORK or cls.shared > _SHARED:
            raise Unusable("the extended headers of the archive are too long")


def _opened(source: BinaryIO, limits: Limits) -> tuple[Stream, type[_Header]]:
    if source.read(len(_GZIP)) != _GZIP:
        raise Unusable("this is no .fp package: it is not compressed with gzip")
    source.seek(0)
    # One class an archive: tarfile hands headers to a class, and what is counted has to be kept somewhere.
    return Stream(decompressed(source, "gzip"), limits.stream), type("_Vetted", (_Header,), {})


def _reading(stream: Stream, vetted: type[_Header]) -> tarfile.TarFile:
    stream.allowance = _HEADER
    with _translated():
        file = cast(IO[bytes], stream)
        return tarfile.open(fileobj=file, mode="r:", tarinfo=vetted, encoding="utf-8", errors="surrogateescape")


def _next(tar: tarfile.TarFile, stream: Stream) -> tarfile.TarInfo | None:
    stream.allowance = _HEADER
    with _translated():
        member = tar.next()
    stream.allowance = None
    return member


@contextmanager
def _translated() -> Iterator[None]:
    """tarfile's own complaints become `Unusable`; a chain of extended headers can exhaust the stack as well."""
    try:
        yield
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise Unusable(f"this is no tar archive, or a damaged one ({error})") from None


def _require_filtered(member: tarfile.TarInfo, directory: str) -> None:
    """Raise `Unusable` if the standard library's data filter refuses `member`.

    This is a second lock: `Unpacker` refuses everything that the filter does, and runs on every Python.
    """
    if _data_filter is None:
        return
    try:
        _data_filter(member, directory)
    except (tarfile.TarError, OSError, ValueError):  # its own messages name places on this machine
        way = f" -> {quoted(member.linkname)}" if member.linkname else ""
        raise Unusable(f"member {quoted(member.name)}{way} leaves the package") from None


def _unpack(member: tarfile.TarInfo, stream: Stream, unpacker: Unpacker, directory: str) -> None:
    parts_of(member.name)
    if member.issparse():
        raise Unusable(f"member {quoted(member.name)} {_SPARSE}")
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        mode = stat.S_IFIFO if member.isfifo() else stat.S_IFCHR if member.isdev() else 0
        raise Unusable(f"member {quoted(member.name)} is {kind_of_mode(mode)}")
    if unpacker.writing:  # not while checking: it asks the disk about every part of every path
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

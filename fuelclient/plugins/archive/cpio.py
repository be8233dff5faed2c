"""Unpack the payload of an RPM: a cpio archive in the "newc" format, read forward only.

`rpmfile` could walk it, but not safely: it reads zstd payloads whole, skips what it does not understand, takes
devices for directories, loses file types and hard links, and does not notice a truncated end.
"""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass, field

from fuelclient.plugins.archive.decompress import Stream
from fuelclient.plugins.archive.limits import MAX_NAME, Unusable, quoted
from fuelclient.plugins.archive.unpack import Unpacker, type_name

_MAGIC = (b"070701", b"070702")
_FIELDS = struct.Struct(">13I")
_HEADER = 6 + 2 * _FIELDS.size
_END = "TRAILER!!!"


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    mode: int
    size: int
    inode: tuple[int, int, int]
    names: int
    """How many members share this inode: more than one for hard links."""


@dataclass(slots=True)
class _Shared:
    """A file with several names. RPM stores its data with the last of them only."""

    waiting: list[str] = field(default_factory=list)
    written: str = ""


def unpack_payload(stream: Stream, unpacker: Unpacker) -> None:
    """Pass all members of the payload to `unpacker`. Raise `Unusable` if that is impossible."""
    shared: dict[tuple[int, int, int], _Shared] = {}
    while member := _next(stream):
        if stat.S_ISREG(member.mode) and member.names > 1:
            _unpack_linked(member, shared.setdefault(member.inode, _Shared()), stream, unpacker)
        else:
            _unpack(member, stream, unpacker)
        stream.skip(-member.size % 4)
    for file in shared.values():
        for name in file.waiting:
            if file.written:
                unpacker.hardlink(name, file.written)
            else:  # none of its names had data, so the file is empty
                unpacker.file(name, 0, executable=False, read=stream.pieces)
    stream.drain()


def _unpack_linked(member: _Member, file: _Shared, stream: Stream, unpacker: Unpacker) -> None:
    if not member.size:
        file.waiting.append(member.name)
    elif file.written:
        raise Unusable(f"members {quoted(file.written)} and {quoted(member.name)} are one file, but both have data")
    else:
        _unpack(member, stream, unpacker)
        file.written = member.name


def _unpack(member: _Member, stream: Stream, unpacker: Unpacker) -> None:
    if stat.S_ISREG(member.mode):
        unpacker.file(member.name, member.size, executable=bool(member.mode & 0o100), read=stream.pieces)
    elif stat.S_ISDIR(member.mode) and not member.size:
        unpacker.directory(member.name)
    elif stat.S_ISLNK(member.mode) and 0 < member.size <= MAX_NAME:
        unpacker.symlink(member.name, _text(stream.exactly(member.size), member.name))
    elif stat.S_ISDIR(member.mode) or stat.S_ISLNK(member.mode):
        raise Unusable(f"member {quoted(member.name)} has an impossible size")
    else:
        raise Unusable(f"member {quoted(member.name)} is {type_name(member.mode)}")


def _next(stream: Stream) -> _Member | None:
    """Return the next member and leave the stream at its data; None at the end mark."""
    header = stream.exactly(_HEADER)
    if header[:6] not in _MAGIC:
        raise Unusable("the payload is damaged: a member does not begin where it should")
    try:
        fields = _FIELDS.unpack(bytes.fromhex(header[6:].decode("ascii")))
    except (ValueError, struct.error):
        raise Unusable("the payload is damaged: the header of a member does not contain numbers") from None
    inode, mode, _, _, names, _, size, major, minor, _, _, length, _ = fields
    if not 1 < length <= MAX_NAME + 3:  # `./` in front and a zero at the end
        raise Unusable("the payload is damaged: the name of a member is empty or too long")
    raw = stream.exactly(length)
    stream.skip(-(_HEADER + length) % 4)
    name = _text(raw[:-1], "")
    if raw[-1]:
        raise Unusable(f"the payload is damaged: the name of member {quoted(name)} has no end")
    return None if name == _END else _Member(name, mode, size, (major, minor, inode), names)


def _text(raw: bytes, name: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        whose = f"the target of link {quoted(name)}" if name else f"the name of member {raw!r}"
        raise Unusable(f"{whose} is not UTF-8") from None

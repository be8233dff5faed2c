"""Read `.rpm` packages: the two headers, the checksums, and the payload.

`rpmfile` parses the headers, but trusts them: it reads as much as a header claims, copies the rest of the data for
every entry, and searches for the magic number byte by byte. So `_checked_header` first checks the bounds of a header
and that no two entries share data, and `rpmfile` only gets what was checked, in memory.

The payload is a cpio archive in the "newc" format, read forward only. `rpmfile` could walk it, but not safely: it reads
zstd payloads whole, skips unknown entries, treats devices as directories, loses file types and hard links, and does not
notice that the archive is truncated.
"""

from __future__ import annotations

import hashlib
import io
import stat
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from fuelclient.plugins.archive.decompress import CHUNK, Stream, decompressed
from fuelclient.plugins.archive.limits import MAX_NAME, Limits, Unusable, quoted
from fuelclient.plugins.archive.unpack import Unpacker, type_name

PLUGINS = ("var", "www", "nailgun", "plugins")
"""The directory that must contain the plugin's single top-level directory in the payload."""

_LEAD_BYTES = 96
_LEAD_MAGIC = b"\xed\xab\xee\xdb"
_MAGIC = b"\x8e\xad\xe8\x01"
_INTRO = struct.Struct(">4s4xII")
_ENTRY = struct.Struct(">IIII")
_MAX_ENTRIES = 256
"""The largest number of entries that a header may have; rpmbuild writes fewer than 100."""
_MAX_DATA_BYTES = 8 * 2**20
"""The largest number of bytes that a header's data may have; 20 000 files need four million."""
_MAX_VALUES = 500_000
"""The largest number of values that a header may have; 20 000 files have about twenty each."""
_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1}
"""Bytes of one value, by type. Types 6, 8 and 9 are strings, each ending with a zero."""
_STRING_TYPES = (6, 8, 9)
_SHA256 = 8

_SCRIPTS = {
    "%pretrans": ("pretrans", "pretransprog"),
    "%pre": ("prein", "preinprog"),
    "%post": ("postin", "postinprog"),
    "%preun": ("preun", "preunprog"),
    "%postun": ("postun", "postunprog"),
    "%posttrans": ("posttrans", "posttransprog"),
    "%verifyscript": ("verifyscript", "verifyscriptprog"),
    "%trigger": ("triggerscripts", ""),
    "%filetrigger": ("filetriggerscripts", ""),
    "%transfiletrigger": ("transfiletriggerscripts", ""),
}


@dataclass(frozen=True, slots=True)
class Headers:
    """The headers of a package: values (under rpmfile's names), raw bytes, and the offset of the payload."""

    values: Mapping[object, object]
    raw: bytes
    payload: int

    def text(self, key: str) -> str:
        """The text of an entry, or an empty string if it is missing. The items of a list are separated by spaces."""
        value = self.values.get(key, b"")
        items = value if isinstance(value, list | tuple) else [value]
        return " ".join(item.decode(errors="replace") for item in items if isinstance(item, bytes))


def extract_rpm(source: BinaryIO, unpacker: Unpacker, limits: Limits) -> dict[str, str]:
    """Pass the plugin's tree in the package `source` to `unpacker`, and return the package's scripts.

    Raise `Unusable` if that is impossible.
    """
    headers = read_headers(source)
    _require_intact(source, headers)
    if (payload_format := headers.text("archive_format") or "cpio") != "cpio":
        hint = "Rebuild the package with rpmbuild or `fuel2 plugins build`."
        raise Unusable(f"the payload has the unknown format {payload_format!r}", hint)
    source.seek(headers.payload)
    # Packages without this entry predate it, and are compressed with gzip.
    unpack_payload(Stream(decompressed(source, headers.text("archive_compression") or "gzip"), limits.stream), unpacker)
    return scripts_of(headers)


def read_headers(source: BinaryIO) -> Headers:
    """Read the headers of the package `source`. Raise `Unusable` if it is not an RPM."""
    lead = source.read(_LEAD_BYTES)
    if len(lead) < _LEAD_BYTES or not lead.startswith(_LEAD_MAGIC):
        raise Unusable("this is not an .rpm package: it does not begin like one")
    signature = _checked_header(source)
    source.read(-len(signature) % 8)
    header = _checked_header(source)
    import rpmfile  # type: ignore[import-untyped]  # the library has no types; most commands never see a package

    try:
        values = rpmfile.RPMFile(fileobj=io.BytesIO(lead + signature + header)).headers
    except (rpmfile.errors.RPMError, struct.error, AssertionError, ValueError, TypeError, IndexError) as error:
        raise Unusable(f"a header of the package is damaged ({error})") from None
    return Headers(values, header, source.tell())


def scripts_of(headers: Headers) -> dict[str, str]:
    """The scripts that `rpm` would run, by section of the spec file. The key includes an interpreter other than sh."""
    scripts: dict[str, str] = {}
    for section, (script, program) in _SCRIPTS.items():
        value = headers.values.get(script)
        interpreter = headers.text(program) if program else ""
        label = section if interpreter in ("", "/bin/sh") else f"{section} -p {interpreter}"
        if isinstance(value, list | tuple):
            texts = ((number, text) for number, text in enumerate(value, 1) if isinstance(text, bytes))
            scripts |= {f"{label} {number}": text.decode(errors="replace") for number, text in texts}
        elif isinstance(value, bytes) or interpreter:
            scripts[label] = headers.text(script)
    return scripts


def _checked_header(source: BinaryIO) -> bytes:
    """Read one header, and check that none of its entries reaches beyond its end."""
    intro = source.read(_INTRO.size)
    if len(intro) < _INTRO.size or not intro.startswith(_MAGIC):
        raise Unusable("the package is damaged: a header is missing")
    _, count, size = _INTRO.unpack(intro)
    if count > _MAX_ENTRIES or size > _MAX_DATA_BYTES:
        raise Unusable("a header of the package is too large")
    body = source.read(count * _ENTRY.size + size)
    if len(body) < count * _ENTRY.size + size:
        raise Unusable("the package is truncated: it ends inside a header")
    _require_disjoint(list(_ENTRY.iter_unpack(body[: count * _ENTRY.size])), body[count * _ENTRY.size :])
    return intro + body


def _require_disjoint(entries: Sequence[tuple[int, ...]], data: bytes) -> None:
    """Raise `Unusable` if the data of two entries overlaps. rpm forbids it too, and this bounds the memory needed."""
    damaged = Unusable("a header of the package is damaged: an entry reaches beyond its data")
    if not entries:
        raise Unusable("a header of the package is damaged: it has no entries")
    ordered = sorted((offset, kind, count) for _, kind, offset, count in entries)
    if sum(count for _, _, count in ordered) > _MAX_VALUES:
        raise Unusable("a header of the package is too large")
    ends = [offset for offset, _, _ in ordered[1:]] + [len(data)]
    for (offset, kind, count), end in zip(ordered, ends, strict=True):
        if not offset < end <= len(data) or not count:
            raise damaged
        if kind in _STRING_TYPES and data.count(b"\0", offset, end) >= count:
            continue
        if kind in _STRING_TYPES or offset + _WIDTHS.get(kind, _MAX_DATA_BYTES) * count > end:
            raise damaged


def _require_intact(source: BinaryIO, headers: Headers) -> None:
    """Raise `Unusable` unless every checksum in the package matches: of the header, of the payload, of both.

    Checksums show that a package is complete, not who made it. Signatures are left to the system that has trusted keys.
    """
    # rpmfile misnames two of them: `md5` is the SHA-1 of the header, `sigmd5` the MD5 of everything.
    sha1 = hashlib.sha1(headers.raw, usedforsecurity=False).hexdigest()
    sha256 = hashlib.sha256(headers.raw).hexdigest()
    payload, everything = hashlib.sha256(), hashlib.md5(headers.raw, usedforsecurity=False)
    md5 = headers.values.get("sigmd5")
    source.seek(headers.payload)
    while chunk := source.read(CHUNK):
        payload.update(chunk)
        everything.update(chunk)
    checksums = {
        "header": [(headers.text("md5"), sha1), (headers.text("sha256"), sha256)],
        "contents": [(md5.hex() if isinstance(md5, bytes) else "", everything.hexdigest())],
    }
    if headers.values.get("payloaddigestalgo") == _SHA256:
        checksums["contents"].append((headers.text("payloaddigest"), payload.hexdigest()))
    for what, sums in checksums.items():
        if any(expected and expected != actual for expected, actual in sums):
            raise Unusable(f"the package is damaged: its {what} and its checksums differ")


_MEMBER_MAGIC = (b"070701", b"070702")
_FIELDS = struct.Struct(">13I")
_MEMBER_HEADER = 6 + 2 * _FIELDS.size


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    mode: int
    size: int
    inode: tuple[int, int, int]
    link_count: int
    """The number of members with this inode: more than one for hard links."""


def unpack_payload(stream: Stream, unpacker: Unpacker) -> None:
    """Pass all members of the payload to `unpacker`. Raise `Unusable` if that is impossible.

    If a file has several names, RPM stores its data with the last one only.
    """
    links: list[_Member] = []
    written: dict[tuple[int, int, int], str] = {}
    while member := _next_member(stream):
        is_shared = stat.S_ISREG(member.mode) and member.link_count > 1
        if is_shared and not member.size:
            links.append(member)
        elif is_shared and member.inode in written:
            pair = f"{quoted(written[member.inode])} and {quoted(member.name)}"
            raise Unusable(f"members {pair} are one file, but both have data")
        else:
            _unpack_member(member, stream, unpacker)
            if is_shared:
                written[member.inode] = member.name
        stream.skip(-member.size % 4)
    for link in links:
        if link.inode in written:
            unpacker.hardlink(link.name, written[link.inode])
        else:  # none of its names had data, so the file is empty
            unpacker.file(link.name, 0, executable=False, read=stream.pieces)
    stream.drain()


def _unpack_member(member: _Member, stream: Stream, unpacker: Unpacker) -> None:
    if stat.S_ISREG(member.mode):
        unpacker.file(member.name, member.size, executable=bool(member.mode & 0o100), read=stream.pieces)
    elif stat.S_ISDIR(member.mode) and not member.size:
        unpacker.directory(member.name)
    elif stat.S_ISLNK(member.mode) and 0 < member.size <= MAX_NAME:
        unpacker.symlink(member.name, _decoded(stream.read_exactly(member.size), member.name))
    elif stat.S_ISDIR(member.mode) or stat.S_ISLNK(member.mode):
        raise Unusable(f"member {quoted(member.name)} has an impossible size")
    else:
        raise Unusable(f"member {quoted(member.name)} is {type_name(member.mode)}")


def _next_member(stream: Stream) -> _Member | None:
    """Read the header of the next member, and leave the stream at its data; None at the end mark."""
    header = stream.read_exactly(_MEMBER_HEADER)
    if header[:6] not in _MEMBER_MAGIC:
        raise Unusable("the payload is damaged: a member does not begin where it should")
    try:
        fields = _FIELDS.unpack(bytes.fromhex(header[6:].decode("ascii")))
    except (ValueError, struct.error):
        raise Unusable("the payload is damaged: the header of a member does not contain numbers") from None
    inode, mode, _, _, link_count, _, size, major, minor, _, _, length, _ = fields
    if not 1 < length <= MAX_NAME + 3:  # `./` in front and a zero at the end
        raise Unusable("the payload is damaged: the name of a member is empty or too long")
    raw = stream.read_exactly(length)
    stream.skip(-(_MEMBER_HEADER + length) % 4)
    name = _decoded(raw[:-1], "")
    if raw[-1]:
        raise Unusable(f"the payload is damaged: the name of member {quoted(name)} does not end with a zero byte")
    return None if name == "TRAILER!!!" else _Member(name, mode, size, (major, minor, inode), link_count)


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        subject = f"the target of link {quoted(name)}" if name else f"the name of member {raw!r}"
        raise Unusable(f"{subject} is not UTF-8") from None

"""Write `.rpm` packages (package version 2.0.0 and later) without rpmbuild, with all the checksums it writes."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tempfile
from typing import IO, Any, BinaryIO

from fuelclient.plugins.archive.decompress import CHUNK
from fuelclient.plugins.build import rpm_header as header
from fuelclient.plugins.build.entries import Entry, EntryType
from fuelclient.plugins.build.rpm_header import ROOT, TYPES, Payload, RpmPackage, fields_of

_SHA1_OF_HEADER, _SHA256_OF_HEADER = 269, 273
_SIZE, _MD5, _UNPACKED_SIZE = 1000, 1004, 1007


def write(stream: BinaryIO, package: RpmPackage) -> None:
    """Write lead, signature, header and payload. The header contains the payload's checksum, so that is made first."""
    with tempfile.TemporaryFile() as payload:
        made = _payload(payload, package)
        main = header.encode(header.IMMUTABLE, fields_of(package, made))
        everything = hashlib.md5(main, usedforsecurity=False)
        payload.seek(0)
        while chunk := payload.read(CHUNK):
            everything.update(chunk)
        signature = header.encode(
            header.SIGNATURE,
            [
                header.text(_SHA1_OF_HEADER, hashlib.sha1(main, usedforsecurity=False).hexdigest()),
                header.text(_SHA256_OF_HEADER, hashlib.sha256(main).hexdigest()),
                header.numbers(_SIZE, [len(main) + payload.tell()]),
                header.Field(_MD5, header.BINARY, 16, everything.digest()),
                header.numbers(_UNPACKED_SIZE, [made.unpacked]),
            ],
        )
        stream.write(header.lead(f"{package.name}-{package.version}-{package.release}"))
        stream.write(signature + bytes(-len(signature) % 8))
        stream.write(main)
        payload.seek(0)
        shutil.copyfileobj(payload, stream, CHUNK)


class _Digested(io.RawIOBase):
    """Passes on what is written to it, and keeps the SHA-256 and the length of that."""

    def __init__(self, below: IO[bytes] | gzip.GzipFile) -> None:
        self._below = below
        self.digest = hashlib.sha256()
        self.length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self.digest.update(piece)
        self.length += len(piece)
        self._below.write(piece)
        return len(piece)


def _payload(target: IO[bytes], package: RpmPackage) -> Payload:
    """Write the compressed cpio archive of all entries to `target`, and return its checksums."""
    packed_side = _Digested(target)
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed_side, mtime=0) as packer:
        plain_side = _Digested(packer)
        digests = [
            _append(plain_side, f".{ROOT}{package.name}/{entry.path}".rstrip("/"), number, entry, package.date)
            for number, entry in enumerate(package.entries, 1)
        ]
        _append(plain_side, "TRAILER!!!", 0, None, 0)
    return Payload(packed_side.digest.hexdigest(), plain_side.digest.hexdigest(), plain_side.length, tuple(digests))


def _append(target: _Digested, name: str, number: int, entry: Entry | None, date: int) -> str:
    """Write one member of the archive, or without an entry the end mark. Return the SHA-256 of a file's content."""
    raw = name.encode() + b"\0"
    link = entry.target.encode() if entry else b""
    mode = TYPES[entry.type] | entry.mode if entry else 0
    values = (number, mode, 0, 0, 1, date, (entry.size if entry else 0) or len(link), 0, 0, 0, 0, len(raw), 0)
    target.write(b"070701" + b"".join(b"%08x" % value for value in values) + raw)
    target.write(bytes(-target.length % 4))
    digest = hashlib.sha256()
    for chunk in [link] if entry is None or entry.type is not EntryType.FILE else entry.chunks():
        digest.update(chunk)
        target.write(chunk)
    target.write(bytes(-target.length % 4))
    return digest.hexdigest() if entry and entry.type is EntryType.FILE else ""

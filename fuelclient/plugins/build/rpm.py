"""Writing `.rpm` packages (package version 2.0.0 and later) without rpmbuild, and with all of its checksums."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.archive.names import quoted
from fuelclient.plugins.archive.stream import CHUNK
from fuelclient.plugins.build import rpm_header as header
from fuelclient.plugins.build.files import Entry, Kind
from fuelclient.plugins.build.output import build_date, reported, require_free, written
from fuelclient.plugins.build.rpm_fields import ROOT, TYPES, Package, Payload, fields_of
from fuelclient.plugins.build.source import Identity, identity_of, packed, run_pre_build_hook
from fuelclient.plugins.directory import require_directory

_RELEASE = re.compile(r"[A-Za-z0-9._+~]+")
_SHA1_OF_HEADER, _SHA256_OF_HEADER = 269, 273
_SIZE, _MD5, _UNPACKED_SIZE = 1000, 1004, 1007


def build_rpm(
    directory: Path, output_dir: Path, metadata: Mapping[str, Any], *, force: bool = False, run_hook: bool = False
) -> Path:
    """The package of `directory` as `output_dir/<name>-<x.y>-<version>-<release>.noarch.rpm`; the path of it.

    The release is 1, or `build_version` of the metadata. Everything goes to
    `/var/www/nailgun/plugins/<name>-<x.y>`. The bytes depend on names, contents, executable bits and `metadata` only
    (and on SOURCE_DATE_EPOCH). It has checksums but no signature. Raises what `build_fp` raises.
    """
    require_directory(directory)
    date = build_date(os.environ)
    with reported(directory):
        identity = identity_of(metadata)
        release = _release(metadata)
        target = output_dir / f"{_name(identity)}-{identity.version}-{release}.noarch.rpm"
        require_free(target, force=force)
        if run_hook:
            run_pre_build_hook(directory)
        entries = (Entry("", Kind.DIRECTORY), *packed(directory, metadata))
        package = Package(_name(identity), identity.version, release, date, metadata, entries)
        with written(target, force=force) as stream:
            _write(stream, package)
    return target


def _name(identity: Identity) -> str:
    return f"{identity.name}-{identity.series}"


def _release(metadata: Mapping[str, Any]) -> str:
    release = str(metadata.get("build_version") or "1")
    if not _RELEASE.fullmatch(release):
        raise Unusable(f"build_version {quoted(release)} cannot be the release of a package", "Write it as 1.")
    return release


def _write(stream: BinaryIO, package: Package) -> None:
    """Lead, signature, header, payload. The header has the payload's checksum, so the payload is made first."""
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
                header.binary(_MD5, everything.digest()),
                header.numbers(_UNPACKED_SIZE, [made.unpacked]),
            ],
        )
        stream.write(header.lead(f"{package.name}-{package.version}-{package.release}"))
        stream.write(signature + bytes(-len(signature) % 8))
        stream.write(main)
        payload.seek(0)
        shutil.copyfileobj(payload, stream, CHUNK)


class _Digested(io.RawIOBase):
    """Passes on what is written, and keeps its SHA-256 and its length."""

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


def _payload(target: IO[bytes], package: Package) -> Payload:
    """The compressed cpio archive of all entries is in `target`; its checksums."""
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
    """One member of the archive (the end mark without an entry); the SHA-256 of its content if it is a file."""
    raw = name.encode() + b"\0"
    link = entry.target.encode() if entry else b""
    mode = TYPES[entry.kind] | entry.mode if entry else 0
    size = (entry.size if entry else 0) or len(link)
    values = (number, mode, 0, 0, 1, date, size, 0, 0, 0, 0, len(raw), 0)
    target.write(b"070701" + b"".join(b"%08x" % value for value in values) + raw)
    target.write(bytes(-target.length % 4))
    digest = hashlib.sha256()
    for chunk in [link] if entry is None or entry.kind is not Kind.FILE else entry.chunks():
        digest.update(chunk)
        target.write(chunk)
    target.write(bytes(-target.length % 4))
    return digest.hexdigest() if entry and entry.kind is Kind.FILE else ""

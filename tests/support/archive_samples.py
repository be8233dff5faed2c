"""Malformed archives composed byte by byte, and the contents of unpacked ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import stat
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import zstandard

from fuelclient.plugins.archive import extract
from fuelclient.plugins.pack import rpm as header

TREE = "./var/www/nailgun/plugins/plug-1.2"


def scripts(path: Path) -> Mapping[str, str]:
    """The scripts of a package, by section."""
    with TemporaryDirectory() as target:
        return extract(path, Path(target))


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, link, mode
    return member


def tar_file(name: str, content: bytes = b"x", mode: int = 0o644) -> tuple[tarfile.TarInfo, bytes]:
    member = tar_member(name, mode=mode)
    member.size = len(content)
    return member, content


def tar(members: Iterable[tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as archive:
        for member in members:
            if isinstance(member, tuple):
                archive.addfile(member[0], io.BytesIO(member[1]))
            else:
                archive.addfile(member)
    return raw.getvalue()


def raw_header(name: str, size: int, kind: bytes) -> bytes:
    """Return a tar header that claims any size; the test adds what follows."""
    member = tar_member(name, kind)
    member.size = size
    return member.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def fp(path: Path, raw: bytes) -> Path:
    path.write_bytes(gzip.compress(raw, 1, mtime=0))
    return path


@dataclass(frozen=True)
class Member:
    """A member of a cpio archive; `size` and `length` are what its header claims."""

    name: bytes
    content: bytes = b""
    mode: int = stat.S_IFREG | 0o644
    inode: int = 0
    names: int = 1
    size: int | None = None
    length: int | None = None


END = Member(b"TRAILER!!!", mode=0)


def cpio(members: Iterable[Member], *, end: bool = True) -> bytes:
    raw = bytearray()
    for number, member in enumerate([*members, *([END] if end else [])], 1):
        size = len(member.content) if member.size is None else member.size
        length = len(member.name) + 1 if member.length is None else member.length
        values = (member.inode or number, member.mode, 0, 0, member.names, 0, size, 0, 0, 0, 0, length, 0)
        raw += b"070701" + b"".join(b"%08x" % value for value in values) + member.name + b"\0"
        raw += bytes(-len(raw) % 4)
        raw += member.content
        raw += bytes(-len(raw) % 4)
    return bytes(raw)


def inside(name: str, content: bytes = b"x", mode: int = stat.S_IFREG | 0o644) -> Member:
    return Member(f"{TREE}/{name}".encode(), content, mode)


def compressed(raw: bytes, compressor: str) -> bytes:
    if compressor == "gzip":
        return gzip.compress(raw, 1, mtime=0)
    if compressor == "xz":
        return lzma.compress(raw, preset=0)
    return zstandard.ZstdCompressor(level=1).compress(raw)


def rpm_bytes(payload: bytes, compressor: str, fields: Iterable[header.Field] = ()) -> bytes:
    """Return an RPM with the correct MD5 of its (compressed) payload."""
    main = header.encode(
        header.IMMUTABLE,
        [
            header.text(1000, "plug-1.2"),
            header.text(1001, "1.2.3"),
            header.text(1124, "cpio"),
            header.text(1125, compressor),
            *fields,
        ],
    )
    md5 = hashlib.md5(main + payload, usedforsecurity=False).digest()
    signature = header.encode(header.SIGNATURE, [header.Field(1004, header.BINARY, len(md5), md5)])
    return header.lead("plug") + signature + bytes(-len(signature) % 8) + main + payload


def rpm(path: Path, members: Iterable[Member], compressor: str = "gzip", *, end: bool = True) -> Path:
    path.write_bytes(rpm_bytes(compressed(cpio(members, end=end), compressor), compressor))
    return path


def tree(directory: Path) -> dict[str, tuple[str, bool, bytes]]:
    """Return every entry below `directory`: its kind, its executable bit, and its content or target."""
    found = {}
    for path in directory.rglob("*"):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = ("link", False, os.fsencode(os.readlink(path)))
        elif path.is_dir():
            found[name] = ("directory", False, b"")
        else:
            found[name] = ("file", bool(path.stat().st_mode & stat.S_IXUSR), path.read_bytes())
    return found


def unpacked(archive: Path, target: Path) -> dict[str, tuple[str, bool, bytes]]:
    target.mkdir()
    extract(archive, target)
    return tree(target)

"""Write an RPM: the fields of its headers for a plugin, their encoding, and its payload.

A header is an index of (tag, type, offset, count) and the data it points to. Sources: the format as rpm 4 documents it
(lead, signature, header), which every Fuel master reads; and the spec file of Fuel's own builder, which fills the
fields in the same way and runs its scripts with /bin/sh too.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import stat
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from fuelclient.plugins.archive.decompress import CHUNK
from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.pack.entries import Entry, EntryType

ROOT = "/var/www/nailgun/plugins/"
TYPES = {EntryType.DIRECTORY: stat.S_IFDIR, EntryType.FILE: stat.S_IFREG, EntryType.SYMLINK: stat.S_IFLNK}

_SHELL = "/bin/sh"
_EQUAL = 8
_RPMLIB_FLAGS = 1 << 24 | 2 | _EQUAL
"""The flags of a requirement on rpm itself, which is written `rpmlib(FEATURE) <= VERSION`."""
_INTERPRETER = 1 << 8
_FEATURES = {"CompressedFileNames": "3.0.4-1", "FileDigests": "4.6.0-1", "PayloadFilesHavePrefix": "4.0-1"}

_SCRIPTS = (
    ("pre_install.sh", 1023, 1085, 1 << 9),
    ("post_install.sh", 1024, 1086, 1 << 10),
    ("uninstall.sh", 1025, 1087, 1 << 11),
)
"""File at the root of the package, tag of the script, tag of its interpreter, flag of the requirement."""
_MAX_SCRIPT = 2**20


INT16, INT32, STRING, BINARY, STRINGS, TRANSLATED = 3, 4, 6, 7, 8, 9
_ALIGNED = {INT16: 2, INT32: 4}
_MAGIC = b"\x8e\xad\xe8\x01\0\0\0\0"
_ENTRY = struct.Struct(">IIiI")
SIGNATURE, IMMUTABLE = 62, 63
"""Tags of regions. A region is the first entry of an index, and its data has the length of the index."""


@dataclass(frozen=True, slots=True)
class RpmPackage:
    """An RPM to be written: its name, the content of metadata.yaml, and its entries, the top directory first."""

    name: str
    version: str
    release: str
    date: int
    metadata: Mapping[str, Any]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Payload:
    """Checksums of a payload, compressed (`packed`) and not (`plain`), its uncompressed length, and file checksums."""

    packed: str
    plain: str
    unpacked: int
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a header, encoded. `format` is one of the constants above (`INT16` ...)."""

    tag: int
    format: int
    count: int
    data: bytes


def fields_of(package: RpmPackage, payload: Payload) -> list[Field]:
    """All fields of the main header. Raise `Unusable` for a text that a header cannot hold."""
    scripts = dict(_scripts(package))
    try:
        return [
            *_description(package),
            *(text(tag, scripts[file].rstrip(b"\n")) for file, tag, _, _ in _SCRIPTS if file in scripts),
            *(text(tag, _SHELL) for file, _, tag, _ in _SCRIPTS if file in scripts),
            *_relations(package, scripts),
            *_files(package, payload),
            text(1124, "cpio"),
            text(1125, "gzip"),
            text(1126, "9"),
            texts(5092, [payload.packed]),
            numbers(5093, [8]),
            texts(5097, [payload.plain]),
        ]
    except ValueError as error:
        hint = "Look for it in metadata.yaml and in the scripts."
        raise Unusable(f"the header of the RPM cannot be written: {error}", hint) from None


def _description(package: RpmPackage) -> list[Field]:
    metadata, vendor = package.metadata, _joined(package.metadata.get("authors"), ", ")
    return [
        texts(100, ["C"]),
        text(1000, package.name),
        text(1001, package.version),
        text(1002, package.release),
        text(1004, " ".join(str(metadata.get("title") or package.name).split()), TRANSLATED),
        text(1005, str(metadata.get("description") or "").strip(), TRANSLATED),
        numbers(1006, [package.date]),
        text(1007, "localhost"),
        numbers(1009, [sum(entry.size for entry in package.entries)]),
        *([text(1011, vendor)] if vendor else []),
        text(1014, _joined(metadata.get("licenses"), " and ") or "unknown"),
        text(1016, "Development/Libraries", TRANSLATED),
        *([text(1020, str(metadata["homepage"]))] if metadata.get("homepage") else []),
        text(1021, "linux"),
        text(1022, "noarch"),
        text(1044, f"{package.name}-{package.version}-{package.release}.src.rpm"),
        text(1064, "4.11.3"),  # the rpm of the newest Fuel masters; without it, this looks like a package of rpm 3
        text(5062, "utf-8"),
    ]


def _joined(value: object, separator: str) -> str:
    """Join a list in the metadata to one line. A string counts as a list with one item."""
    items = value if isinstance(value, list) else [value] if value else []
    return " ".join(separator.join(str(item) for item in items).split())


def _scripts(package: RpmPackage) -> Iterator[tuple[str, bytes]]:
    """Yield the scripts of the package with their file names, for package versions that have them (3.0.0 and later).

    rpm also runs the removal script on an upgrade, after installing the new package. A guard in front prevents that.
    """
    if str(package.metadata.get("package_version", "")).startswith(("1.", "2.")):
        return
    known = {entry.path: entry for entry in package.entries if entry.type is EntryType.FILE}
    for file, *_ in _SCRIPTS:
        if (entry := known.get(file)) is None:
            continue
        if entry.size > _MAX_SCRIPT:
            raise Unusable(f"{file} is larger than {_MAX_SCRIPT} bytes", "Put most of it into a file, and call that.")
        body = b"".join(entry.chunks())
        yield file, b'[ "$1" -eq 0 ] || exit 0\n' + body if file == "uninstall.sh" else body


def _relations(package: RpmPackage, scripts: Mapping[str, bytes]) -> list[Field]:
    """What the package provides (itself) and requires: features of rpm, and a shell for its scripts."""
    needed = [(_SHELL, _INTERPRETER | flag, "") for file, _, _, flag in _SCRIPTS if file in scripts]
    needed += [(f"rpmlib({feature})", _RPMLIB_FLAGS, version) for feature, version in _FEATURES.items()]
    names, flags, versions = zip(*needed, strict=True)
    return [
        texts(1047, [package.name]),
        numbers(1112, [_EQUAL]),
        texts(1113, [f"{package.version}-{package.release}"]),
        texts(1049, names),
        numbers(1048, flags),
        texts(1050, versions),
    ]


def _files(package: RpmPackage, payload: Payload) -> list[Field]:
    """Fields with one value per entry: sizes, modes, checksums, owners, and names as (directory, base name)."""
    entries, count = package.entries, len(package.entries)
    paths = [f"{ROOT}{package.name}/{entry.path}".rstrip("/").rpartition("/") for entry in entries]
    directories = list(dict.fromkeys(f"{directory}/" for directory, _, _ in paths))
    indexes = {directory: index for index, directory in enumerate(directories)}
    return [
        numbers(1028, [entry.size or len(entry.target.encode()) for entry in entries]),
        numbers(1030, [TYPES[entry.type] | entry.mode for entry in entries], INT16),
        numbers(1033, [0] * count, INT16),
        numbers(1034, [package.date] * count),
        texts(1035, payload.digests),
        texts(1036, [entry.target for entry in entries]),
        numbers(1037, [0] * count),
        texts(1039, ["root"] * count),
        texts(1040, ["root"] * count),
        numbers(1045, [2**32 - 1] * count),
        numbers(1095, [1] * count),
        numbers(1096, range(1, count + 1)),
        texts(1097, [""] * count),
        numbers(1116, [indexes[f"{directory}/"] for directory, _, _ in paths]),
        texts(1117, [name for _, _, name in paths]),
        texts(1118, directories),
        numbers(5011, [8]),
    ]


def text(tag: int, value: str | bytes, format: int = STRING) -> Field:
    """Encode one text. Raise `ValueError` if it contains a zero byte, which marks the end of a text."""
    return texts(tag, [value], format)


def texts(tag: int, values: Sequence[str | bytes], format: int = STRINGS) -> Field:
    """Encode several texts. Raise `ValueError` as `text` does."""
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    if any(b"\0" in value for value in encoded):
        raise ValueError("a string contains a zero byte")
    return Field(tag, format, len(encoded), b"".join(value + b"\0" for value in encoded))


def numbers(tag: int, values: Sequence[int], format: int = INT32) -> Field:
    """Encode unsigned integers of 32 bits, or 16 with `INT16`. Raise `struct.error` for one that does not fit."""
    code = "H" if format == INT16 else "I"
    return Field(tag, format, len(values), struct.pack(f">{len(values)}{code}", *values))


def encode(region: int, fields: Iterable[Field]) -> bytes:
    """Encode a header with `fields`, sorted by tag, all inside `region`.

    >>> len(encode(SIGNATURE, [text(1000, "name")]))
    69
    """
    ordered = sorted(fields, key=lambda field: field.tag)
    store = bytearray()
    index = []
    for field in ordered:
        store += bytes(-len(store) % _ALIGNED.get(field.format, 1))
        index.append(_ENTRY.pack(field.tag, field.format, len(store), field.count))
        store += field.data
    # The data of the region is one more entry at the end of the store, which points back over the whole index.
    head = _ENTRY.pack(region, BINARY, len(store), _ENTRY.size)
    store += _ENTRY.pack(region, BINARY, -_ENTRY.size * (len(ordered) + 1), _ENTRY.size)
    return _MAGIC + struct.pack(">II", len(ordered) + 1, len(store)) + head + b"".join(index) + bytes(store)


def lead(name: str) -> bytes:
    """The 96 bytes at the beginning of the file, which today only mark it as an RPM.

    >>> len(lead("a-1-1"))
    96
    """
    return struct.pack(">4sBBHH66sHH16x", b"\xed\xab\xee\xdb", 3, 0, 0, 255, name.encode()[:65], 1, 5)


_SHA1_OF_HEADER, _SHA256_OF_HEADER = 269, 273
_PACKED_SIZE, _MD5, _UNPACKED_SIZE = 1000, 1004, 1007


def write_rpm(stream: BinaryIO, package: RpmPackage) -> None:
    """Write lead, signature, header and payload. The payload is made first, because the header has its checksum."""
    with tempfile.TemporaryFile() as payload:
        summary = _payload(payload, package)
        main = encode(IMMUTABLE, fields_of(package, summary))
        payload.seek(0)
        everything = hashlib.file_digest(payload, hashlib.md5(main, usedforsecurity=False).copy)
        signature = encode(
            SIGNATURE,
            [
                text(_SHA1_OF_HEADER, hashlib.sha1(main, usedforsecurity=False).hexdigest()),
                text(_SHA256_OF_HEADER, hashlib.sha256(main).hexdigest()),
                numbers(_PACKED_SIZE, [len(main) + payload.tell()]),
                Field(_MD5, BINARY, 16, everything.digest()),
                numbers(_UNPACKED_SIZE, [summary.unpacked]),
            ],
        )
        stream.write(lead(f"{package.name}-{package.version}-{package.release}"))
        stream.write(signature + bytes(-len(signature) % 8))
        stream.write(main)
        payload.seek(0)
        shutil.copyfileobj(payload, stream, CHUNK)


def _payload(target: io.BufferedRandom, package: RpmPackage) -> Payload:
    """Write the compressed cpio archive of all entries to `target`, and compute its checksums."""
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=target, mtime=0) as packer:
        digests = [
            _append(packer, f".{ROOT}{package.name}/{entry.path}".rstrip("/"), number, entry, package.date)
            for number, entry in enumerate(package.entries, 1)
        ]
        _append(packer, "TRAILER!!!", 0, None, 0)
        unpacked = packer.tell()
    target.seek(0)
    packed = hashlib.file_digest(target, "sha256").hexdigest()
    target.seek(0)
    with gzip.GzipFile(fileobj=target) as plain:
        return Payload(packed, hashlib.file_digest(plain, "sha256").hexdigest(), unpacked, tuple(digests))


def _append(target: gzip.GzipFile, name: str, number: int, entry: Entry | None, date: int) -> str:
    """Write one member, or the end mark of the archive if `entry` is None. Return the SHA-256 of a file, or ""."""
    raw = name.encode() + b"\0"
    link = entry.target.encode() if entry else b""
    mode = TYPES[entry.type] | entry.mode if entry else 0
    values = (number, mode, 0, 0, 1, date, (entry.size if entry else 0) or len(link), 0, 0, 0, 0, len(raw), 0)
    target.write(b"070701" + b"".join(b"%08x" % value for value in values) + raw)
    target.write(bytes(-target.tell() % 4))
    digest = hashlib.sha256()
    for chunk in [link] if entry is None or entry.type is not EntryType.FILE else entry.chunks():
        digest.update(chunk)
        target.write(chunk)
    target.write(bytes(-target.tell() % 4))
    return digest.hexdigest() if entry and entry.type is EntryType.FILE else ""

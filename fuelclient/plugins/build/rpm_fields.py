"""What an RPM says of itself: the fields of its header, from the metadata and the files of a plugin.

Source: Fuel's own builder, whose spec file fills them likewise. Its scripts run through /bin/sh there as well.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.build.files import Entry, Kind
from fuelclient.plugins.build.rpm_header import (
    INT16,
    TRANSLATED,
    Field,
    numbers,
    text,
    texts,
)

ROOT = "/var/www/nailgun/plugins/"
TYPES = {Kind.DIRECTORY: stat.S_IFDIR, Kind.FILE: stat.S_IFREG, Kind.SYMLINK: stat.S_IFLNK}

_SHELL = "/bin/sh"
_EQUAL = 8
_OF_RPM = 1 << 24 | 2 | _EQUAL
"""A requirement on rpm itself: at least this version of a feature."""
_INTERPRETER = 1 << 8
_FEATURES = {"CompressedFileNames": "3.0.4-1", "FileDigests": "4.6.0-1", "PayloadFilesHavePrefix": "4.0-1"}

_SCRIPTS = (
    ("pre_install.sh", 1023, 1085, 1 << 9),
    ("post_install.sh", 1024, 1086, 1 << 10),
    ("uninstall.sh", 1025, 1087, 1 << 11),
)
"""File at the root of the package, tag of the script, tag of its interpreter, flag of the requirement."""
_WITHOUT_SCRIPTS = ("1.", "2.")
_SCRIPT_SIZE = 2**20


@dataclass(frozen=True, slots=True)
class Package:
    """An RPM to be written: what it is called, what metadata.yaml says, and its entries, the top one first."""

    name: str
    version: str
    release: str
    date: int
    metadata: Mapping[str, Any]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Payload:
    """Checksums of a payload (compressed, and not), its length before compression, and those of its files."""

    packed: str
    plain: str
    unpacked: int
    digests: tuple[str, ...]


def fields_of(package: Package, payload: Payload) -> list[Field]:
    """All fields of the header. Raises `Unusable` for a text that a header cannot hold."""
    scripts = dict(_scripts(package))
    try:
        return [
            *_description(package),
            *_script_fields(scripts),
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
        raise Unusable(
            f"this package cannot be described in an RPM: {error}", "Look for it in metadata.yaml."
        ) from None


def _description(package: Package) -> Iterator[Field]:
    metadata = package.metadata
    yield texts(100, ["C"])
    yield text(1000, package.name)
    yield text(1001, package.version)
    yield text(1002, package.release)
    yield text(1004, " ".join(str(metadata.get("title") or package.name).split()), TRANSLATED)
    yield text(1005, str(metadata.get("description") or "").strip(), TRANSLATED)
    yield numbers(1006, [package.date])
    yield text(1007, "localhost")
    yield numbers(1009, [sum(entry.size for entry in package.entries)])
    yield from (text(1011, vendor) for vendor in [_joined(metadata.get("authors"), ", ")] if vendor)
    yield text(1014, _joined(metadata.get("licenses"), " and ") or "unknown")
    yield text(1016, "Development/Libraries", TRANSLATED)
    yield from (text(1020, str(url)) for url in [metadata.get("homepage")] if url)
    yield text(1021, "linux")
    yield text(1022, "noarch")
    yield text(1044, f"{package.name}-{package.version}-{package.release}.src.rpm")
    yield text(1064, "4.11.3")  # the rpm of the newest Fuel masters; without it, the package passes for one of rpm 3
    yield text(5062, "utf-8")


def _joined(value: object, separator: str) -> str:
    """A list of the metadata as one line; one text counts as a list of it."""
    items = value if isinstance(value, list) else [value] if value else []
    return " ".join(separator.join(str(item) for item in items).split())


def _scripts(package: Package) -> Iterator[tuple[str, bytes]]:
    """The scripts of the package by file, for those package versions that have them (3.0.0 and later).

    The one for removal would run on an upgrade as well, after the new package came: it stops there.
    """
    if str(package.metadata.get("package_version", "")).startswith(_WITHOUT_SCRIPTS):
        return
    known = {entry.path: entry for entry in package.entries if entry.kind is Kind.FILE}
    for file, *_ in _SCRIPTS:
        entry = known.get(file)
        if entry is None:
            continue
        if entry.size > _SCRIPT_SIZE:
            raise Unusable(f"{file} is larger than {_SCRIPT_SIZE} bytes", "Install a file, and call it.")
        body = b"".join(entry.chunks())
        yield file, b'[ "$1" -eq 0 ] || exit 0\n' + body if file == "uninstall.sh" else body


def _script_fields(scripts: Mapping[str, bytes]) -> Iterator[Field]:
    for file, script, program, _ in _SCRIPTS:
        if file in scripts:
            yield text(script, scripts[file].rstrip(b"\n"))
            yield text(program, _SHELL)


def _relations(package: Package, scripts: Mapping[str, bytes]) -> Iterator[Field]:
    """What the package provides (itself), and requires: features of rpm, and a shell for its scripts."""
    yield texts(1047, [package.name])
    yield numbers(1112, [_EQUAL])
    yield texts(1113, [f"{package.version}-{package.release}"])
    needed = [(_SHELL, _INTERPRETER | flag, "") for file, _, _, flag in _SCRIPTS if file in scripts]
    needed += [(f"rpmlib({feature})", _OF_RPM, version) for feature, version in _FEATURES.items()]
    yield texts(1049, [name for name, _, _ in needed])
    yield numbers(1048, [flags for _, flags, _ in needed])
    yield texts(1050, [version for _, _, version in needed])


def _files(package: Package, payload: Payload) -> Iterator[Field]:
    """One value for each entry: sizes, modes, checksums, owners, and names as (directory, base name)."""
    entries = package.entries
    count = len(entries)
    paths = [f"{ROOT}{package.name}/{entry.path}".rstrip("/") for entry in entries]
    directories = {f"{path.rpartition('/')[0]}/": None for path in paths}
    places = {directory: place for place, directory in enumerate(directories)}
    yield numbers(1028, [entry.size or len(entry.target.encode()) for entry in entries])
    yield numbers(1030, [TYPES[entry.kind] | entry.mode for entry in entries], INT16)
    yield numbers(1033, [0] * count, INT16)
    yield numbers(1034, [package.date] * count)
    yield texts(1035, payload.digests)
    yield texts(1036, [entry.target for entry in entries])
    yield numbers(1037, [0] * count)
    yield texts(1039, ["root"] * count)
    yield texts(1040, ["root"] * count)
    yield numbers(1045, [2**32 - 1] * count)
    yield numbers(1095, [1] * count)
    yield numbers(1096, range(1, count + 1))
    yield texts(1097, [""] * count)
    yield numbers(1116, [places[f"{path.rpartition('/')[0]}/"] for path in paths])
    yield texts(1117, [path.rpartition("/")[2] for path in paths])
    yield texts(1118, list(directories))
    yield numbers(5011, [8])

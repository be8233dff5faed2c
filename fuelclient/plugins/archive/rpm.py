"""`.rpm` packages: their two headers, their checksums, and their payload through `cpio`.

`rpmfile` reads the headers, and it believes them: it reads as much as a header says, copies the rest of the store
for every entry, and looks for the magic number byte by byte. So `_frame` measures a header first (its bounds,
and that no two entries share data), and `rpmfile` only gets what was measured, in memory.
"""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from fuelclient.plugins.archive.cpio import unpack_payload
from fuelclient.plugins.archive.limits import Limits, Unusable
from fuelclient.plugins.archive.stream import CHUNK, Stream, decompressed
from fuelclient.plugins.archive.unpack import Unpacker

PLUGINS = ("var", "www", "nailgun", "plugins")
"""Where the payload of a plugin has its one directory."""

_LEAD = 96
_LEAD_MAGIC = b"\xed\xab\xee\xdb"
_MAGIC = b"\x8e\xad\xe8\x01"
_INTRO = struct.Struct(">4s4xII")
_ENTRY = struct.Struct(">IIII")
_ENTRIES = 256
"""Entries of a header: rpmbuild writes fewer than 100."""
_STORE = 8 * 2**20
"""Bytes of a header's data: 20 000 files need four million."""
_VALUES = 500_000
"""Values of a header: 20 000 files have some twenty each."""
_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1}
"""Bytes of one value, by type; those of the types 6, 8 and 9 are texts, each with a zero at its end."""
_TEXTS = (6, 8, 9)
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
    """What the headers of a package say (by rpmfile's names), their raw bytes, and where the payload begins."""

    values: Mapping[object, object]
    raw: bytes
    payload: int

    def text(self, key: str) -> str:
        """The text of an entry, empty where there is none; of a list its items, separated by blanks."""
        value = self.values.get(key, b"")
        items = value if isinstance(value, list | tuple) else [value]
        return " ".join(item.decode(errors="replace") for item in items if isinstance(item, bytes))

    def binary(self, key: str) -> bytes:
        value = self.values.get(key, b"")
        return value if isinstance(value, bytes) else b""


def extract_rpm(source: BinaryIO, unpacker: Unpacker, limits: Limits) -> None:
    """The plugin's tree in the package `source` went through `unpacker`. Raises `Unusable`."""
    headers = read_headers(source)
    _require_intact(source, headers)
    kind = headers.text("archive_format") or "cpio"
    if kind != "cpio":
        raise Unusable(f"the payload is of the format {kind!r}", "Rebuild the package with rpmbuild, or `build`.")
    source.seek(headers.payload)
    # Packages without that entry are older than it, and compressed with gzip.
    chunks = decompressed(source, headers.text("archive_compression") or "gzip")
    unpack_payload(Stream(chunks, limits.stream), unpacker)


def read_headers(source: BinaryIO) -> Headers:
    """The headers of the package `source`. Raises `Unusable` when it is none."""
    lead = source.read(_LEAD)
    if len(lead) < _LEAD or not lead.startswith(_LEAD_MAGIC):
        raise Unusable("this is no .rpm package: it does not begin as one")
    signature = _frame(source)
    source.read(-len(signature) % 8)
    header = _frame(source)
    return Headers(_values(lead + signature + header), header, source.tell())


def scripts_of(headers: Headers) -> dict[str, str]:
    """The scripts that `rpm` would run, by their section of a spec file; one that is no shell script says so."""
    found: dict[str, str] = {}
    for section, (script, program) in _SCRIPTS.items():
        value = headers.values.get(script)
        interpreter = headers.text(program) if program else ""
        label = section if interpreter in ("", "/bin/sh") else f"{section} -p {interpreter}"
        if isinstance(value, list | tuple):
            for number, text in enumerate(value, 1):
                found[f"{label} {number}"] = text.decode(errors="replace")
        elif isinstance(value, bytes) or interpreter:
            found[label] = headers.text(script)
    return found


def _frame(source: BinaryIO) -> bytes:
    """One header, whole, from where `source` stands; nothing in it reaches beyond its end."""
    intro = source.read(_INTRO.size)
    if len(intro) < _INTRO.size or not intro.startswith(_MAGIC):
        raise Unusable("the package is damaged: a header is missing")
    _, count, size = _INTRO.unpack(intro)
    if count > _ENTRIES or size > _STORE:
        raise Unusable("a header of the package is too large")
    body = source.read(count * _ENTRY.size + size)
    if len(body) < count * _ENTRY.size + size:
        raise Unusable("the package is cut off: it ends inside a header")
    _require_apart(list(_ENTRY.iter_unpack(body[: count * _ENTRY.size])), body[count * _ENTRY.size :])
    return intro + body


def _require_apart(entries: Sequence[tuple[int, ...]], store: bytes) -> None:
    """Each entry's data ends before the next one's begins, as rpm itself demands: so all of it fits in memory."""
    damaged = Unusable("a header of the package is damaged: an entry reaches beyond its data")
    ordered = sorted((offset, kind, count) for _, kind, offset, count in entries)
    if sum(count for _, _, count in ordered) > _VALUES:
        raise Unusable("a header of the package is too large")
    ends = [offset for offset, _, _ in ordered[1:]] + [len(store)]
    for (offset, kind, count), end in zip(ordered, ends, strict=True):
        if not offset < end <= len(store) or not count:
            raise damaged
        if kind in _TEXTS and store.count(b"\0", offset, end) >= count:
            continue
        if kind in _TEXTS or offset + _WIDTHS.get(kind, _STORE) * count > end:
            raise damaged


def _values(measured: bytes) -> Mapping[object, object]:
    # Imported where it is needed: most commands never see a package. It has no types.
    import rpmfile  # type: ignore[import-untyped]

    try:
        values: Mapping[object, object] = rpmfile.RPMFile(fileobj=io.BytesIO(measured)).headers
    except (rpmfile.errors.RPMError, struct.error, AssertionError, ValueError, TypeError, IndexError) as error:
        raise Unusable(f"a header of the package is damaged ({error})") from None
    return values


def _require_intact(source: BinaryIO, headers: Headers) -> None:
    """Every checksum that the package brings fits: of the header, of the payload, of both.

    They say whether it is whole, not who made it; signatures are the business of the system that trusts keys.
    """
    # rpmfile has its own names for two of them: `md5` is the SHA-1 of the header, `sigmd5` the MD5 of everything.
    sha1 = hashlib.sha1(headers.raw, usedforsecurity=False).hexdigest()
    sha256 = hashlib.sha256(headers.raw).hexdigest()
    payload, everything = hashlib.sha256(), hashlib.md5(headers.raw, usedforsecurity=False)
    for chunk in _rest(source, headers.payload):
        payload.update(chunk)
        everything.update(chunk)
    stated = {
        "header": [(headers.text("md5"), sha1), (headers.text("sha256"), sha256)],
        "contents": [(headers.binary("sigmd5").hex(), everything.hexdigest())],
    }
    if headers.values.get("payloaddigestalgo") == _SHA256:
        stated["contents"].append((headers.text("payloaddigest"), payload.hexdigest()))
    for what, sums in stated.items():
        if any(said and said != found for said, found in sums):
            raise Unusable(f"the package is damaged: its {what} and its checksums differ")


def _rest(source: BinaryIO, start: int) -> Iterator[bytes]:
    source.seek(start)
    while chunk := source.read(CHUNK):
        yield chunk

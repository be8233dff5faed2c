"""`.deb` packages: the description of one, read with the standard library."""

from __future__ import annotations

import io
import tarfile
from typing import BinaryIO

from fuelclient.plugins.archive.limits import Unusable
from fuelclient.plugins.archive.stream import CHUNK, Stream, decompressed

_MAGIC = b"!<arch>\n"
_HEADER = 60
_CONTROL = 16 * 2**20
"""Bytes of the control archive; its largest part is a list of checksums."""
_TEXT = 2**20
_COMPRESSORS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", "": ""}


def control_of(source: BinaryIO, name: str) -> str:
    """The file `control` of the package `source`, its fields as they stand there. `name` is for messages.

    Raises `Unusable` when it is no such package, or a damaged one.
    """
    if source.read(len(_MAGIC)) != _MAGIC:
        raise _damaged(name, "it is no .deb package")
    while header := source.read(_HEADER):
        member = header[:16].decode("ascii", "replace").rstrip().rstrip("/")
        if len(header) < _HEADER or header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            raise _damaged(name, "the header of a member is damaged")
        size = int(header[48:58])
        stem, _, suffix = member.partition(".tar")
        if stem == "control" and suffix in _COMPRESSORS:
            return _control(source.read(min(size, _CONTROL)), _COMPRESSORS[suffix], name)
        source.seek(size + size % 2, io.SEEK_CUR)
    raise _damaged(name, "it has no control.tar compressed with gzip, xz or zstd")


def _control(packed: bytes, compressor: str, name: str) -> str:
    stream = Stream(decompressed(io.BytesIO(packed), compressor), _CONTROL)
    try:
        archive = io.BytesIO(b"".join(iter(lambda: stream.read(CHUNK), b"")))
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                if member.name.removeprefix("./") == "control" and member.isreg() and member.size <= _TEXT:
                    found = tar.extractfile(member)
                    return found.read().decode().strip("\n") if found else ""
    except (tarfile.TarError, ValueError, Unusable) as error:
        raise _damaged(name, str(error)) from None
    raise _damaged(name, "it has no control file")


def _damaged(name: str, what: str) -> Unusable:
    return Unusable(f"{name} cannot be listed in a repository: {what}", "Get the package again.")

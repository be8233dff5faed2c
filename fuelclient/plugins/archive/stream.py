"""Decompression, bit by bit: never more in memory than a chunk, never more in all than a limit."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from fuelclient.plugins.archive.limits import Unusable, size_of

CHUNK = 64 * 2**10
_XZ_MEMORY = 96 * 2**20
"""Enough for `xz -9` (65 MiB); what a file asks for beyond that is not given."""
_ZSTD_WINDOW = 128 * 2**20
"""The most that `zstd` itself gives without being told to."""

_CUT = "the archive is cut off: its compressed data ends too early"
_DAMAGED = "the compressed data of the archive is damaged"


def decompressed(source: BinaryIO, compressor: str) -> Iterator[bytes]:
    """The data in `source`, from where it stands, chunk by chunk. Raises `Unusable` when it cannot be had.

    `compressor` is what RPM calls it: gzip, xz or zstd, or empty for data that is not compressed.
    """
    readers = {"": _plain, "gzip": _gzip, "xz": _xz, "zstd": _zstd}
    reader = readers.get(compressor)
    if reader is None:
        raise Unusable(f"the payload is compressed with {compressor!r}", "Rebuild the package with gzip, xz or zstd.")
    try:
        yield from reader(source)
    except EOFError:
        raise Unusable(_CUT) from None
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError):
        raise Unusable(_DAMAGED) from None


def _plain(source: BinaryIO) -> Iterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk


def _gzip(source: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=source, mode="rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def _xz(source: BinaryIO) -> Iterator[bytes]:
    # Not lzma.LZMAFile: it cannot be told how much memory the file may ask for.
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    while not decoder.eof:
        data = source.read(CHUNK) if decoder.needs_input else b""
        if not data and decoder.needs_input:
            raise EOFError
        yield decoder.decompress(data, CHUNK)


def _zstd(source: BinaryIO) -> Iterator[bytes]:
    import zstandard  # a compiled library that only packages of newer systems need

    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    try:
        with decoder.stream_reader(source, read_size=CHUNK, closefd=False) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except zstandard.ZstdError:
        raise Unusable(_DAMAGED) from None


class Stream:
    """Reads chunks as a file that only goes forward, and counts.

    It has what `tarfile` wants of a file object (`read`, `tell`, `seek`). `limit` is for all that comes out;
    `allowance`, where it is set, for what is read until it is set again: `tarfile` reads headers whole, however
    long they say they are.
    """

    def __init__(self, chunks: Iterator[bytes], limit: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._buffer = b""
        self._at = 0
        self._position = 0
        self._taken = 0
        self.allowance: int | None = None

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end. Raises `Unusable` for more than the allowance."""
        if self.allowance is not None:
            self.allowance -= size
            if self.allowance < 0:
                raise Unusable("a member's header is too long")
        if self._at + size <= len(self._buffer):
            data = self._buffer[self._at : self._at + size]
            self._at += size
        else:
            data = b"".join(self._pieces(size))
        self._position += len(data)
        return data

    def exactly(self, size: int) -> bytes:
        """The next `size` bytes. Raises `Unusable` where there are fewer."""
        data = self.read(size)
        if len(data) < size:
            raise Unusable("the archive is cut off: it ends inside a member")
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes, chunk by chunk."""
        while size > 0:
            piece = self.exactly(min(size, CHUNK))
            size -= len(piece)
            yield piece

    def skip(self, size: int) -> None:
        for _ in self.pieces(size):
            pass

    def tell(self) -> int:
        return self._position

    def seek(self, position: int, whence: int = 0) -> int:
        """Skips to `position`. Going back is impossible, and only a header with an impossible size asks for it:
        that is `Unusable`."""
        if whence or position < self._position:
            raise Unusable("a member's header has an impossible size")
        allowance, self.allowance = self.allowance, None
        self.skip(position - self._position)
        self.allowance = allowance
        return self._position

    def drain(self) -> None:
        """Everything is read, so that the checksum at the end of the compressed data is compared as well."""
        while self.read(CHUNK):
            pass

    def _pieces(self, size: int) -> Iterator[bytes]:
        while size > 0:
            if self._at == len(self._buffer) and not self._refill():
                return
            piece = self._buffer[self._at : self._at + size]
            self._at += len(piece)
            size -= len(piece)
            yield piece

    def _refill(self) -> bool:
        """Whether there is more: chunks may be empty, the end may not be reached by them."""
        for chunk in self._chunks:
            if chunk:
                self._taken += len(chunk)
                if self._taken > self._limit:
                    raise Unusable(
                        f"the archive unpacks to more than {size_of(self._limit)}",
                        "Fuel plugins are smaller; put large files on a server of their own.",
                    )
                self._buffer, self._at = chunk, 0
                return True
        return False

"""Decompress chunk by chunk, with one chunk in memory, and with a limit on the total size."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from fuelclient.plugins.archive.limits import TOO_LARGE, Unusable, size_of

CHUNK = 64 * 2**10
_XZ_MEMORY = 96 * 2**20
"""The most bytes of memory that a file may need; `xz -9` needs 65 MiB."""
_ZSTD_WINDOW = 128 * 2**20
"""In bytes: the default maximum of `zstd` itself."""

_DAMAGED = "the compressed data of the archive is damaged"


def decompressed(source: BinaryIO, compressor: str) -> Iterator[bytes]:
    """Decompress `source` from its current position, chunk by chunk. Raise `Unusable` if that is impossible.

    `compressor` is RPM's name for it (gzip, xz or zstd), or empty for data that is not compressed.
    """
    reader = {"": _plain, "gzip": _gzip, "xz": _xz, "zstd": _zstd}.get(compressor)
    if reader is None:
        hint = "Rebuild the package with gzip, xz or zstd."
        raise Unusable(f"the payload is compressed with {compressor!r}, which is not supported", hint)
    try:
        yield from reader(source)
    except EOFError:
        raise Unusable("the archive is truncated: its compressed data ends too early") from None
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise _refusal(error) from None


def _refusal(error: Exception) -> Unusable:
    """Tell damaged data from data that asks for more memory than the limits allow: the libraries raise one error."""
    if "memory" not in str(error).lower():
        return Unusable(_DAMAGED)
    return Unusable("its compressed data asks for too much memory", "Rebuild the package with a smaller dictionary.")


def _plain(source: Any) -> Iterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk


def _gzip(source: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=source, mode="rb") as stream:
        yield from _plain(stream)


def _xz(source: BinaryIO) -> Iterator[bytes]:
    # Not lzma.LZMAFile: it has no limit for the memory that a file may ask for.
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    while not decoder.eof:
        data = source.read(CHUNK) if decoder.needs_input else b""
        if not data and decoder.needs_input:
            raise EOFError
        yield decoder.decompress(data, CHUNK)


def _zstd(source: BinaryIO) -> Iterator[bytes]:
    import zstandard  # imported late: a compiled library that only packages from newer systems need

    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    try:
        with decoder.stream_reader(source, read_size=CHUNK, closefd=False) as stream:
            yield from _plain(stream)
    except zstandard.ZstdError as error:
        raise _refusal(error) from None


class Stream:
    """A forward-only file over chunks of bytes, with limits.

    It has the methods that `tarfile` needs (`read`, `tell`, `seek`). `limit` is the most bytes that
    it reads in all. `allowance`, unless it is None, is the number of bytes that may still be read before the caller
    sets it again: `tarfile` reads headers whole, however long they claim to be.
    """

    def __init__(self, chunks: Iterator[bytes], limit: int) -> None:
        self._chunks = chunks
        self._limit = limit
        self._buffer = bytearray()
        self._position = 0
        self.allowance: int | None = None

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end. Raise `Unusable` beyond the allowance or the limit."""
        if self.allowance is not None:
            self.allowance -= size
            if self.allowance < 0:
                raise Unusable("a member's header is too long")
        while len(self._buffer) < size and (chunk := next(self._chunks, None)) is not None:
            self._buffer += chunk
            if self._position + len(self._buffer) > self._limit:
                raise Unusable(f"the archive unpacks to more than {size_of(self._limit)}", TOO_LARGE)
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._position += len(data)
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes, chunk by chunk. Raise `Unusable` if there are fewer."""
        while size > 0:
            piece = self.read_exactly(min(size, CHUNK))
            size -= len(piece)
            yield piece

    def read_exactly(self, size: int) -> bytes:
        data = self.read(size)
        if len(data) < size:
            raise Unusable("the archive is truncated: it ends inside a member")
        return data

    def skip(self, size: int) -> None:
        for _ in self.pieces(size):
            pass

    def tell(self) -> int:
        return self._position

    def seek(self, position: int, whence: int = 0) -> int:
        """Skip forward to `position`. Raise `Unusable` for a step back: the size in a header is impossible."""
        if whence or position < self._position:
            raise Unusable("a member's header has an impossible size")
        allowance, self.allowance = self.allowance, None
        self.skip(position - self._position)
        self.allowance = allowance
        return self._position

    def drain(self) -> None:
        """Read to the end, so that the checksum at the end of the compressed data is verified too."""
        while self.read(CHUNK):
            pass

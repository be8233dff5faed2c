"""The two headers of an RPM, encoded: an index of (tag, type, offset, count), and the data it points to.

Source: the format as rpm 4 documents it (lead, signature, header), the version that every Fuel master reads.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

INT16, INT32, STRING, BINARY, STRINGS, TRANSLATED = 3, 4, 6, 7, 8, 9
_ALIGNED = {INT16: 2, INT32: 4}
_MAGIC = b"\x8e\xad\xe8\x01\0\0\0\0"
_ENTRY = struct.Struct(">IIiI")
SIGNATURE, IMMUTABLE = 62, 63
"""Regions: the tag at the head of the index that says how far it was when it was signed."""


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a header, its data encoded."""

    tag: int
    kind: int
    count: int
    data: bytes


def text(tag: int, value: str | bytes, kind: int = STRING) -> Field:
    """One text. `ValueError` when it has a zero byte, which is what texts end with."""
    return texts(tag, [value], kind)


def texts(tag: int, values: Sequence[str | bytes], kind: int = STRINGS) -> Field:
    """Several texts. `ValueError` as in `text`."""
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    if any(b"\0" in value for value in encoded):
        raise ValueError("a text has a zero byte in it")
    return Field(tag, kind, len(encoded), b"".join(value + b"\0" for value in encoded))


def numbers(tag: int, values: Sequence[int], kind: int = INT32) -> Field:
    """Whole numbers without a sign, in 32 bits or with `INT16` in 16; `struct.error` for one that does not fit."""
    code = "H" if kind == INT16 else "I"
    return Field(tag, kind, len(values), struct.pack(f">{len(values)}{code}", *values))


def binary(tag: int, data: bytes) -> Field:
    """Bytes as they are."""
    return Field(tag, BINARY, len(data), data)


def encode(region: int, fields: Iterable[Field]) -> bytes:
    """A header with `fields`, by tag, all of them inside `region`.

    >>> len(encode(SIGNATURE, [text(1000, "name")]))
    69
    """
    ordered = sorted(fields, key=lambda field: field.tag)
    store = bytearray()
    index = []
    for field in ordered:
        store += bytes(-len(store) % _ALIGNED.get(field.kind, 1))
        index.append(_ENTRY.pack(field.tag, field.kind, len(store), field.count))
        store += field.data
    # The region's own data is one more entry, at the end of the store; it points back over the whole index.
    head = _ENTRY.pack(region, BINARY, len(store), _ENTRY.size)
    store += _ENTRY.pack(region, BINARY, -_ENTRY.size * (len(ordered) + 1), _ENTRY.size)
    return _MAGIC + struct.pack(">II", len(ordered) + 1, len(store)) + head + b"".join(index) + bytes(store)


def lead(name: str) -> bytes:
    """The 96 bytes at the beginning, which today only say that this is an RPM.

    >>> len(lead("a-1-1"))
    96
    """
    return struct.pack(">4sBBHH66sHH16x", b"\xed\xab\xee\xdb", 3, 0, 0, 255, name.encode()[:65], 1, 5)

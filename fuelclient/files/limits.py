"""Limits of documents, and the findings that the readers of YAML and JSON share.

A graph of a whole Fuel release is 200 kB, 10 levels deep, and expands to 10 000 values. The limits are one to two
orders of magnitude higher, and keep hostile input from exhausting the memory or the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import MOST_FINDINGS, Finding, Place, Severity

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 100
MAX_VALUES = 1_000_000
MAX_NUMBER_LENGTH = 1000
"""The most characters of a number or a date: the time to convert it grows with the square of its length."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most bytes, values (with aliases written out) and levels of nesting of a document."""

    bytes: int = MAX_BYTES
    values: int = MAX_VALUES
    depth: int = MAX_DEPTH


DOCUMENT = Limits()
EXPORT = Limits(2**30, 64 * MAX_VALUES, 2 * MAX_DEPTH)
"""The limits of exported engine files, which hold many documents and come from the owner of the file."""


def unreadable(file: str, line: int, message: str, hint: str) -> InvalidDocument:
    """The error for a document that cannot be read at all, with one finding (G001)."""
    place = Place(file, line)
    finding = Finding(Severity.ERROR, "G001", message, place, hint=hint)
    return InvalidDocument(f"{place}: {message}.", findings=[finding], hint=hint)


def too_deep(file: str, line: int, limits: Limits) -> InvalidDocument:
    return unreadable(file, line, f"lists and mappings are nested deeper than {limits.depth} levels", "Flatten them.")


def too_many(file: str, line: int, limits: Limits) -> InvalidDocument:
    message = f"the document holds more than {limits.values} values once its aliases are written out"
    return unreadable(file, line, message, "Split it, or use fewer aliases.")


def limit_findings(file: str, line: int, findings: Sequence[Finding]) -> None:
    if len(findings) > MOST_FINDINGS:
        message = f"more than {MOST_FINDINGS} keys are stated twice"
        raise unreadable(file, line, message, "This is probably not the file that you mean.")


def repeated_key(file: str, line: int, key: object, first: int) -> Finding:
    """The warning (G008) for a key that appears twice in a mapping."""
    message = f"the key `{key}` is stated twice in one mapping, first on line {first}; the later value is used"
    return Finding(Severity.WARNING, "G008", message, Place(file, line), hint="Remove one of the two.")

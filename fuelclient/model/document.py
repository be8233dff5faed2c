"""Documents: plain data that remembers the lines it was written on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.finding import Finding


class Marked(dict[str, Any]):
    """A dictionary read from a file, with the line it starts on and the line of each of its keys (from 1)."""

    __slots__ = ("line", "lines")

    def __init__(self, data: Mapping[str, Any] | None = None, line: int = 0, lines: Mapping[str, int] | None = None):
        super().__init__(data or {})
        self.line = line
        self.lines: dict[str, int] = dict(lines or {})


class MarkedList(list[Any]):
    """A list read from a file, with the line of each of its items (from 1)."""

    __slots__ = ("lines",)

    def __init__(self, data: Iterable[Any] = (), lines: Iterable[int] = ()):
        super().__init__(data)
        self.lines: list[int] = list(lines)


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file: its data (mappings are `Marked`, lists `MarkedList`), its name for messages, and findings
    of reading it (duplicate keys)."""

    data: Any
    file: str
    findings: tuple[Finding, ...] = ()

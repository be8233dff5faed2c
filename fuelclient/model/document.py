"""Documents: plain data that remembers where it was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.finding import Finding


class Marked(dict[str, Any]):
    """A mapping read from a file, with the line it starts on and the line of each of its keys (from 1).

    It is an ordinary dictionary for everybody who does not ask.
    """

    __slots__ = ("line", "lines")

    def __init__(self, data: Mapping[str, Any] | None = None, line: int = 0, lines: Mapping[str, int] | None = None):
        super().__init__(data or {})
        self.line = line
        self.lines: dict[str, int] = dict(lines or {})


class MarkedList(list[Any]):
    """A list read from a file, with the line of each of its items (from 1); otherwise an ordinary list."""

    __slots__ = ("lines",)

    def __init__(self, data: Iterable[Any] = (), lines: Iterable[int] = ()):
        super().__init__(data)
        self.lines: list[int] = list(lines)


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: its data (mappings are `Marked`, lists `MarkedList`), its name for messages, and
    what reading it found worth mentioning (duplicate keys)."""

    data: Any
    file: str
    findings: tuple[Finding, ...] = ()

"""Documents: plain data that remembers the lines it was written on."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fuelclient.errors import FuelError
from fuelclient.model.finding import Finding, Place


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
    from reading it (duplicate keys)."""

    data: Any
    file: str
    findings: tuple[Finding, ...] = ()

    def place_findings(self, error: FuelError) -> None:
        """Set the file and line of those findings of `error` that have only a path in the document.

        A path may begin with keys that enclose the content of the document. Those that the document lacks are skipped.
        In a list, a word in the path stands for the item that is this word, or that has it as its name.
        """
        error.findings = tuple(self._placed(each) if isinstance(each, Finding) else each for each in error.findings)

    def _placed(self, finding: Finding) -> Finding:
        path = finding.place.path
        if path is None or finding.place.file:
            return finding
        value, line = self.data, getattr(self.data, "line", 0)
        if isinstance(value, Marked):
            path = tuple(itertools.dropwhile(lambda key: key not in self.data, path))
        for key in path:
            if isinstance(value, Marked) and key in value:
                value, line = value[str(key)], value.lines.get(str(key), line)
            elif isinstance(value, MarkedList):
                names = [item.get("name") if isinstance(item, Marked) else item for item in value]
                index = names.index(key) if isinstance(key, str) and key in names else key
                if not isinstance(index, int) or index >= len(value):
                    break
                value, line = value[index], value.lines[index]
            else:
                break
        return replace(finding, place=Place(self.file, line))

"""The parts of a package as their author wrote them, with line numbers.

The rest of the program uses normalised values (`role` becomes `roles`, paths are resolved). Checks need what the
author wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import NO_PLACE, Finding, Place, Severity
from fuelclient.serializers.values import deep_merged, items_of, line_of, mapping

DataPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Documents that together make up one part of the package, of one type (`deployment_tasks`, `volumes` ...).

    `place` is where they are named, and `name` the file name or pattern that stands there. `path` leads to the data if
    it is only a part of a file. `of_release` means that the data defines a release, and is not the plugin's own. This
    part is merged over its `bases`: the part of the base release, that of the base's own base, and so on. `is_base`
    means that the part is in the `bases` of another.
    """

    type: str
    documents: tuple[Document, ...] = ()
    place: Place = NO_PLACE
    name: str = ""
    path: DataPath = ()
    of_release: bool = False
    bases: tuple[Part, ...] = ()
    is_base: bool = False

    @property
    def file(self) -> str:
        return self.documents[0].file if self.documents else ""

    def whole(self) -> Any:
        """Merge the data over the data of the bases. All of it must be mappings."""
        merged: dict[str, Any] = {}
        for part in reversed((self, *self.bases)):
            fields = {key: value for data, _ in part.mappings() for key, value in data.items()}
            merged = deep_merged(merged, fields)
        return merged

    def mappings(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        return ((each.data, each.file) for each in self.documents if isinstance(each.data, Mapping))

    def records(self) -> Iterator[Record]:
        """Yield the records in the documents. Volumes are a list under a key of a mapping."""
        key = "volumes" if self.type == "volumes" else ""
        for document in self.documents:
            listed = mapping(document.data).get(key) if key else document.data
            yield from records_in(listed, document.file, line_of(document.data, key) or self.place.line)


@dataclass(frozen=True, slots=True)
class Record:
    """A record in a file: a task, a volume, a component. Messages use its id as `name`."""

    data: Mapping[str, Any]
    file: str
    line: int
    name: str

    def place(self, *keys: str) -> Place:
        """The place of the first of `keys` in the record, or else of the record itself."""
        key = next((key for key in keys if key in self.data), "")
        return Place(self.file, line_of(self.data, key) or self.line)

    def nested(self, key: str) -> Record:
        """The mapping under `key` as a record with the name of this one."""
        return Record(self.data[key], self.file, self.place(key).line, self.name)

    def finding(self, severity: Severity, code: str, message: str, hint: str, *keys: str) -> Finding:
        """A finding about this record, at the first of `keys` that it has."""
        return Finding(severity, code, message, self.place(*keys), self.name, hint)

    @property
    def has_version_2(self) -> bool:
        return has_version_2(self.data)

    @property
    def type(self) -> str:
        given = self.data.get("type")
        return given if isinstance(given, str) else ""


def has_version_2(task: Mapping[str, Any]) -> bool:
    match = re.match(r"[0-9]{1,9}", str(task.get("version", "")))
    return match is not None and int(match[0]) >= 2


def strings_in(value: Any) -> list[str]:
    return [word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str)]


def records_in(listed: Any, file: str, line: int) -> Iterator[Record]:
    """Yield the records in what should be a list of mappings. Anything else is skipped."""
    for item, at in items_of(listed, line) if isinstance(listed, list) else ():
        if isinstance(item, Mapping):
            name, own_line = item.get("id") or item.get("name"), line_of(item) or at
            yield Record(item, file, own_line, name if isinstance(name, str) else f"on line {own_line}")


def without(data: Mapping[str, Any], *keys: str) -> Marked:
    """Copy `data` without `keys`, and with the line numbers of the others.

    >>> without(Marked({"a": 1, "b": 2}, 1, {"a": 1, "b": 2}), "a")
    {'b': 2}
    """
    return Marked({key: data[key] for key in data if key not in keys}, line_of(data), lines_of(data))


def lines_of(data: Mapping[str, Any]) -> Mapping[str, int]:
    return data.lines if isinstance(data, Marked) else {}

"""What is checked: the raw files of a package, with their lines and as their author spelled them.

The values that the rest of the program uses are normalised (`role` is `roles` there, paths are gone); checks want
to see what is written, and whatever cannot be read must not hide the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuelclient.model.finding import Place
from fuelclient.plugins.checks.sources import (
    DataSet,
    extension_sets,
    fixed_sets,
    graph_sets,
    is_definition,
    release_sets,
)
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.serializers.values import items_of, line_of

KNOWN_VERSIONS = re.compile(r"[1-6]\.0\.[0-9]{1,9}")
NEWEST = 6
_ASSUMED = 5
"""The package version whose rules are followed where the metadata states none."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a file: a task, a volume, a component; `name` is its id for messages."""

    data: Mapping[str, Any]
    file: str
    line: int
    name: str

    def place(self, *keys: str) -> Place:
        """Where the first of `keys` that the record has is written, or the record itself."""
        key = next((key for key in keys if key in self.data), "")
        return Place(self.file, line_of(self.data, key) or self.line)


@dataclass(frozen=True, slots=True)
class Subject:
    """A package as it is written.

    `metadata` is None where it cannot be read; then only the files that can be are known. `major` is the package
    version whose rules hold, that of the nearest version for one that is unknown.
    """

    files: PackageFiles
    metadata: Mapping[str, Any] | None
    major: int
    sets: tuple[DataSet, ...] = ()

    @property
    def name(self) -> str:
        return str((self.metadata or {}).get("name") or "")

    @property
    def releases(self) -> list[Record]:
        """The records of `releases`."""
        listed = (self.metadata or {}).get("releases")
        return list(_records(listed, self.files.manifest, self.line("releases"))) if isinstance(listed, list) else []

    @property
    def definitions(self) -> list[Record]:
        """The records that define a release."""
        return [record for record in self.releases if is_definition(record.data)]

    @property
    def extensions(self) -> list[Record]:
        """The records that name a release to extend."""
        return [record for record in self.releases if not is_definition(record.data)]

    def line(self, key: str) -> int:
        """The line of a key of the metadata."""
        return line_of(self.metadata, key) or 1

    def of(self, *kinds: str) -> Iterator[DataSet]:
        """The sets of data of these kinds."""
        return (one for one in self.sets if one.kind in kinds)

    def records(self, *kinds: str) -> Iterator[Record]:
        """The records of all sets of these kinds that are lists; what is no mapping is left out."""
        for one in self.of(*kinds):
            yield from records_of(one)

    def tasks(self) -> Iterator[Record]:
        """The deployment tasks of the plugin itself."""
        return self.records("deployment_tasks")


def records_of(data: DataSet, key: str = "") -> Iterator[Record]:
    """The records that a set lists, or lists under `key`."""
    for document in data.documents:
        listed = document.data
        if key:
            listed = listed.get(key) if isinstance(listed, Mapping) else None
        if isinstance(listed, list | tuple):
            yield from _records(listed, document.file, line_of(document.data, key) or data.place.line)


def read(directory: Path, shown_as: str = "") -> Subject:
    """The package in `directory`. What cannot be read is among the findings of its `files`."""
    files = PackageFiles(directory, shown_as=shown_as)
    metadata = _metadata(files)
    if metadata is None:
        return Subject(files, None, _ASSUMED, tuple(fixed_sets(files, NEWEST)))
    major = _major(metadata)
    sets = list(fixed_sets(files, major))
    files.resolved(without(metadata, "releases", "graphs"))
    sets += graph_sets(files, metadata, files.manifest, ())
    listed = metadata.get("releases")
    for index, record in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(record, Mapping):
            continue
        files.resolved(record)
        found = release_sets if is_definition(record) else extension_sets
        sets += found(files, record, ("releases", index), major)
    taken = {document.file for one in sets if one.of_release for document in one.documents}
    return Subject(files, metadata, major, tuple(one for one in sets if one.of_release or not _are(one, taken)))


def _are(data: DataSet, taken: set[str]) -> bool:
    """Whether a file of a fixed name is a release's own: a record that defines one names it."""
    return not data.path and any(document.file in taken for document in data.documents)


def _metadata(files: PackageFiles) -> Mapping[str, Any] | None:
    document = files.fixed("metadata.yaml")
    if document is not None and isinstance(document.data, Mapping):
        return document.data
    if document is not None:
        hint = "Write it as key: value."
        files.reject("P001", "metadata.yaml holds no mapping", Place(files.manifest, 1), hint)
    elif not any(finding.place.file == files.manifest and finding.is_error for finding in files.findings):
        hint = "Every package has one; create it, or name the directory above it."
        files.reject("P001", "the package has no metadata.yaml", Place(files.manifest), hint)
    return None


def _major(metadata: Mapping[str, Any]) -> int:
    found = re.match(r"[0-9]{1,9}", str(metadata.get("package_version")))
    return min(max(int(found[0]), 1), NEWEST) if found else _ASSUMED


def _records(listed: Any, file: str, line: int) -> Iterator[Record]:
    for index, (item, at) in enumerate(items_of(listed, line)):
        if isinstance(item, Mapping):
            name = item.get("id") or item.get("name")
            shown = name if isinstance(name, str) else f"[{index}]"
            yield Record(item, file, getattr(item, "line", 0) or at, shown)

"""The files of a package as their author wrote them, with line numbers.

The rest of the program uses normalised values (`role` becomes `roles`, paths are resolved). Checks need to see what is
written, and one file that cannot be read must not hide problems in the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fuelclient.model.document import Document, Marked
from fuelclient.model.finding import Place
from fuelclient.plugins.contents import PARTS
from fuelclient.plugins.package_files import CONF_PATH, SUFFIX, PackageFiles, without
from fuelclient.plugins.releases import inherited, is_definition
from fuelclient.plugins.schema import is_known
from fuelclient.serializers.values import items_of, line_of

FIXED = (*PARTS, "node_config", "nic_config", "bond_config")
"""The types of files at the root of a package, each in `<type>.yaml`."""

_NEWEST = 6
_ASSUMED = 5
"""The package version whose rules apply if the metadata states none, or one that is unknown: the newest of Fuel's own
documentation. Version 6 has rules that only Nailgun knew."""

_BASE = "base_release_path"
_GRAPH = "release_tasks"
_RELEASE_DATA = {
    "roles": "node_roles",
    "roles_metadata": "node_roles",
    "volumes": "volumes",
    "volumes_metadata": "volumes",
    "network_roles": "network_roles",
    "network_roles_metadata": "network_roles",
    "components": "release_components",
    "components_metadata": "release_components",
    "tags": "node_tags",
    "tags_metadata": "node_tags",
}
"""The keys of a release record that hold data, and the type of file that holds the same for a plugin."""

_DataPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Documents that together make up one part of the package, of one type (`deployment_tasks`, `volumes` ...).

    `place` is where they are named. `path` leads to the data if it is only a part of the document. `of_release` means
    that the data defines a release, and is not the plugin's own. `bases` are the data, of the base of the release and
    of the base of that, into which this is merged. `is_base` means that the data is in the `bases` of another.
    """

    type: str
    documents: tuple[Document, ...]
    place: Place
    path: _DataPath = ()
    of_release: bool = False
    bases: tuple[DataSet, ...] = ()
    is_base: bool = False

    def whole(self) -> Any:
        """Return the data merged over that of the bases. All of them are mappings."""
        merged: Marked = Marked({})
        for data in reversed((self, *self.bases)):
            united: dict[str, Any] = {}
            for mapping, _ in data.mappings():
                united.update(mapping)
            merged = inherited(merged, united)
        return merged

    def mappings(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the documents that are mappings, each with its file."""
        for document in self.documents:
            if isinstance(document.data, Mapping):
                yield document.data, document.file

    def records(self, key: str = "") -> Iterator[Record]:
        """Yield the records in the documents, or below `key` in each document."""
        for document in self.documents:
            listed = document.data
            if key:
                listed = listed.get(key) if isinstance(listed, Mapping) else None
            if isinstance(listed, list | tuple):
                yield from _records(listed, document.file, line_of(document.data, key) or self.place.line)


@dataclass(frozen=True, slots=True)
class Record:
    """A record in a file: a task, a volume, a component. Messages use its id as `name`."""

    data: Mapping[str, Any]
    file: str
    line: int
    name: str

    def place(self, *keys: str) -> Place:
        """Return the place of the first of `keys` that the record has, or else of the record itself."""
        key = next((key for key in keys if key in self.data), "")
        return Place(self.file, line_of(self.data, key) or self.line)


@dataclass(frozen=True, slots=True)
class RawPackage:
    """A package as it is written.

    `metadata` is None if it cannot be read; the readable files are still known. `major` is the package version whose
    rules apply: for an unknown version, 5.
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
        """Return the line of a key in the metadata."""
        return line_of(self.metadata, key) or 1

    def of(self, *types: str) -> Iterator[DataSet]:
        """Yield the data sets of these types."""
        return (data for data in self.sets if data.type in types)

    def records(self, *types: str) -> Iterator[Record]:
        """Yield the records in all data sets of these types that are lists. Items that are not mappings are skipped."""
        for data in self.of(*types):
            yield from data.records()

    def tasks(self) -> Iterator[Record]:
        """Yield the deployment tasks of the plugin itself."""
        return self.records("deployment_tasks")

    def roles(self) -> Iterator[tuple[Any, Any, Mapping[str, Any], str]]:
        """Yield all roles: name and value as written, the mapping that has them, and its file."""
        for data in self.of("node_roles"):
            for mapping, file in data.mappings():
                for name, role in mapping.items():
                    yield name, role, mapping, file


def read(directory: Path, shown_as: str = "") -> RawPackage:
    """Read the package in `directory`. What cannot be read becomes a finding of its `files`."""
    files = PackageFiles(directory, shown_as=shown_as)
    metadata = _metadata(files)
    if metadata is None:
        return RawPackage(files, None, _ASSUMED, tuple(_fixed_sets(files, _NEWEST)))
    stated = re.match(r"[0-9]{1,9}", str(metadata.get("package_version")))
    major = int(stated[0]) if stated and 1 <= int(stated[0]) <= _NEWEST else _ASSUMED
    sets = list(_fixed_sets(files, major))
    files.resolved(without(metadata, "releases", "graphs"))
    sets += _graph_sets(files, metadata, files.manifest, ())
    listed = metadata.get("releases")
    for index, record in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(record, Mapping):
            files.resolved(record)
            path = ("releases", index)
            is_release = is_definition(record)
            sets += _release_sets(files, record, path) if is_release else _extension_sets(files, record, path, major)
    # A file with a fixed name belongs to a release if a record that defines one names it.
    taken = {document.file for data in sets if data.of_release for document in data.documents}
    own = (
        data
        for data in sets
        if data.of_release or data.path or all(document.file not in taken for document in data.documents)
    )
    return RawPackage(files, metadata, major, tuple(own))


def bases_of(files: PackageFiles, record: Mapping[str, Any]) -> list[Document]:
    """Return the files that `base_release_path` names."""
    name = record.get(_BASE)
    return files.documents(name, files.place(record, _BASE)) if isinstance(name, str) else []


def all_bases_of(files: PackageFiles, record: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the bases of a release record, the bases of those, and so on, each once and with its file."""
    waiting, seen = [record], set[str]()
    while waiting:
        for base in bases_of(files, waiting.pop()):
            if isinstance(base.data, Mapping) and base.file not in seen:
                seen.add(base.file)
                waiting.append(base.data)
                yield base.data, base.file


def _metadata(files: PackageFiles) -> Mapping[str, Any] | None:
    document = files.fixed("metadata.yaml")
    if document is not None and isinstance(document.data, Mapping):
        return document.data
    if document is not None:
        files.reject("P001", "metadata.yaml is not a mapping", Place(files.manifest, 1), "Write it as key: value.")
    elif not any(finding.place.file == files.manifest and finding.is_error for finding in files.findings):
        hint = "Create it, or name the directory that contains it."
        files.reject("P001", "the package has no metadata.yaml", Place(files.manifest), hint)
    return None


def _fixed_sets(files: PackageFiles, major: int, folder: str = "") -> Iterator[DataSet]:
    """Yield the files with fixed names, at the root or in `folder`, that packages of version `major` have."""
    for file_type in FIXED:
        if is_known(file_type, major):
            name = f"{folder}{file_type}.yaml"
            document = files.fixed(name)
            if document is not None:
                yield DataSet(file_type, (document,), Place(files.shown(name)))


def _extension_sets(files: PackageFiles, record: Mapping[str, Any], path: _DataPath, major: int) -> Iterator[DataSet]:
    """Yield what the record of an extended release names for that release alone."""
    for file_type in PARTS:
        key = f"{file_type}{SUFFIX}"
        if isinstance(record.get(key), str) and is_known(file_type, major):
            yield _named(files, file_type, record, key, files.manifest)
    folder = record.get(CONF_PATH)
    if isinstance(folder, str) and files.directory_at(record, CONF_PATH):
        yield from _fixed_sets(files, major, f"{folder.rstrip('/')}/")
    yield from _graph_sets(files, record, files.manifest, path)


def _release_sets(files: PackageFiles, record: Mapping[str, Any], path: _DataPath) -> Iterator[DataSet]:
    """Yield what the record of a release, the base that it names, and the base of that define."""
    sets = list(_defined_sets(files, record, files.manifest, path))
    for base, file in all_bases_of(files, record):
        files.resolved_keys(base, file=file)
        sets += _defined_sets(files, base, file, ())
    mergeable: dict[str, list[DataSet]] = {}
    for data in sets:
        if data.type != _GRAPH and all(isinstance(document.data, Mapping) for document in data.documents):
            mergeable.setdefault(data.type, []).append(data)
    for data in sets:
        first, *bases = mergeable.get(data.type, [data])
        if data is first:
            yield replace(data, bases=tuple(bases))
        else:
            yield replace(data, is_base=any(data is base for base in bases))


def _defined_sets(files: PackageFiles, holder: Mapping[str, Any], file: str, path: _DataPath) -> Iterator[DataSet]:
    for key, file_type in _RELEASE_DATA.items():
        path_key = f"{key}{SUFFIX}"
        if isinstance(holder.get(path_key), str):
            yield _named(files, file_type, holder, path_key, file, of_release=True)
        elif holder.get(key) is not None:
            place = files.place(holder, key, file=file)
            yield DataSet(file_type, (Document(holder[key], file),), place, (*path, key), of_release=True)
    yield from _graph_set(files, holder, "deployment_tasks", file, path)
    yield from _graph_sets(files, holder, file, path)


def _graph_sets(files: PackageFiles, holder: Mapping[str, Any], file: str, path: _DataPath) -> Iterator[DataSet]:
    """Yield the tasks of the graphs that `holder` lists."""
    listed = holder.get("graphs")
    for index, record in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(record, Mapping):
            nested = record.get("graph")
            body, below = (nested, ("graph",)) if isinstance(nested, Mapping) else (record, ())
            key = "graph" if f"graph{SUFFIX}" in body else "tasks"
            yield from _graph_set(files, body, key, file, (*path, "graphs", index, *below))


def _graph_set(files: PackageFiles, body: Mapping[str, Any], key: str, file: str, path: _DataPath) -> Iterator[DataSet]:
    path_key = f"{key}{SUFFIX}"
    if isinstance(body.get(path_key), str):
        place = files.place(body, path_key, file=file)
        documents = tuple(_tasks_in(document) for document in files.documents(body[path_key], place))
        yield DataSet(_GRAPH, documents, place, (), of_release=True)
    elif body.get(key) is not None:
        place = files.place(body, key, file=file)
        yield DataSet(_GRAPH, (Document(body[key], file),), place, (*path, key), of_release=True)


def _tasks_in(document: Document) -> Document:
    """Return the tasks in a graph's file, which may be a mapping with the graph's name and metadata."""
    if isinstance(document.data, Mapping) and "tasks" in document.data:
        return Document(document.data["tasks"], document.file)
    return document


def _named(
    files: PackageFiles, file_type: str, holder: Mapping[str, Any], key: str, file: str, *, of_release: bool = False
) -> DataSet:
    place = files.place(holder, key, file=file)
    return DataSet(file_type, tuple(files.documents(holder[key], place)), place, (), of_release)


def _records(listed: Any, file: str, line: int) -> Iterator[Record]:
    for index, (item, at) in enumerate(items_of(listed, line)):
        if isinstance(item, Mapping):
            name = item.get("id") or item.get("name")
            shown = name if isinstance(name, str) else f"[{index}]"
            yield Record(item, file, getattr(item, "line", 0) or at, shown)

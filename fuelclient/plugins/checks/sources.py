"""Where the data of a package is: files of fixed names, and what release records and graphs name or state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.document import Document
from fuelclient.model.finding import Place
from fuelclient.plugins.contents import CONF_PATH, PARTS
from fuelclient.plugins.paths import SUFFIX, PackageFiles
from fuelclient.plugins.schema import is_known

BASE = "base_release_path"
FIXED = (*PARTS, "node_config", "nic_config", "bond_config")
"""The kinds of files that lie at the root of a package, each as `<kind>.yaml`."""

RELEASE_DATA = {
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
"""What the record of a release states, and the kind of file that holds the like for a plugin."""

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Documents that make one part of the package together.

    `place` is where they are named; `path` leads to the data where it is written inside another file;
    `of_release` says that a release is defined by it, and not the plugin's own part.
    """

    kind: str
    documents: tuple[Document, ...]
    place: Place
    path: Path = ()
    of_release: bool = False


def is_definition(record: object) -> bool:
    """Whether a record of `releases` defines a release."""
    return isinstance(record, Mapping) and record.get("is_release") is True


def fixed_sets(files: PackageFiles, major: int, folder: str = "") -> Iterator[DataSet]:
    """The files of fixed names, at the root or in `folder`, that packages of version `major` have."""
    for kind in FIXED:
        if not is_known(kind, major):
            continue
        name = f"{folder}{kind}.yaml"
        document = files.fixed(name)
        if document is not None:
            yield DataSet(kind, (document,), Place(files.shown(name)))


def extension_sets(files: PackageFiles, record: Mapping[str, Any], path: Path, major: int) -> Iterator[DataSet]:
    """What the record of a release that the plugin extends names for that release alone."""
    for kind in PARTS:
        key = f"{kind}{SUFFIX}"
        if isinstance(record.get(key), str) and is_known(kind, major):
            yield _named(files, kind, record, key, files.manifest)
    folder = record.get(CONF_PATH)
    if isinstance(folder, str) and files.directory_at(record, CONF_PATH):
        yield from fixed_sets(files, major, f"{folder.rstrip('/')}/")
    yield from graph_sets(files, record, files.manifest, path)


def release_sets(files: PackageFiles, record: Mapping[str, Any], path: Path, _major: int) -> Iterator[DataSet]:
    """What the record of a release, and the base that it names, define."""
    yield from _release_sets(files, record, files.manifest, path)
    for base in bases_of(files, record):
        if isinstance(base.data, Mapping):
            files.resolved_keys(base.data, file=base.file)
            yield from _release_sets(files, base.data, base.file, ())


def bases_of(files: PackageFiles, record: Mapping[str, Any]) -> list[Document]:
    """The files that `base_release_path` names."""
    name = record.get(BASE)
    return files.documents(name, files.place(record, BASE)) if isinstance(name, str) else []


def _release_sets(files: PackageFiles, holder: Mapping[str, Any], file: str, path: Path) -> Iterator[DataSet]:
    for key, kind in RELEASE_DATA.items():
        named = f"{key}{SUFFIX}"
        if isinstance(holder.get(named), str):
            yield _named(files, kind, holder, named, file, of_release=True)
        elif holder.get(key) is not None:
            place = files.place(holder, key, file=file)
            yield DataSet(kind, (Document(holder[key], file),), place, (*path, key), of_release=True)
    yield from _graph(files, holder, "deployment_tasks", file, path)
    yield from graph_sets(files, holder, file, path)


def graph_sets(files: PackageFiles, holder: Mapping[str, Any], file: str, path: Path) -> Iterator[DataSet]:
    """The tasks of the graphs that `holder` lists."""
    listed = holder.get("graphs")
    for index, record in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(record, Mapping):
            below = (*path, "graphs", index)
            nested = record.get("graph")
            body = nested if isinstance(nested, Mapping) else record
            if body is nested:
                below = (*below, "graph")
            key = "graph" if f"graph{SUFFIX}" in body else "tasks"
            yield from _graph(files, body, key, file, below)


def _graph(files: PackageFiles, body: Mapping[str, Any], key: str, file: str, path: Path) -> Iterator[DataSet]:
    named = f"{key}{SUFFIX}"
    if isinstance(body.get(named), str):
        found = _named(files, "release_tasks", body, named, file, of_release=True)
        documents = tuple(_tasks_in(document) for document in found.documents)
        yield DataSet(found.kind, documents, found.place, (), of_release=True)
    elif body.get(key) is not None:
        place = files.place(body, key, file=file)
        yield DataSet("release_tasks", (Document(body[key], file),), place, (*path, key), of_release=True)


def _tasks_in(document: Document) -> Document:
    """The tasks of a graph's file, which may be a mapping with its name and metadata beside them."""
    if isinstance(document.data, Mapping) and "tasks" in document.data:
        return Document(document.data["tasks"], document.file)
    return document


def _named(
    files: PackageFiles, kind: str, holder: Mapping[str, Any], key: str, file: str, *, of_release: bool = False
) -> DataSet:
    place = files.place(holder, key, file=file)
    return DataSet(kind, tuple(files.documents(holder[key], place)), place, (), of_release)

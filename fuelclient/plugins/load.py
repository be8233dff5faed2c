"""Load an unpacked plugin package: its releases, graphs, roles, volumes and settings.

Sources: the specifications "release-as-a-plugin" (releases in `metadata.yaml`, `*_path` keys), "plugins-v5" (files
that a record of `releases` names) and "role-as-a-plugin" (`node_roles.yaml`, `volumes.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding, Place, errors_in
from fuelclient.model.graph import GraphDocument
from fuelclient.model.package import Contents, Package, PackagedRelease, ReleaseRecord
from fuelclient.model.plugin import Plugin
from fuelclient.model.task import Task
from fuelclient.plugins.contents import contents_of, major_of
from fuelclient.plugins.package_files import PackageFiles, require_directory, without
from fuelclient.plugins.releases import is_definition, name_form, record_of, release_of
from fuelclient.serializers.values import in_words, items_of, plain

_NEEDED = {"version": "[0-9A-Za-z._+-]*[0-9A-Za-z]", "package_version": ".+"}
"""What the metadata of every package states besides its name, as regular expressions."""

_KNOWN_VERSIONS = ("1.0.", "2.0.", "3.0.", "4.0.", "5.0.", "6.0.")
"""The beginnings of package versions for which Nailgun has an adapter."""
_CONFIGS = {
    "node_config.yaml": "node_attributes_metadata",
    "nic_config.yaml": "nic_attributes_metadata",
    "bond_config.yaml": "bond_attributes_metadata",
}
"""Files that are only passed on, and Nailgun's names for their content."""

_CONFIGS_SINCE = 5
_SCRIPTS = "deployment_scripts_path"

_TOLERATED = frozenset({"P040", "P067"})
"""Errors that leave the rest of a package usable: a record whose constraint cannot be read fits no release, and nothing
here reads the repositories of a package."""


@dataclass(frozen=True, slots=True)
class Relabel:
    """Replaces the directory `before` with `after` in the file names that tasks remember.

    An installed package is known by name and version, not by the path it came from.

    >>> Relabel("/tmp/new-1/", "lma-0.10.2").file("/tmp/new-1/deployment_tasks.yaml")
    'lma-0.10.2/deployment_tasks.yaml'
    """

    before: str
    after: str

    def file(self, name: str) -> str:
        """Return the name of a package's file after its directory is renamed. Files elsewhere keep their names."""
        start = f"{self.before.rstrip('/')}/"
        return f"{self.after}/{name.removeprefix(start)}" if name.startswith(start) else name

    def graph(self, graph: GraphDocument) -> GraphDocument:
        """Return the graph with renamed files, also in its findings."""
        findings = tuple(
            replace(finding, place=replace(finding.place, file=self.file(finding.place.file)))
            for finding in graph.findings
        )
        return replace(graph, tasks=tuple(map(self._task, graph.tasks)), findings=findings)

    def package(self, package: Package) -> Package:
        """Return the package with renamed files, and without findings except those of its graphs."""
        records = (
            record if record.contents is None else replace(record, contents=self._contents(record.contents))
            for record in package.records
        )
        releases = (replace(release, graphs=self._graphs(release.graphs)) for release in package.releases)
        contents = self._contents(package.contents)
        return replace(package, contents=contents, records=tuple(records), releases=tuple(releases), findings=())

    def _task(self, task: Task) -> Task:
        return replace(task, source=replace(task.source, file=self.file(task.source.file)))

    def _graphs(self, graphs: Mapping[str, GraphDocument]) -> dict[str, GraphDocument]:
        return {graph_type: self.graph(graph) for graph_type, graph in graphs.items()}

    def _contents(self, contents: Contents) -> Contents:
        return replace(contents, graphs=self._graphs(contents.graphs))


def load_package(directory: Path, *, shown_as: str = "") -> Package:
    """Load the package in `directory`. Findings call the directory `shown_as`, if given.

    Raise `NotFound` if the directory does not exist, and `InvalidDocument` with all findings if one of them is an
    error: metadata that is missing or unreadable (P001), of an unknown package version (P002) or, like the other
    files, of the wrong shape (P003); a path that does not exist or leaves the package (P004); a release that lacks a
    field (P030); a pattern without matches, or files that cannot be read or combined (P037); a repeated id (P060); an
    invalid task (G...). A version constraint that cannot be read (P040), whose record then fits no release, and a
    missing repository (P067) are only findings of the package.
    """
    package, findings = read_package(directory, shown_as=shown_as)
    errors = [finding for finding in errors_in(findings) if finding.code not in _TOLERATED]
    if package is None or errors:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
        raise InvalidDocument(f"{shown_as or directory} is not a usable plugin package: {count}.", findings=findings)
    return package


def read_package(
    directory: Path, *, shown_as: str = "", known: PackageFiles | None = None
) -> tuple[Package | None, tuple[Finding, ...]]:
    """Return as much of the package in `directory` as can be read, and everything that is wrong with it.

    Without a usable name and version in its metadata, the package is None. Files that `known` has read are not read
    again. Raise what `require_directory` raises.
    """
    require_directory(directory)
    files = PackageFiles(directory, shown_as=shown_as, known=known)
    metadata = _metadata(files)
    if metadata is None:
        return None, files.findings
    usable = not errors_in(files.findings)
    package = _package(files, metadata)
    return (package if usable else None), files.findings


def plugin_of(package: Package) -> Plugin:
    """Return the package as an unregistered plugin (with the id 0), with its contents under Nailgun's names."""
    contents = package.contents
    metadata = {
        **package.metadata,
        "releases": [record.metadata for record in package.records],
        "attributes_metadata": contents.attributes,
        "components_metadata": contents.components,
        "network_roles_metadata": contents.network_roles,
        "roles_metadata": contents.roles,
        "tags_metadata": contents.tags,
        "volumes_metadata": contents.volumes,
    }
    return Plugin(0, package.name, package.version, package.title, package.package_version, plain(metadata))


def _package(files: PackageFiles, metadata: Mapping[str, Any]) -> Package:
    listed = metadata.get("releases") or []
    if not isinstance(listed, list):
        files.reject("P003", "releases is not a list", files.place(metadata, "releases"), "Write it as - version: ...")
        listed = []
    with files.of_release():  # before all else, because the files that releases name are not the plugin's own
        owner = str(metadata.get("name"))
        defined = [release_of(files, record, owner) for record in listed if is_definition(record)]
    releases = [release for release in defined if release is not None]
    records: list[ReleaseRecord] = []
    for record, line in items_of(listed, files.place(metadata, "releases").line):
        if not isinstance(record, Mapping):
            message = f"a record of releases is {in_words(record)}, not a mapping"
            files.reject("P003", message, Place(files.manifest, line), "Write it as - version: ...")
        elif not is_definition(record):
            records.append(record_of(files, metadata, record))
    resolved = {**files.resolved(without(metadata, "graphs", "releases")), **_configs(files, metadata)}
    contents = contents_of(files, metadata)
    return Package(
        metadata=resolved,
        contents=contents,
        records=tuple(records),
        releases=tuple(releases),
        scripts=_scripts(files, resolved, records, releases),
        findings=files.findings,
    )


def _configs(files: PackageFiles, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of nodes, interfaces and bonds under Nailgun's names."""
    documents = {name: files.own(name) for name in _CONFIGS} if major_of(metadata) >= _CONFIGS_SINCE else {}
    return {_CONFIGS[name]: document.data for name, document in documents.items() if document and document.data}


def _scripts(
    files: PackageFiles,
    metadata: Mapping[str, Any],
    records: Sequence[ReleaseRecord],
    releases: Sequence[PackagedRelease],
) -> tuple[str, ...]:
    """Return the files in all directories of scripts that the package names."""
    holders: Iterable[Mapping[str, Any]] = (
        metadata,
        *(record.metadata for record in records),
        *(packaged.release.metadata for packaged in releases),
    )
    named = dict.fromkeys(holder[_SCRIPTS] for holder in holders if isinstance(holder.get(_SCRIPTS), str))
    return tuple(sorted({script for name in named for script in files.below(name)}))


def _metadata(files: PackageFiles) -> Mapping[str, Any] | None:
    """Return `metadata.yaml`, after adding findings about it; None if it does not even state a package version."""
    before = len(errors_in(files.findings))
    document = files.fixed("metadata.yaml")
    if document is None:
        if len(errors_in(files.findings)) == before:
            files.reject("P001", "the package has no metadata.yaml", Place(files.manifest), "Every package needs one.")
        return None
    metadata = document.data
    if not isinstance(metadata, Mapping):
        files.reject("P001", "metadata.yaml is not a mapping", Place(files.manifest, 1), "Write it as key: value.")
        return None
    for key, pattern in {"name": name_form(metadata), **_NEEDED}.items():
        value = metadata.get(key)
        place = files.place(metadata, key)
        if not isinstance(value, str) or not value:
            what = "is missing" if value in (None, "") else "is not a string"
            files.reject("P003", f"{key} {what}", place, f"Write {key}: '...', in quotes.")
        elif not re.fullmatch(pattern, value):  # name and version become names of directories
            files.reject("P003", f"{key} cannot be {value!r}", place, f"It must match {pattern}.")
    version = metadata.get("package_version")
    if not isinstance(version, str) or not version:
        return None
    if not version.startswith(_KNOWN_VERSIONS):
        place = files.place(metadata, "package_version")
        files.reject("P002", f"package version {version} is unknown", place, "Known are 1.0.0 to 6.0.0.")
        return None
    return metadata

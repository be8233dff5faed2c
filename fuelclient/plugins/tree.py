"""Unpacked plugin packages: from a directory to the releases, graphs, roles and volumes that it brings.

Source: the specifications "release-as-a-plugin" (releases in `metadata.yaml`, `*_path` keys), "plugins-v5"
(`tasks.yaml` is ignored, roles have `tasks`) and "role-as-a-plugin" (`node_roles.yaml`, `volumes.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.model.finding import Finding, Place, Severity, errors_in
from fuelclient.model.graph import DEFAULT_TYPE, GraphDocument
from fuelclient.model.plugin import Plugin
from fuelclient.plugins.graphs import graphs_of, groups_of, read
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.plugins.releases import PackagedRelease, is_definition, release_of
from fuelclient.serializers.values import plain

_NEEDED = {"name": "[a-z0-9_-]+", "version": "[0-9A-Za-z._+-]*[0-9A-Za-z]", "package_version": ".+"}
"""What the metadata of every package states, and the form of it."""

_KNOWN_VERSIONS = ("1.", "2.", "3.", "4.", "5.", "6.")
_WITHOUT_LEGACY_TASKS = ("5.", "6.")


@dataclass(frozen=True, slots=True)
class Package:
    """What an unpacked package brings.

    `metadata` is `metadata.yaml` with its `*_path` keys resolved; of its `releases`, those that the plugin
    extends are left, and its `graphs` have moved to `graphs`. There, `default` has the legacy tasks
    (`tasks.yaml`), the groups of the roles, then `deployment_tasks.yaml`. `findings` are warnings and notices.
    """

    metadata: Mapping[str, Any]
    releases: tuple[PackagedRelease, ...] = ()
    graphs: Mapping[str, GraphDocument] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    volumes: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def version(self) -> str:
        return str(self.metadata["version"])

    @property
    def plugin(self) -> Plugin:
        """The package as a plugin that is not registered yet: its id is 0."""
        return Plugin(
            0,
            self.name,
            self.version,
            str(self.metadata.get("title") or self.name),
            str(self.metadata["package_version"]),
            plain({**self.metadata, "roles_metadata": self.roles, "volumes_metadata": self.volumes}),
        )


def load_package(directory: Path) -> Package:
    """The package in `directory`, all of its files read.

    Raises `NotFound` when there is no such directory, and `InvalidDocument` with every finding, each at its
    file and line, when one of them is an error: metadata that is missing (P001), of an unknown package version
    (P002) or of the wrong shape (P003), a path that leads to nothing or out of the package (P004), a release
    that lacks a field (P030), a pattern that finds nothing or files that cannot be read or do not fit together
    (P037).
    """
    if not directory.is_dir():
        raise NotFound("package directory", str(directory), hint="Name the directory that holds metadata.yaml.")
    files = PackageFiles(directory)
    metadata = _metadata(files)
    package = _package(files, metadata) if metadata is not None else None
    errors = errors_in(files.findings)
    if package is None or errors:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
        raise InvalidDocument(f"{directory} is no usable plugin package: {count}.", findings=files.findings)
    return package


def _package(files: PackageFiles, metadata: Mapping[str, Any]) -> Package:
    owner = str(metadata["name"])
    records = metadata.get("releases") or []
    if not isinstance(records, list):
        files.reject("P003", "releases is not a list", files.place(metadata, "releases"), "Write it as - version: ...")
        records = []
    releases = [release_of(files, record, owner) for record in records if is_definition(record)]
    extended = [files.resolved(record) for record in records if not is_definition(record)]
    roles = _fixed(files, "node_roles.yaml")
    graphs = {DEFAULT_TYPE: _own_tasks(files, metadata, roles), **graphs_of(files, metadata, owner)}
    resolved = files.resolved(without(metadata, "graphs", "releases"))
    return Package(
        metadata={**resolved, "releases": extended},
        releases=tuple(release for release in releases if release is not None),
        graphs=graphs,
        roles={name: without(role, "tasks") if isinstance(role, Mapping) else role for name, role in roles.items()},
        volumes=_fixed(files, "volumes.yaml"),
        findings=files.findings,
    )


def _metadata(files: PackageFiles) -> Mapping[str, Any] | None:
    """`metadata.yaml` with everything that the rest relies on, or None after noting what is wrong."""
    before = len(errors_in(files.findings))
    document = files.fixed("metadata.yaml")
    if document is None:
        if len(errors_in(files.findings)) == before:
            files.reject("P001", "the package has no metadata.yaml", Place(files.manifest), "Every package needs one.")
        return None
    metadata = document.data
    if not isinstance(metadata, Mapping):
        files.reject("P001", "metadata.yaml holds no mapping", Place(files.manifest, 1), "Write it as key: value.")
        return None
    for key, form in _NEEDED.items():
        value = metadata.get(key)
        place = files.place(metadata, key)
        if not isinstance(value, str) or not value:
            what = "is missing" if value in (None, "") else "is not a text"
            files.reject("P003", f"{key} {what}", place, f"Write {key}: '...', in quotes.")
        elif not re.fullmatch(form, value):  # both become names of directories
            files.reject("P003", f"{key} cannot be {value!r}", place, f"It has to match {form}.")
    version = metadata.get("package_version")
    if isinstance(version, str) and version and not version.startswith(_KNOWN_VERSIONS):
        place = files.place(metadata, "package_version")
        files.reject("P002", f"package version {version} is unknown", place, "Known are 1.0.0 to 6.0.0.")
    return metadata if len(errors_in(files.findings)) == before else None


def _fixed(files: PackageFiles, name: str) -> Mapping[str, Any]:
    """The mapping in a file of fixed name; empty where the file is empty or absent."""
    document = files.fixed(name)
    if document is None or document.data is None:
        return {}
    if not isinstance(document.data, Mapping):
        files.reject("P003", f"{name} holds no mapping", Place(document.file, 1), "Write it as name: ...")
        return {}
    return document.data


def _own_tasks(files: PackageFiles, metadata: Mapping[str, Any], roles: Mapping[str, Any]) -> GraphDocument:
    """The plugin's default graph: `tasks.yaml`, the groups of its roles, `deployment_tasks.yaml`.

    A group that `deployment_tasks.yaml` defines itself wins over the one that a role asks for.
    """
    legacy, tasks = files.fixed("tasks.yaml"), files.fixed("deployment_tasks.yaml")
    if legacy and legacy.data and str(metadata["package_version"]).startswith(_WITHOUT_LEGACY_TASKS):
        message = "tasks.yaml is ignored in packages of version 5 and later"
        hint = "Move its tasks to deployment_tasks.yaml."
        files.note([Finding(Severity.INFO, "P014", message, Place(legacy.file, 1), hint=hint)])
        legacy = None
    stated = [document for document in (legacy, tasks) if document and document.data is not None]
    graph = read(files, stated, str(metadata["name"]))
    known = {task.id for task in graph.tasks}
    groups = [group for group in groups_of(files, roles) if group.id not in known]
    first = sum(task.legacy for task in graph.tasks)
    return replace(graph, tasks=(*graph.tasks[:first], *groups, *graph.tasks[first:]))

"""Unpacked plugin packages: from a directory to the releases, graphs, roles and volumes that it brings.

Source: the specifications "release-as-a-plugin" (releases in `metadata.yaml`, `*_path` keys), "plugins-v5"
(what a record of `releases` names itself) and "role-as-a-plugin" (`node_roles.yaml`, `volumes.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding, Place, errors_in
from fuelclient.model.package import Package, PackagedRelease, ReleaseRecord
from fuelclient.model.plugin import Plugin
from fuelclient.plugins.contents import contents_of, major_of
from fuelclient.plugins.directory import require_directory
from fuelclient.plugins.paths import PackageFiles, without
from fuelclient.plugins.releases import is_definition, name_form, record_of, release_of
from fuelclient.serializers.values import items_of, kind, plain

_NEEDED = {"version": "[0-9A-Za-z._+-]*[0-9A-Za-z]", "package_version": ".+"}
"""What the metadata of every package states beside its name, and the form of it."""

_KNOWN_VERSIONS = ("1.0.", "2.0.", "3.0.", "4.0.", "5.0.", "6.0.")
"""How the versions of packages begin for which Nailgun has an adapter."""
_CONFIGS = {
    "node_config.yaml": "node_attributes_metadata",
    "nic_config.yaml": "nic_attributes_metadata",
    "bond_config.yaml": "bond_attributes_metadata",
}
"""Files that nothing here reads but to hand them on, and what Nailgun calls their content."""

_CONFIGS_SINCE = 5
_SCRIPTS = "deployment_scripts_path"

_TOLERATED = frozenset({"P040"})
"""Errors that leave the rest of a package usable: a record whose constraint cannot be read fits no release."""


def load_package(directory: Path, *, shown_as: str = "") -> Package:
    """The package in `directory`, all of its files read. `shown_as` is what findings call the directory.

    Raises `NotFound` when there is no such directory, and `InvalidDocument` with every finding, each at its
    file and line, when one of them is an error: metadata that is missing or no data (P001), of an unknown package
    version (P002) or, like the other files, of the wrong shape (P003), a path that leads to nothing or out of the
    package (P004), a release that lacks a field (P030), a pattern that finds nothing or files that cannot be read
    or do not fit together (P037), an id that is taken twice (P060), a task that is none (G...). A version
    constraint that cannot be read (P040) is among the findings of the package, and its record fits no release.
    """
    package, findings = read_package(directory, shown_as=shown_as)
    errors = [finding for finding in errors_in(findings) if finding.code not in _TOLERATED]
    if package is None or errors:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
        raise InvalidDocument(f"{shown_as or directory} is no usable plugin package: {count}.", findings=findings)
    return package


def read_package(directory: Path, *, shown_as: str = "") -> tuple[Package | None, tuple[Finding, ...]]:
    """As much of the package in `directory` as can be read, and everything that is wrong with it.

    There is no package when its metadata lacks a name or a version, which all else needs. Raises what
    `require_directory` raises.
    """
    require_directory(directory)
    files = PackageFiles(directory, shown_as=shown_as)
    metadata = _metadata(files)
    if metadata is None:
        return None, files.findings
    usable = not errors_in(files.findings)
    package = _package(files, metadata)
    return (package if usable else None), files.findings


def plugin_of(package: Package) -> Plugin:
    """The package as a plugin that is not registered yet (its id is 0), with its contents for any release under
    the names that Nailgun has for them."""
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
    with files.of_release():  # first of all: what they name is not the plugin's own
        defined = [release_of(files, one, str(metadata.get("name"))) for one in listed if is_definition(one)]
    releases = [release for release in defined if release is not None]
    records: list[ReleaseRecord] = []
    for record, line in items_of(listed, files.place(metadata, "releases").line):
        if not isinstance(record, Mapping):
            message = f"a record of releases is {kind(record)}, not a mapping"
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
    """The settings of nodes, interfaces and bonds, under the names that Nailgun has for them."""
    documents = {name: files.own(name) for name in _CONFIGS} if major_of(metadata) >= _CONFIGS_SINCE else {}
    return {_CONFIGS[name]: document.data for name, document in documents.items() if document and document.data}


def _scripts(
    files: PackageFiles,
    metadata: Mapping[str, Any],
    records: Sequence[ReleaseRecord],
    releases: Sequence[PackagedRelease],
) -> tuple[str, ...]:
    """The files below every directory of scripts that the package names."""
    holders: Iterable[Mapping[str, Any]] = (
        metadata,
        *(record.metadata for record in records),
        *(packaged.release.metadata for packaged in releases),
    )
    named = dict.fromkeys(holder[_SCRIPTS] for holder in holders if isinstance(holder.get(_SCRIPTS), str))
    return tuple(sorted({script for name in named for script in files.below(name)}))


def _metadata(files: PackageFiles) -> Mapping[str, Any] | None:
    """`metadata.yaml`, what it lacks noted; None where it does not even say what version of package it is of."""
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
    for key, form in {"name": name_form(metadata), **_NEEDED}.items():
        value = metadata.get(key)
        place = files.place(metadata, key)
        if not isinstance(value, str) or not value:
            what = "is missing" if value in (None, "") else "is not a text"
            files.reject("P003", f"{key} {what}", place, f"Write {key}: '...', in quotes.")
        elif not re.fullmatch(form, value):  # both become names of directories
            files.reject("P003", f"{key} cannot be {value!r}", place, f"It has to match {form}.")
    return metadata if _check_version(files, metadata) else None


def _check_version(files: PackageFiles, metadata: Mapping[str, Any]) -> bool:
    """Whether the package is of a version that can be read."""
    version = metadata.get("package_version")
    if not isinstance(version, str) or not version:
        return False
    if version.startswith(_KNOWN_VERSIONS):
        return True
    place = files.place(metadata, "package_version")
    files.reject("P002", f"package version {version} is unknown", place, "Known are 1.0.0 to 6.0.0.")
    return False

"""Load an unpacked plugin package: its releases, graphs, roles, volumes and settings. The package of a linked
plugin is read from the directory of its author at each use, not from a copy.

Sources: the specifications "release-as-a-plugin" (releases in `metadata.yaml`, `*_path` keys), "plugins-v5" (files
that a record of `releases` names) and "role-as-a-plugin" (`node_roles.yaml`, `volumes.yaml`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuelclient.errors import Conflict, InvalidDocument, NotFound
from fuelclient.model.finding import Place, errors_in
from fuelclient.model.package import Package
from fuelclient.model.plugin import SCRIPTS, Plugin
from fuelclient.plugins import repeated_ids
from fuelclient.plugins.contents import contents_of
from fuelclient.plugins.package_files import PackageFiles, require_directory
from fuelclient.plugins.parts import Part, records_in, without
from fuelclient.plugins.reading import Reading
from fuelclient.plugins.releases import definition_of, is_definition, name_form, record_of
from fuelclient.serializers.values import items_of, plain

_REQUIRED = {"version": "[0-9A-Za-z._+-]*[0-9A-Za-z]", "package_version": ".+"}
"""The keys that all metadata must have besides the name, and the regular expressions of their values."""

_KNOWN_VERSIONS = re.compile(r"[1-6]\.0\.[0-9]{1,9}")
_NEWEST, _ASSUMED = 6, 5
"""The newest package version, and the one assumed if the metadata has none or an unknown one: the newest in Fuel's own
documentation, because only Nailgun knew the rules of version 6."""

_CONFIGS = {f"{kind}_config": f"{kind}_attributes_metadata" for kind in ("node", "nic", "bond")}
"""Files that are passed on unread, and Nailgun's names for their content."""

_CONFIGS_SINCE = 5


def load_package(directory: Path, *, shown_as: str = "") -> Package:
    """Load the package in `directory`. Raise what `read_package` and `require_usable` raise."""
    return require_usable(read_package(directory, shown_as=shown_as))


def read_package(directory: Path, *, shown_as: str = "") -> Reading:
    """Read as much of the package in `directory` as possible. Findings show the directory as `shown_as`, if given.

    Raise what `require_directory` raises.
    """
    require_directory(directory)
    files = PackageFiles(directory, shown_as=shown_as)
    metadata, is_usable = _metadata(files)
    if metadata is None:
        files.version = _NEWEST
        contents_of(files)
        _configs(files)
        return Reading(files, None, _ASSUMED, tuple(files.parts.values()))
    given = re.match(r"[0-9]{1,9}", str(metadata.get("package_version")))
    files.metadata = metadata
    files.version = int(given[0]) if given and 1 <= int(given[0]) <= _NEWEST else _ASSUMED
    listed = files.shaped(metadata, "releases", list) or []
    wrong = (line for record, line in items_of(listed) if not isinstance(record, Mapping))
    files.misshapen.update((Place(files.manifest, line), None) for line in wrong)
    # These come first, because the files that they name are not the plugin's own.
    definitions = [
        definition_of(files, record, ("releases", index))
        for index, record in enumerate(listed)
        if is_definition(record)
    ]
    files.claim_read_files()
    resolved = {**files.resolved(without(metadata, "graphs", "releases")), **_configs(files)}
    contents = contents_of(files)
    records = [
        record_of(files, record, ("releases", index))
        for index, record in enumerate(listed)
        if isinstance(record, Mapping) and not is_definition(record)
    ]
    packaged = [each.packaged for each in definitions if each.packaged is not None]
    holders = (resolved, *(record.metadata for record in records), *(each.release.metadata for each in packaged))
    scripts = {name for name in (holder.get(SCRIPTS) for holder in holders) if isinstance(name, str)}
    package = Package(
        metadata=resolved,
        contents=contents,
        records=tuple(records),
        releases=tuple(packaged),
        scripts=tuple(sorted({script for name in scripts for script in files.files_in(name)})),
    )
    parts = tuple(files.parts.values())
    releases = tuple(records_in(listed, files.manifest, files.place(metadata, "releases").line))
    return Reading(files, metadata, files.version, parts, releases, tuple(definitions), package if is_usable else None)


def require_usable(package: Reading) -> Package:
    """The package that was read. Raise `InvalidDocument` with all findings if one of them makes it unusable.

    Such findings are: metadata that is missing or unreadable (P001), of an unknown package version (P002) or, like the
    other files, of the wrong shape (P003); a path that does not exist or leaves the package (P004); a release that
    lacks a field (P030); a pattern without matches, or files that cannot be read or combined (P037); a repeated id
    (P060); an invalid task (G...). A missing repository (P067) is not among them.
    """
    graph_findings = (finding for graph in package.files.graphs for finding in graph.findings)
    findings = [*package.files.findings, *graph_findings, *repeated_ids.find_repeated(package)]
    if package.files.misshapen and package.metadata is not None:
        from fuelclient.plugins import shapes  # the checker of schemas takes longer than reading a package

        findings += shapes.misshapen(package)
    errors = [finding for finding in errors_in(findings) if finding.code != "P067"]
    if package.package is None or errors:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
        raise InvalidDocument(f"{package.files.label} is not a usable plugin package: {count}.", findings=findings)
    return package.package


def plugin_of(package: Package) -> Plugin:
    """Make a plugin that is not registered (id 0) from a package, with the contents under Nailgun's names."""
    parts = ("attributes", "components", "network_roles", "roles", "tags", "volumes")
    metadata = {
        **package.metadata,
        "releases": [record.metadata for record in package.records],
        **{f"{part}_metadata": getattr(package.contents, part) for part in parts},
    }
    return Plugin(0, package.name, package.version, package.title, package.package_version, plain(metadata))


def _configs(files: PackageFiles) -> dict[str, Any]:
    """Read the settings of nodes, interfaces and bonds under Nailgun's names."""
    configs = {}
    for part, field in _CONFIGS.items() if files.version >= _CONFIGS_SINCE else ():
        if (document := files.read_own(f"{part}.yaml")) is not None:
            files.add_part(Part(part, (document,), Place(document.file)))
            configs.update({field: document.data} if document.data else {})
    return configs


def _metadata(files: PackageFiles) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the content of `metadata.yaml` or None, and whether a plugin can be made of it. Errors become findings."""
    if (document := files.read("metadata.yaml")) is None:
        if not errors_in(files.findings):
            hint = "Create it, or name the directory that contains it."
            files.reject("P001", "the package has no metadata.yaml", Place(files.manifest), hint)
        return None, False
    metadata = document.data
    if not isinstance(metadata, Mapping):
        files.reject("P001", "metadata.yaml is not a mapping", Place(files.manifest, 1), "Write it as key: value.")
        return None, False
    for key, pattern in {"name": name_form(metadata), **_REQUIRED}.items():
        value = metadata.get(key)
        if not isinstance(value, str) or not re.fullmatch(pattern, value):  # they become names of directories
            files.misshapen[files.place(metadata, key)] = None
    version = metadata.get("package_version")
    if isinstance(version, str) and not _KNOWN_VERSIONS.fullmatch(version):
        hint = "Known are 1.0.0, 2.0.0, 3.0.0, 4.0.0, 5.0.0 and 6.0.0."
        place = files.place(metadata, "package_version")
        files.reject("P002", f"package version {version[:80]!r} is unknown", place, hint)
    return metadata, not errors_in(files.findings) and not files.misshapen


_Stamp = tuple[tuple[str, int, int], ...]
_READ: dict[str, tuple[_Stamp, Package]] = {}
"""The package last read from each directory, because one command needs it several times."""


def current_package(plugin: Plugin) -> Package:
    """Read the package of a linked plugin from its directory.

    Raise `NotFound` if the directory is gone, `InvalidDocument` with all findings if the package cannot be used, and
    `Conflict` if it has become another plugin or defines releases.
    """
    directory = plugin.unpacked
    if not os.path.isdir(directory):
        hint = "Bring it back, or link its new directory: `fuel2 plugins install --link DIR --force`."
        raise NotFound("directory", directory, hint=f"Plugin {plugin.label} is linked to it. {hint}")
    stamp = _stamp(directory)
    cached = _READ.get(directory)
    if cached is None or cached[0] != stamp:
        cached = _READ[directory] = stamp, load_package(Path(directory))
    require_linkable(cached[1], directory)
    if cached[1].name != plugin.name:
        raise Conflict(
            f"Plugin {plugin.name} is linked to {directory}, where the plugin {cached[1].name} is now.",
            hint=f"Change the name back in metadata.yaml, or run `fuel2 plugins install --link {directory} --force`.",
        )
    return cached[1]


def require_linkable(package: Package, directory: str) -> None:
    """Raise `Conflict` if a package defines releases: environments keep those, whatever becomes of a directory."""
    if package.releases:
        raise Conflict(
            f"The package in {directory} defines a release, so it cannot be linked.", hint="Install it without --link."
        )


def as_now(plugin: Plugin, package: Package) -> Plugin:
    """Update a registered plugin from its package."""
    kept = {name: getattr(plugin, name) for name in ("id", "clusters", "unpacked", "by_release", "origin")}
    return replace(plugin_of(package), **kept)


def _stamp(directory: str) -> _Stamp:
    """The names, sizes and times of the files in a directory, by which a change is noticed.

    Hidden files at its root, such as those of a version control system, are not part of a package.
    """
    files = []
    for folder, folders, names in os.walk(directory):
        if folder == directory:
            folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # an editor is just replacing it
                status = os.lstat(path)
                files.append((path, status.st_size, status.st_mtime_ns))
    return tuple(sorted(files))

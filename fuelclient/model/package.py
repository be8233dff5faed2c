"""The content of plugin packages, for all releases and for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuelclient.model.graph import GraphDocument
from fuelclient.model.release import Release


@dataclass(frozen=True, slots=True)
class Contents:
    """The data files of a package, read and normalised, for all releases or for one of them.

    `graphs` has the graphs by type. `default` contains the legacy tasks, the groups made from the `tasks` of roles, and
    the deployment tasks, in that order. `roles`, `tags` and `volumes` are in Nailgun's shapes (`volumes` has
    `volumes_roles_mapping` and `volumes`), whatever spelling the package uses. `attributes` are the settings that the
    plugin adds to an environment. `files` maps the name of a file at the root (`deployment_tasks.yaml`) to the file
    that is used in its place.
    """

    graphs: Mapping[str, GraphDocument] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)
    volumes: Mapping[str, Any] = field(default_factory=dict)
    network_roles: tuple[Any, ...] = ()
    components: tuple[Any, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """A release that a package extends: one record of `releases` in its metadata.

    `contents` is None if the record does not name files of its own, so that those of the package apply.
    """

    os: str
    version: str
    modes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    contents: Contents | None = None


@dataclass(frozen=True, slots=True)
class PackagedRelease:
    """A release that a package defines (with the id 0), and its graphs by type."""

    release: Release
    graphs: Mapping[str, GraphDocument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Package:
    """A plugin package, read from a directory.

    `metadata` is `metadata.yaml` with `*_path` keys resolved. Its `releases` and `graphs` are removed, because they are
    in `records`, `releases` and `contents`. `scripts` are the files in all directories that `deployment_scripts_path`
    names, as paths relative to the package.
    """

    metadata: Mapping[str, Any]
    contents: Contents
    records: tuple[ReleaseRecord, ...] = ()
    releases: tuple[PackagedRelease, ...] = ()
    scripts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def version(self) -> str:
        return str(self.metadata["version"])

    @property
    def package_version(self) -> str:
        return str(self.metadata["package_version"])

    @property
    def title(self) -> str:
        return str(self.metadata.get("title") or self.name)


@dataclass(frozen=True, slots=True)
class Selection:
    """The content of a package for one release, and the reasons.

    `record` is the release record that matches, or None. `contents` has no version constraints left. `why` explains
    each choice in a sentence.
    """

    contents: Contents
    record: ReleaseRecord | None = None
    why: tuple[str, ...] = ()

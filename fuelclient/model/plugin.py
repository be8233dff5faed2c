"""Registered plugins, and the results of installing and synchronising them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.model.finding import Finding
from fuelclient.model.release import Release

ON_NODES = "/etc/fuel/plugins/"
"""The directory of plugins' scripts on nodes, the same as with a Fuel master."""

SCRIPTS = "deployment_scripts_path"
"""The key by which metadata, a record of `releases` or a release names the directory of scripts in its package."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A registered plugin.

    `metadata` is its `metadata.yaml`, with its contents under Nailgun's names (`roles_metadata`, `tags_metadata`,
    `volumes_metadata`, `network_roles_metadata`, `components_metadata`, `attributes_metadata`), and under `releases`
    the records of the releases that it extends. `clusters` are the environments on which it is enabled, `releases` the
    ids of the releases that it defines. `unpacked` is the name of the directory with its files, next to the engine
    file; the name contains a digest of the content. For a linked plugin it is the absolute path of the directory from
    which the package is read at each use. `origin` is the path it was installed from. With `by_release`, the
    content depends on the release, and `metadata` and the stored graphs are only those for releases in general.
    """

    id: int
    name: str
    version: str
    title: str = ""
    package_version: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    clusters: tuple[int, ...] = ()
    releases: tuple[int, ...] = ()
    unpacked: str = ""
    by_release: bool = False
    origin: str = ""

    @property
    def is_linked(self) -> bool:
        """Whether the package is read from its author's directory at each use, instead of from a copy.

        >>> Plugin(1, "lma", "0.10.2", unpacked="/home/me/lma").is_linked
        True
        """
        return self.unpacked.startswith("/")

    @property
    def label(self) -> str:
        """Name and version, as in Nailgun's messages.

        >>> Plugin(1, "lma", "0.10.2").label
        'lma-0.10.2'
        """
        return f"{self.name}-{self.version}"

    @property
    def directory(self) -> str:
        """The name of the directory with the plugin's files on the nodes.

        Packages of version 1 use the whole version, later ones only the first two parts.

        >>> Plugin(1, "lma", "0.10.2", package_version="4.0.0").directory
        'lma-0.10'
        """
        if self.package_version.startswith("1."):
            return f"{self.name}-{self.version}"
        return f"{self.name}-{'.'.join(self.version.split('.')[:2])}"

    @property
    def scripts(self) -> str:
        """The directory on nodes to which the plugin's scripts are copied, and in which its tasks run."""
        return f"{ON_NODES}{self.directory}/"


class InstallAction(StrEnum):
    """Whether an installation added a plugin, changed one, or installed the same content again (with `--force`)."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Installed:
    """The result of an installation.

    `previous_version` is the version that was updated, or empty. `releases` are those that the plugin defines.
    `scripts` are those of the package that were not run, though `rpm` would have run them as root. `findings` are
    warnings and notices about the package.
    """

    plugin: Plugin
    action: InstallAction
    previous_version: str = ""
    releases: tuple[Release, ...] = ()
    scripts: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of synchronising plugins with their unpacked packages.

    `findings` are those of each package, and an error for each plugin that could not be synchronised and is unchanged.
    """

    created: tuple[Plugin, ...] = ()
    updated: tuple[Plugin, ...] = ()
    removed: tuple[Plugin, ...] = ()
    findings: tuple[Finding, ...] = ()

"""Plugins, as far as the engine needs to know them to merge their graphs, and what was done with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.model.finding import Finding
from fuelclient.model.release import Release


@dataclass(frozen=True, slots=True)
class Plugin:
    """A registered plugin.

    `metadata` keeps its `metadata.yaml`, its contents under Nailgun's names (`roles_metadata`, `tags_metadata`,
    `volumes_metadata`, `network_roles_metadata`, `components_metadata`, `attributes_metadata`), and under
    `releases` the records of the releases that it extends. `clusters` are the environments on which it is
    enabled, `releases` the ids of the releases that it defines. `unpacked` is the name of the directory that
    has its files, beside the engine file; it says which content that is. `origin` is where it was installed from.
    What a plugin brings can depend on the release (`by_release`): then `metadata` and the plugin's graphs have what
    is meant for releases in general.
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
    def label(self) -> str:
        """Name and version, as Nailgun's messages have them.

        >>> Plugin(1, "lma", "0.10.2").label
        'lma-0.10.2'
        """
        return f"{self.name}-{self.version}"

    @property
    def directory(self) -> str:
        """The name of the directory on the nodes that holds the plugin's files.

        Packages of version 1 use the whole version, later ones major and minor only.

        >>> Plugin(1, "lma", "0.10.2", package_version="4.0.0").directory
        'lma-0.10'
        """
        if self.package_version.startswith("1."):
            return f"{self.name}-{self.version}"
        return f"{self.name}-{'.'.join(self.version.split('.')[:2])}"


class InstallAction(StrEnum):
    """What an installation did: a plugin that was not there, another content of one that was, or the same
    content once more (which only `--force` does)."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Installed:
    """What an installation did. `previous_version` is the version that was updated, or empty; `releases` are those
    that the plugin defines; `findings` are warnings and notices of its package."""

    plugin: Plugin
    action: InstallAction
    previous_version: str = ""
    releases: tuple[Release, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """What a synchronisation with the unpacked packages did. `findings` has what each package's check said, and an
    error for each plugin that could not be synchronised and so stayed as it was."""

    created: tuple[Plugin, ...] = ()
    updated: tuple[Plugin, ...] = ()
    removed: tuple[Plugin, ...] = ()
    findings: tuple[Finding, ...] = ()

"""Plugins, as far as the engine needs to know them to merge their graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Plugin:
    """A registered plugin. `metadata` keeps its `metadata.yaml` with its roles (`roles_metadata`), tags and
    volumes; `clusters` are the environments on which it is enabled."""

    id: int
    name: str
    version: str
    title: str = ""
    package_version: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    clusters: tuple[int, ...] = ()

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

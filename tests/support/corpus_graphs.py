"""Releases, default graphs and plugins of the corpus, as values."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import corpus

from fuelclient import files
from fuelclient.model.finding import errors_in
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release, Role, primary_tags_in, roles_in
from fuelclient.model.task import Task
from fuelclient.serializers.graph import documents_from
from fuelclient.serializers.release import releases_from

RELEASE = Owner(Level.RELEASE, 1)


@functools.cache
def release(name: str) -> Release:
    """Return the first release (Ubuntu's) of the fixture in `fuel-web/NAME`."""
    path = corpus("fuel-web", name, "nailgun", "nailgun", "fixtures", "openstack.yaml")
    return releases_from(files.load(str(path)))[0]


@functools.cache
def default_graph(name: str) -> Layer:
    """Return the default graph of `fuel-library/NAME` as a release's layer."""
    directory = corpus("fuel-library", name, "deployment", "puppet")
    return Layer(RELEASE, read(*files.task_files(str(directory))))


def read(*paths: str | Path, owner_label: str = "") -> tuple[Task, ...]:
    """Return the tasks of files without errors."""
    graph = documents_from([files.load(str(path)) for path in paths], owner_label=owner_label)
    assert not errors_in(graph.findings), [str(finding) for finding in graph.findings]
    return graph.tasks


@dataclass(frozen=True, slots=True)
class PluginData:
    """A plugin of the corpus: its layer, its roles and primary tags, and the release versions it supports."""

    layer: Layer
    roles: Mapping[str, Role]
    primary_tags: frozenset[str]
    releases: tuple[str, ...]


def plugin(directory: Path) -> PluginData:
    metadata = files.load(str(directory / "metadata.yaml")).data
    record = Plugin(7, metadata["name"], metadata["version"], package_version=metadata["package_version"])
    paths = [directory / name for name in ("tasks.yaml", "deployment_tasks.yaml")]
    described: dict[str, Any] = {}
    if (directory / "node_roles.yaml").exists():
        described = {"roles_metadata": files.load(str(directory / "node_roles.yaml")).data or {}}
    layer = Layer(
        Owner(Level.PLUGIN, record.id, record.name, record.version),
        read(*(path for path in paths if path.exists()), owner_label=record.name),
        cwd=f"/etc/fuel/plugins/{record.directory}/",
    )
    versions = tuple(str(one.get("version", "")) for one in metadata["releases"])
    return PluginData(layer, roles_in(described, record.name), primary_tags_in(described), versions)

"""Releases that earlier versions stored whatever they said: everything goes on without what nobody can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from package_trees import role, task, write_package

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview

WHOLE: dict[str, Any] = {
    "roles_metadata": {
        "controller": {
            "name": "Controller", "has_primary": True, "tags": ["controller"], "conflicts": ["compute"],
            "restrictions": ["settings:common.debug.value == 'never'"],
            "limits": {"max": 5, "overrides": [{"condition": "settings:common.debug.value == 'never'", "max": 1}]},
        },
        "compute": {"name": "Compute"},
    },
    "tags_metadata": {"controller": {"has_primary": True}},
    "volumes_metadata": {"volumes_roles_mapping": {"controller": [{"id": "os"}]}, "volumes": [{"id": "os"}]},
    "networks_metadata": {"neutron": {}},
    "network_roles_metadata": [{"id": "mgmt", "properties": {"vip": [{"name": "v"}]}}],
    "components_metadata": [{"name": "hypervisor:kvm"}],
    "attributes_metadata": {"editable": {"common": {"debug": {"value": False}}}},
}  # fmt: skip
JUNK: tuple[Any, ...] = (5, "text", [], [[1]], [None], {"a": 1}, {"id": [1], "name": {}})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in `value`."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        yield (*path, key)
        yield from places(below, (*path, key))


def broken(path: tuple[Any, ...], junk: Any, whole: Mapping[str, Any]) -> dict[str, Any]:
    """The data with junk at one place."""
    made = dict(deepcopy(whole))
    holder: Any = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = deepcopy(junk)
    return made


def use(backend: Backend, release: int, plugin: int) -> None:
    """Everything that reads a release."""
    known = backend.roles.of_release(release)
    env = backend.clusters.create(f"env-{release}", release).id
    assert set(known) <= set(backend.roles.of_cluster(env))
    settings = backend.clusters.settings(env)
    backend.clusters.set_settings(env, settings)
    backend.plugins.enable(plugin, env)
    assert set(known) <= set(backend.roles.of_cluster(env))
    roles = [name for name in ("controller", "watcher") if name in backend.roles.of_cluster(env)]
    backend.nodes.create([Node(0, "a", env, pending_roles=tuple(roles))])
    made = preview(backend.graphs.snapshot(env), PreviewOptions())
    assert {row.task for row in made.rows} >= {"start", "watch"}
    backend.plugins.selection(plugin, release)
    backend.clusters.delete(env)


PLUGIN: dict[str, Any] = {
    "node_roles.yaml": {
        "watcher": {
            **WHOLE["roles_metadata"]["controller"], "description": "Watches", "tags": ["watch"], "fault_tolerance": 1,
        },
    },
    "node_tags.yaml": {"watch": {"has_primary": True}},
    "volumes.yaml": {
        "volumes_roles_mapping": {"watcher": [{"id": "data", "allocate_size": "all"}]},
        "volumes": [{"id": "data", "type": "vg"}],
    },
    "network_roles.yaml": [
        {
            "id": "net", "default_mapping": "br",
            "properties": {"subnet": True, "gateway": False, "vip": [{"name": "w", "namespace": "n"}]},
        },
    ],
    "components.yaml": [{"name": "storage:x", "label": "X"}],
    "environment_config.yaml": {"attributes": {"a": {"type": "text", "label": "A", "weight": 1, "value": "x"}}},
}  # fmt: skip
"""The files of a package that the engine reads when the plugin is enabled."""


@pytest.mark.parametrize("path", list(places(PLUGIN)), ids=lambda path: ".".join(map(str, path)))
def test_a_package_is_refused_or_can_be_used(tmp_path: Path, path: tuple[Any, ...]) -> None:
    with closing(LocalBackend(str(tmp_path / "engine.db"))) as backend:
        (release,) = backend.releases.create([Release(0, "n", "mitaka-9.0", "Ubuntu", metadata=WHOLE)])
        backend.graphs.upload(OwnerRef(Level.RELEASE, release.id), GraphDocument((Task("start", {"type": "stage"}),)))
        used = 0
        for number, junk in enumerate(("", *JUNK)):
            files = {
                "deployment_tasks.yaml": [task("watch", role=["master"])],
                **(broken(path, junk, PLUGIN) if number else PLUGIN),
            }
            package = write_package(tmp_path / str(number), "monitor", f"1.{number}.0", "6.0.0", files=files)
            try:
                plugin = backend.plugins.install(package).plugin
            except InvalidDocument:
                continue
            with suppress(Conflict):  # what it says clashes with the release, or forbids the role
                use(backend, release.id, plugin.id)
                used += 1
            for cluster in backend.clusters.list():
                backend.clusters.delete(cluster.id)
        assert used  # the package with nothing broken, for one


@pytest.mark.parametrize("path", list(places(WHOLE)), ids=lambda path: ".".join(map(str, path)))
def test_everything_goes_on(tmp_path: Path, path: tuple[Any, ...]) -> None:
    files = {"node_roles.yaml": {"watcher": role()}, "deployment_tasks.yaml": [task("watch", role=["watcher"])]}
    package = write_package(tmp_path / "monitor", files=files)
    with closing(LocalBackend(str(tmp_path / "engine.db"))) as backend:
        plugin = backend.plugins.install(package).plugin.id
        for number, junk in enumerate(JUNK):
            wanted = Release(0, "n", f"mitaka-9.0.{number}", "Ubuntu", metadata=broken(path, junk, WHOLE))
            (release,) = backend.releases.create([wanted])
            assert backend.releases.get(release.id) == release
            tasks = (Task("start", {"type": "stage"}),)
            backend.graphs.upload(OwnerRef(Level.RELEASE, release.id), GraphDocument(tasks))
            use(backend, release.id, plugin)

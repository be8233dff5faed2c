"""What changes of environments would do, and what moving to another version of their release does, on every backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from package_trees import WATCHER, definition, role, task, write_package
from refusals import refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.graph import Level
from fuelclient.model.node import Node
from fuelclient.model.release import Release


def settings(**values: object) -> dict[str, object]:
    return {"editable": {"common": {name: {"value": value, "label": name} for name, value in values.items()}}}


def defined(backend: Backend, tmp_path: Path, version: str, package: str, **fields: Any) -> Release:
    """The release of a package that is installed with this version."""
    record = definition(version=version, **fields)
    path = write_package(tmp_path / package, "example", package, "5.0.0", releases=[record])
    return backend.plugins.install(path).releases[0]


def two(backend: Backend, tmp_path: Path) -> tuple[Release, Release]:
    """Two versions of a release, each of a package of its own. The second lacks a setting and has a task more."""
    old = defined(
        backend, tmp_path, "ocata-11.0", "5.0.0", roles={"base": role(), "extra": role()}, attributes=settings(a=1, b=2)
    )
    graphs = [{"type": "default", "tasks": [task("start", "stage"), task("more", role=["base"])]}]
    new = defined(
        backend, tmp_path, "ocata-11.1", "5.1.0", roles={"base": role()}, attributes=settings(a=5), graphs=graphs
    )
    return old, new


class TestReleaseChange:
    """What another version of a release keeps, drops and refuses."""

    def test_it_keeps_what_the_new_release_has_and_names_the_rest(self, backend: Backend, tmp_path: Path) -> None:
        old, new = two(backend, tmp_path)
        env = backend.clusters.create("prod", old.id).id
        backend.nodes.create([Node(3, "a", env, pending_roles=("base",))])
        mine = {"common": {"a": {"value": 7}, "b": {"value": 8}}, "mine": {"x": {"type": "number", "value": 9}}}
        backend.clusters.set_settings(env, mine)
        shown = backend.clusters.change_release(env, new.id, dry_run=True)
        assert backend.clusters.get(env).release_id == old.id
        assert backend.clusters.settings(env)["common"]["b"]["value"] == 8
        done = backend.clusters.change_release(env, new.id)
        assert done == shown
        assert [(finding.code, "common.b" in finding.message) for finding in done.findings] == [("P090", True)]
        assert [done.before.environment.release.version, done.after.environment.release.version] == [
            old.version, new.version,
        ]  # fmt: skip
        assert backend.clusters.get(env).release_id == new.id
        changed = backend.clusters.settings(env)
        assert (changed["common"]["a"]["value"], "b" in changed["common"], changed["mine"]["x"]["value"]) == (
            7,
            False,
            9,
        )
        assert [one.id for one in backend.graphs.layers(env, list(Level)).tasks] == ["start", "more"]
        assert backend.clusters.change_release(env, old.id).findings == ()
        assert [one.id for one in backend.graphs.layers(env, list(Level)).tasks] == ["start"]
        assert backend.clusters.settings(env)["common"]["b"]["value"] == 2

    def test_it_names_the_sequences_that_it_leaves(self, backend: Backend, tmp_path: Path) -> None:
        old, new = two(backend, tmp_path)
        env = backend.clusters.create("prod", old.id).id
        backend.sequences.create(old.id, "deploy-changes", ["default"])
        backend.sequences.create(old.id, "upgrade", ["default"])
        backend.sequences.create(new.id, "upgrade", ["prepare", "default"])
        findings = backend.clusters.change_release(env, new.id, dry_run=True).findings
        assert [finding.code for finding in findings] == ["G064", "G064"]
        assert "deploy-changes" in findings[0].message
        assert "prepare" in findings[1].message

    def test_a_release_without_a_role_of_a_node_is_refused(self, backend: Backend, tmp_path: Path) -> None:
        old, new = two(backend, tmp_path)
        env = backend.clusters.create("prod", old.id).id
        backend.nodes.create([Node(3, "a", env, pending_roles=("extra",))])
        for dry_run in (True, False):
            with refused(Conflict, "node 3", "role extra", "ocata-11.1"):
                backend.clusters.change_release(env, new.id, dry_run=dry_run)
        assert backend.clusters.get(env).release_id == old.id

    def test_a_plugin_that_does_not_support_it_is_named(self, backend: Backend, tmp_path: Path) -> None:
        old, new = two(backend, tmp_path)
        env = backend.clusters.create("prod", old.id).id
        record = {"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}
        plugin = backend.plugins.install(write_package(tmp_path / "p", releases=[record])).plugin
        backend.plugins.enable(plugin.id, env)
        with refused(Conflict, "monitor-1.2.3", "P071"):
            backend.clusters.change_release(env, new.id)
        backend.plugins.disable(plugin.id, env)
        assert backend.clusters.change_release(env, new.id).after.environment.release.id == new.id

    def test_another_release_and_the_same_one_are_refused(self, backend: Backend, tmp_path: Path) -> None:
        old, new = two(backend, tmp_path)
        (other,) = backend.releases.create([Release(0, "other", "ocata-11.1", "ubuntu")])
        env = backend.clusters.create("prod", old.id).id
        for wanted in (other.id, old.id):
            with refused((Conflict, UsageError), f"{new.id} ({new.version})"):
                backend.clusters.change_release(env, wanted)

    def test_the_next_version_of_a_release_package_has_a_way(self, backend: Backend, tmp_path: Path) -> None:
        old = defined(backend, tmp_path, "ocata-11.0", "5.0.0")
        env = backend.clusters.create("prod", old.id).id
        with refused(Conflict, "ocata-11.0", f"fuel2 env update {env} --release", "5.0.x"):
            defined(backend, tmp_path, "ocata-11.0", "5.1.0")
        new = defined(backend, tmp_path, "ocata-11.1", "5.1.0")
        with refused(Conflict, f"fuel2 env update {env} --release {new.id}"):
            backend.plugins.remove(old.plugin_id or 0)
        backend.clusters.change_release(env, new.id)
        backend.plugins.remove(old.plugin_id or 0)
        assert [one.id for one in backend.releases.list()] == [new.id]


def test_enabling_is_shown_and_undone(backend: Backend, tmp_path: Path) -> None:
    old, _ = two(backend, tmp_path)
    env = backend.clusters.create("prod", old.id).id
    record = {"os": "ubuntu", "version": "ocata-11.0", "mode": ["ha"]}
    settings = {"attributes": {"url": {"value": "", "label": "l", "type": "text", "weight": 1, "description": "d"}}}
    files = {**WATCHER, "environment_config.yaml": settings}
    plugin = backend.plugins.install(write_package(tmp_path / "p", releases=[record], files=files)).plugin
    change = backend.plugins.enabling([plugin.id], env, {"url": "x"})
    assert [len(side.environment.plugins) for side in (change.before, change.after)] == [0, 1]
    assert change.after.environment.own_settings["monitor"]["url"]["value"] == "x"
    assert [layer.owner.name for layer in change.after.layers["default"] if layer.tasks] == ["example", "monitor"]
    assert not backend.plugins.enabled(env)
    with refused(NotFound, "uri"):
        backend.plugins.enabling([plugin.id], env, {"uri": "x"})
    assert not backend.plugins.enabled(env)

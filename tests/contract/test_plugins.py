"""Install, upgrade, synchronise and remove packages on every backend; see `test_plugin_releases` for the releases
that they define."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest
from contract.holdings import described, task_ids
from package_trees import MITAKA, WATCHER, definition, role, task, write_package
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, InvalidDocument, NotFound, UsageError
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.plugin import InstallAction, Plugin
from fuelclient.model.release import Release
from fuelclient.model.task import Task

RELEASE = Release(0, "Mitaka", "mitaka-9.0", "Ubuntu", metadata={"roles_metadata": {"controller": {}}})


class TestPlugin:
    """The behaviour of packages that front ends rely on."""

    @pytest.fixture
    def monitor(self, backend: Backend, tmp_path: Path) -> Plugin:
        """A plugin with a role and a task."""
        return backend.plugins.install(write_package(tmp_path / "monitor", files=WATCHER)).plugin

    # Installing

    def test_a_directory_is_installed(self, backend: Backend, tmp_path: Path) -> None:
        path = write_package(tmp_path / "monitor", files=WATCHER)
        done = backend.plugins.install(path)
        assert (done.action, done.previous_version, done.releases) == (InstallAction.CREATED, "", ())
        assert (done.plugin.name, done.plugin.version, done.plugin.package_version) == ("monitor", "1.2.3", "4.0.0")
        assert done.plugin.clusters == ()
        assert backend.plugins.get(done.plugin.id) == done.plugin
        assert list(backend.plugins.list()) == [done.plugin]
        (found,) = backend.graphs.get(OwnerRef(Level.PLUGIN, done.plugin.id)).tasks
        assert str(found.source.place()) == "monitor-1.2.3/deployment_tasks.yaml:2"

    def test_installed_archive_is_the_source_of_its_tasks(self, backend: Backend, tmp_path: Path) -> None:
        write_package(tmp_path / "monitor", files=WATCHER)
        archive = tmp_path / "monitor-1.2.3.fp"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / "monitor", "monitor-1.2.3")
        done = backend.plugins.install(str(archive))
        (found,) = backend.graphs.get(OwnerRef(Level.PLUGIN, done.plugin.id)).tasks
        assert str(found.source.place()) == "monitor-1.2.3/deployment_tasks.yaml:2"

    def test_what_a_check_complains_of_but_can_be_used_is_a_warning(self, backend: Backend, tmp_path: Path) -> None:
        path = write_package(tmp_path / "p", package_version="5.0.0", files={"deployment_tasks.yaml": [
            {"id": "a", "type": "shell", "roles": ["controller"], "parameters": {"cmd": "true", "timeout": 1}},
        ]})  # fmt: skip
        findings = backend.plugins.install(path).findings
        assert ("P012", "warning") in {(finding.code, str(finding.severity)) for finding in findings}

    @pytest.mark.parametrize(
        ("files", "code"),
        [
            ({"metadata.yaml": "[]"}, "P001"),
            ({"metadata.yaml": "name: a\nversion: 1.0.0\npackage_version: 9.0.0\n"}, "P002"),
            ({"node_roles.yaml": "[]"}, "P003"),
            ({"deployment_tasks.yaml": [task("a"), task("a")]}, "P060"),
        ],
    )
    def test_what_cannot_be_used_changes_nothing(
        self, backend: Backend, monitor: Plugin, tmp_path: Path, files: dict[str, Any], code: str
    ) -> None:
        before = described(backend)
        with pytest.raises(InvalidDocument) as caught:
            backend.plugins.install(write_package(tmp_path / "bad", "bad", files=files))
        assert code in {getattr(finding, "code", "") for finding in caught.value.findings}
        assert described(backend) == before
        assert backend.plugins.get(monitor.id) == monitor

    def test_a_path_that_leads_nowhere_is_not_found(self, backend: Backend, tmp_path: Path) -> None:
        with missing("plugin file", tmp_path / "nowhere.rpm"):
            backend.plugins.install(str(tmp_path / "nowhere.rpm"))
        (tmp_path / "x.txt").touch()
        with refused(InvalidDocument, "unsupported format .txt"):
            backend.plugins.install(str(tmp_path / "x.txt"))

    def test_plugins_are_listed_by_name_and_version(self, backend: Backend, tmp_path: Path) -> None:
        for name, version in (("b", "1.0.0"), ("a", "2.0.0"), ("a", "1.0.0")):
            backend.plugins.install(write_package(tmp_path / f"{name}{version}", name, version))
        found = [(plugin.name, plugin.version) for plugin in backend.plugins.list()]
        assert found == [("a", "1.0.0"), ("a", "2.0.0"), ("b", "1.0.0")]

    def test_plugins_are_found_by_name(self, backend: Backend, tmp_path: Path) -> None:
        with missing("plugin", "a", "plugins install"):
            backend.plugins.named("a")
        for version in ("1.0.0", "2.0.0"):
            backend.plugins.install(write_package(tmp_path / version, "monitor", version))
        assert backend.plugins.named("monitor", "2.0.0").version == "2.0.0"
        with refused(UsageError, "monitor", *(f"{one.version} (id {one.id})" for one in backend.plugins.list())):
            backend.plugins.named("monitor")
        with missing("plugin", "montor", "monitor"):
            backend.plugins.named("montor")
        backend.plugins.remove(backend.plugins.named("monitor", "1.0.0").id)
        assert backend.plugins.named("monitor").version == "2.0.0"

    # Upgrades

    def test_the_same_again_is_nothing_to_do(self, backend: Backend, monitor: Plugin, tmp_path: Path) -> None:
        path = write_package(tmp_path / "copy", files=WATCHER)
        with pytest.raises(Conflict) as caught:
            backend.plugins.install(path)
        text = "Nothing to do: Monitor, version 1.2.3, does not update installed plugin."
        assert caught.value.message == text  # the original client's own text, which scripts match
        done = backend.plugins.install(path, force=True)
        assert (done.action, done.plugin.id) == (InstallAction.UNCHANGED, monitor.id)

    def test_another_content_of_the_same_version_needs_force(
        self, backend: Backend, monitor: Plugin, tmp_path: Path
    ) -> None:
        path = write_package(tmp_path / "copy", files={"deployment_tasks.yaml": [task("other")]})
        with refused(Conflict, "monitor 1.2.3", "content", "--force"):
            backend.plugins.install(path)
        assert task_ids(backend, Level.PLUGIN, monitor.id) == ["watch"]
        done = backend.plugins.install(path, force=True)
        assert (done.action, done.previous_version) == (InstallAction.UPDATED, "1.2.3")
        assert task_ids(backend, Level.PLUGIN, monitor.id) == ["other"]

    def test_an_upgrade_keeps_id_environments_and_uploaded_graphs(
        self, backend: Backend, env: int, monitor: Plugin, tmp_path: Path
    ) -> None:
        backend.plugins.enable(monitor.id, env)
        owner = OwnerRef(Level.PLUGIN, monitor.id)
        backend.graphs.upload(owner, GraphDocument((Task("mine", {"type": "stage"}),)), "custom")
        files = {**WATCHER, "deployment_tasks.yaml": [task("watch2", role=["watcher"])]}
        done = backend.plugins.install(write_package(tmp_path / "new", version="1.2.10", files=files))
        assert (done.action, done.previous_version) == (InstallAction.UPDATED, "1.2.3")
        assert (done.plugin.id, done.plugin.version, done.plugin.clusters) == (monitor.id, "1.2.10", (env,))
        assert task_ids(backend, Level.PLUGIN, monitor.id) == ["watch2"]
        assert task_ids(backend, Level.PLUGIN, monitor.id, "custom") == ["mine"]
        assert len(backend.plugins.list()) == 1

    def test_an_uploaded_graph_wins_until_it_is_deleted(
        self, backend: Backend, env: int, monitor: Plugin, tmp_path: Path
    ) -> None:
        backend.plugins.enable(monitor.id, env)
        owner = OwnerRef(Level.PLUGIN, monitor.id)
        backend.graphs.upload(owner, GraphDocument((Task("mine", {"type": "stage"}),)))
        backend.plugins.install(write_package(tmp_path / "new", version="1.2.4", files=WATCHER))
        assert [one.id for one in backend.graphs.layers(env, [Level.PLUGIN]).tasks] == ["mine"]
        backend.graphs.delete(owner, "default")
        assert [one.id for one in backend.graphs.layers(env, [Level.PLUGIN]).tasks] == ["watch"]
        with refused(Conflict, "default", "package"):
            backend.graphs.delete(owner, "default")

    def test_another_minor_version_stands_beside_it(self, backend: Backend, monitor: Plugin, tmp_path: Path) -> None:
        done = backend.plugins.install(write_package(tmp_path / "new", version="1.3.0"))
        assert done.action is InstallAction.CREATED
        assert done.plugin.id != monitor.id
        assert [one.version for one in backend.plugins.list()] == ["1.2.3", "1.3.0"]

    def test_packages_of_version_1_are_never_updated(self, backend: Backend, tmp_path: Path) -> None:
        legacy = [
            {"role": "*", "stage": "post_deployment", "type": "shell", "parameters": {"cmd": "true", "timeout": 5}}
        ]
        for version in ("1.0.0", "1.0.1"):
            path = write_package(tmp_path / version, "old", version, "1.0.0", files={"tasks.yaml": legacy})
            assert backend.plugins.install(path).action is InstallAction.CREATED
        assert [one.directory for one in backend.plugins.list()] == ["old-1.0.0", "old-1.0.1"]

    @pytest.mark.parametrize(("have", "install"), [("1.2.10", "1.2.9"), ("1.2.3", "1.2.3-rc1")])
    def test_a_downgrade_needs_force(self, backend: Backend, tmp_path: Path, have: str, install: str) -> None:
        backend.plugins.install(write_package(tmp_path / "a", version=have))
        path = write_package(tmp_path / "b", version=install)
        with refused(Conflict, f"monitor {have}", f"{install} is older", "--force"):
            backend.plugins.install(path)
        done = backend.plugins.install(path, force=True)
        assert (done.action, done.previous_version, done.plugin.version) == (InstallAction.UPDATED, have, install)

    def test_a_rename_needs_force(self, backend: Backend, monitor: Plugin, tmp_path: Path) -> None:
        path = write_package(tmp_path / "monitor", "watchman", files=WATCHER)
        with pytest.raises(Conflict) as caught:
            backend.plugins.install(path)
        text = "Plugin can't be renamed. Trying to change name of the plugin monitor to watchman."
        assert caught.value.message == text  # Nailgun's own text, which scripts match
        done = backend.plugins.install(path, force=True)
        assert (done.plugin.id, done.plugin.name) == (monitor.id, "watchman")

    def test_an_upgrade_cannot_take_away_a_role_that_a_node_has(
        self, backend: Backend, env: int, monitor: Plugin, tmp_path: Path
    ) -> None:
        backend.plugins.enable(monitor.id, env)
        backend.nodes.create([Node(7, "a", env, pending_roles=("watcher",))])
        path = write_package(tmp_path / "new", version="1.2.4")
        with refused(Conflict, "node 7", "watcher", "1.2.4 of plugin monitor"):
            backend.plugins.install(path)
        assert backend.plugins.get(monitor.id).version == "1.2.3"
        assert "watcher" in backend.roles.of_cluster(env)
        backend.clusters.remove_nodes(env, None)
        backend.plugins.install(path)
        assert "watcher" not in backend.roles.of_cluster(env)

    def test_upgrade_keeps_the_release_of_its_environments(
        self, backend: Backend, env: int, monitor: Plugin, tmp_path: Path
    ) -> None:
        backend.plugins.enable(monitor.id, env)
        later = {"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"]}
        path = write_package(tmp_path / "new", version="1.2.4", releases=[later], files=WATCHER)
        with refused(Conflict, f"environment {env}", "newton-10.0", codes=["P071"]):
            backend.plugins.install(path)
        assert backend.plugins.get(monitor.id) == backend.plugins.named("monitor", "1.2.3")

    # Synchronising and removing

    def test_a_sync_without_a_change_does_nothing(self, backend: Backend, monitor: Plugin) -> None:
        done = backend.plugins.sync()
        assert (done.created, done.updated, done.removed) == ((), (), ())
        done = backend.plugins.sync([monitor.id])
        assert [one.id for one in done.updated] == [monitor.id]
        with missing("plugin", 42):
            backend.plugins.sync([42])

    def test_a_plugin_that_is_enabled_stays(self, backend: Backend, env: int, monitor: Plugin) -> None:
        backend.plugins.enable(monitor.id, env)
        with refused(Conflict, "Can't delete plugin which is enabled", "monitor 1.2.3", f"environment {env}"):
            backend.plugins.remove(monitor.id)
        backend.clusters.delete(env)
        backend.plugins.remove(monitor.id)
        assert list(backend.plugins.list()) == []
        assert [summary.owner.level for summary in backend.graphs.list()] == [Level.RELEASE]
        with pytest.raises(NotFound):
            backend.plugins.remove(monitor.id)

    # Packages that differ by release

    def test_a_layer_is_derived_for_the_release_of_the_environment(
        self, backend: Backend, env: int, tmp_path: Path
    ) -> None:
        (kilo,) = backend.releases.create(
            [Release(0, "Kilo", "2015.1-8.0", "Ubuntu", metadata={"roles_metadata": {"controller": {}}})]
        )
        old = backend.clusters.create("old", kilo.id).id
        files = {
            "deployment_tasks.yaml": [task("new")],
            "kilo_tasks.yaml": [task("old")],
            "node_roles.yaml": {"watcher": role()},
            "kilo_roles.yaml": {"keeper": role()},
        }
        record = {
            **MITAKA,
            "version": "2015.1-8.0",
            "deployment_tasks_path": "kilo_tasks.yaml",
            "node_roles_path": "kilo_roles.yaml",
        }
        path = write_package(tmp_path / "multi", "multi", releases=[MITAKA, record], files=files)
        plugin = backend.plugins.install(path).plugin
        assert plugin.by_release
        for cluster_id, task_id, role_name in ((env, "new", "watcher"), (old, "old", "keeper")):
            backend.plugins.enable(plugin.id, cluster_id)
            assert [one.id for one in backend.graphs.layers(cluster_id, [Level.PLUGIN]).tasks] == [task_id]
            assert set(backend.roles.of_cluster(cluster_id)) == {"controller", role_name}
        assert task_ids(backend, Level.PLUGIN, plugin.id) == ["new"]
        chosen = backend.plugins.selection(plugin.id, kilo.id)
        assert [one.id for one in chosen.contents.graphs["default"].tasks] == ["old"]
        assert any("kilo_tasks.yaml" in sentence for sentence in chosen.why)
        assert str(tmp_path) not in str(chosen)
        owner = OwnerRef(Level.PLUGIN, plugin.id)
        backend.graphs.upload(owner, GraphDocument((Task("mine", {"type": "stage"}),)))
        for cluster_id in (env, old):
            assert [one.id for one in backend.graphs.layers(cluster_id, [Level.PLUGIN]).tasks] == ["mine"]

    def test_what_is_stored_names_the_package_and_not_where_it_was(self, backend: Backend, tmp_path: Path) -> None:
        """The findings of an installation name the files that the user knows."""
        tasks = [task("a", **{"fuel-version": ">=9"}), task("a", **{"fuel-version": ">=8"}), task("b", requires=["c"])]
        record = definition(graphs=[{"type": "default", "tasks": [task("start", "stage", stage="later")]}])
        path = write_package(tmp_path / "multi", "multi", "1.0.0", "5.0.0", files={"deployment_tasks.yaml": tasks})
        done = backend.plugins.install(path)
        assert any(one.place.file == f"{path}/deployment_tasks.yaml" for one in done.findings)
        assert not any(one.place.file.startswith("multi-1.0.0/") for one in done.findings)
        mitaka = Release(0, "Mitaka", "mitaka-9.0", "Ubuntu")
        chosen = backend.plugins.selection(done.plugin.id, backend.releases.create([mitaka])[0].id)
        assert any("at multi-1.0.0/deployment_tasks.yaml:" in sentence for sentence in chosen.why)
        release = write_package(tmp_path / "release", "release", "1.0.0", "5.0.0", releases=[record])
        (installed,) = backend.plugins.install(release).releases
        (start,) = backend.graphs.get(OwnerRef(Level.RELEASE, installed.id)).tasks
        assert start.source.file == "release-1.0.0/metadata.yaml"
        assert str(tmp_path) not in f"{chosen}{start}{backend.graphs.get(OwnerRef(Level.PLUGIN, done.plugin.id))}"

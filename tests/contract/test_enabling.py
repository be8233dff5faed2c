"""Enable and disable plugins on every backend: which releases, which clashes, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from package_trees import MITAKA, WATCHER, definition, role, task, write_package
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict
from fuelclient.model.finding import Finding
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.task import Task

RELEASE = Release(
    0,
    "Mitaka",
    "mitaka-9.0",
    "Ubuntu",
    metadata={
        "roles_metadata": {"controller": {}, "compute": {}},
        "volumes_metadata": {"volumes": [{"id": "os", "type": "vg"}]},
        "components_metadata": [{"name": "hypervisor:kvm"}],
        "network_roles_metadata": [{"id": "public", "default_mapping": "public", "properties": {"subnet": True}}],
        "attributes_metadata": {"editable": {"common": {"propagate_task_deploy": {"value": False}}}},
    },
)


class TestEnabling:
    """The rules of enabling that front ends rely on."""

    @pytest.fixture
    def release(self, backend: Backend, release: OwnerRef) -> OwnerRef:
        """The release, with a graph of two tasks."""
        tasks = (Task("base", {"type": "stage"}), Task("other", {"type": "stage"}))
        backend.graphs.upload(release, GraphDocument(tasks))
        return release

    @pytest.fixture
    def install(self, backend: Backend, tmp_path: Path) -> Any:
        """Installs a package and gives the plugin's id."""

        def installed(name: str = "monitor", version: str = "1.2.3", *words: Any, **fields: Any) -> int:
            path = write_package(tmp_path / f"{name}-{version}", name, version, *words, **fields)
            return backend.plugins.install(path).plugin.id

        return installed

    def refused(self, backend: Backend, plugin_id: int, env: int) -> tuple[str, list[Finding]]:
        """Return the message and the findings with which a plugin is refused, and check that it is not enabled."""
        with pytest.raises(Conflict) as caught:
            backend.plugins.enable(plugin_id, env)
        assert env not in backend.plugins.get(plugin_id).clusters
        return str(caught.value), [one for one in caught.value.findings if isinstance(one, Finding)]

    def test_what_is_enabled_takes_part(self, backend: Backend, env: int, install: Any) -> None:
        plugin = install(files=WATCHER)
        assert list(backend.roles.of_cluster(env)) == ["controller", "compute"]
        assert backend.plugins.enable(plugin, env) == ()
        assert backend.plugins.enable(plugin, env) == ()
        watcher = backend.roles.of_cluster(env)["watcher"]
        assert watcher.owner == "plugin monitor-1.2.3"
        assert watcher.metadata["restrictions"] == ["settings:monitor.metadata.enabled == false"]
        assert [one.id for one in backend.graphs.layers(env, list(Level)).tasks] == ["base", "other", "watch"]
        assert backend.plugins.get(plugin).clusters == (env,)
        backend.plugins.disable(plugin, env)
        backend.plugins.disable(plugin, env)
        assert list(backend.roles.of_cluster(env)) == ["controller", "compute"]
        assert backend.plugins.get(plugin).clusters == ()

    def test_unknown_ones_are_not_found(self, backend: Backend, env: int, install: Any) -> None:
        plugin = install()
        for act in (backend.plugins.enable, backend.plugins.disable):
            with missing("plugin", 42):
                act(42, env)
            with missing("environment", 42):
                act(plugin, 42)

    # Releases

    @pytest.mark.parametrize(
        ("record", "supported"),
        [
            ({**MITAKA, "version": "newton-10.0"}, "ubuntu newton-10.0 (ha)"),
            ({**MITAKA, "os": "centos"}, "centos mitaka-9.0 (ha)"),
            ({**MITAKA, "mode": ["multinode"]}, "ubuntu mitaka-9.0 (multinode)"),
        ],
    )
    def test_a_release_that_it_does_not_support(
        self, backend: Backend, env: int, install: Any, record: dict[str, Any], supported: str
    ) -> None:
        text, findings = self.refused(backend, install(releases=[record]), env)
        assert "does not support release 1 of the environment (ubuntu mitaka-9.0, mode ha_compact)" in text
        assert f"but {supported}" in text
        assert [finding.code for finding in findings] == ["P071"]
        assert text.endswith(f"[P071]. {findings[0].hint}")

    def test_a_package_of_a_release_cannot_be_enabled(self, backend: Backend, env: int, install: Any) -> None:
        plugin = install("example", "5.0.0", "5.0.0", releases=[definition()])
        text, findings = self.refused(backend, plugin, env)
        assert "it only defines the release example ocata-11.0 (id 2)" in text
        assert "fuel2 env create NAME --release 2" in findings[0].hint

    def test_version_5_needs_task_based_deployment_on_fuel_8(self, backend: Backend, install: Any) -> None:
        (release,) = backend.releases.create([Release(0, "Liberty", "liberty-8.0", "Ubuntu")])
        env = backend.clusters.create("old", release.id).id
        record = {**MITAKA, "version": "liberty-8.0"}
        new = install("new", "1.0.0", "5.0.0", releases=[record], files={"deployment_tasks.yaml": [task("a")]})
        backend.plugins.enable(install("old", "1.0.0", "4.0.0", releases=[record]), env)
        text, _ = self.refused(backend, new, env)
        assert "task-based deployment" in text
        backend.clusters.set_settings(env, {"common": {"task_deploy": {"value": True}}})
        backend.plugins.enable(new, env)

    def test_legacy_tasks_are_a_warning_on_fuel_9(self, backend: Backend, env: int, install: Any) -> None:
        legacy = {
            "tasks.yaml": [
                {"role": "*", "stage": "post_deployment", "type": "shell", "parameters": {"cmd": "x", "timeout": 5}}
            ]
        }
        (finding,) = backend.plugins.enable(install(files=legacy), env)
        assert (finding.code, str(finding.severity)) == ("P081", "warning")
        assert (
            "Cannot enable plugin with legacy tasks unless propagate_task_deploy attribute is set." in finding.message
        )
        backend.clusters.set_settings(env, {"common": {"propagate_task_deploy": {"value": True}}})
        assert backend.plugins.enable(install("other", files=legacy), env) == ()

    # Versions

    def test_one_version_at_a_time(self, backend: Backend, env: int, install: Any) -> None:
        first, second = install(files=WATCHER), install(version="1.3.0", files=WATCHER)
        backend.plugins.enable(first, env)
        (finding,) = backend.plugins.enable(second, env)
        assert (str(finding.severity), finding.code, finding.place.layer) == ("info", "P080", "plugin monitor-1.3.0")
        assert "1.2.3" in finding.message
        assert [backend.plugins.get(one).clusters for one in (first, second)] == [(), (env,)]

    def test_a_switch_cannot_take_away_a_role_that_a_node_has(self, backend: Backend, env: int, install: Any) -> None:
        first, second = install(files=WATCHER), install(version="1.3.0")
        backend.plugins.enable(first, env)
        backend.nodes.create([Node(1, "a", env, pending_roles=("watcher",))])
        text, _ = self.refused(backend, second, env)
        assert "Node 1 has the role watcher" in text
        assert backend.plugins.get(first).clusters == (env,)

    # Clashes

    def test_every_clash_with_the_release_is_told_at_once(self, backend: Backend, env: int, install: Any) -> None:
        files = {
            "node_roles.yaml": {"role_x": role(), "controller": role()},
            "volumes.yaml": {"volumes_roles_mapping": {}, "volumes": [{"id": "os", "type": "vg"}]},
            "components.yaml": [{"name": "hypervisor:kvm", "label": "KVM"}],
            "network_roles.yaml": [
                {
                    "id": "public",
                    "default_mapping": "public",
                    "properties": {"subnet": False, "gateway": True, "vip": []},
                }
            ],
        }
        plugin = install(files=files)
        text, findings = self.refused(backend, plugin, env)
        assert [finding.message for finding in findings] == [
            f"Plugin (ID={plugin}) is unable to register the following node roles: controller",
            'Plugin monitor-1.2.3 is overlapping with release by introducing the same volume with id "os"',
            'Plugin monitor is overlapping with release by introducing the same component with name "hypervisor:kvm"',
            "Cannot override existing network roles: 'public' in plugins: 'monitor'",
        ]
        assert "Cannot apply patch for attribute subnet: conflict" in findings[-1].hint
        assert all(finding.message in text for finding in findings)

    def test_clashes_with_another_plugin(self, backend: Backend, env: int, install: Any) -> None:
        files = {**WATCHER, "volumes.yaml": {"volumes_roles_mapping": {}, "volumes": [{"id": "v", "type": "vg"}]}}
        backend.plugins.enable(install(files=files), env)
        text, findings = self.refused(backend, install("other", files=files), env)
        assert [finding.code for finding in findings] == ["P074", "P075"]
        assert "Plugin other-1.2.3 is overlapping with plugin monitor-1.2.3 by introducing the same volume" in text
        assert "role watcher is plugin monitor-1.2.3's" in findings[0].hint

    def test_one_task_of_two_plugins_is_a_warning(self, backend: Backend, env: int, install: Any) -> None:
        files = {"deployment_tasks.yaml": [task("same")]}
        backend.plugins.enable(install(files=files), env)
        (finding,) = backend.plugins.enable(install("other", files=files), env)
        assert finding.message == (
            "Plugin other-1.2.3 is overlapping with plugin monitor-1.2.3 by introducing the same deployment task"
            " with id same"
        )
        assert str(finding.severity) == "warning"

    def test_overridden_tasks_of_the_release_are_told(self, backend: Backend, env: int, install: Any) -> None:
        files = {"deployment_tasks.yaml": [task("other"), task("base"), task("new")]}
        (finding,) = backend.plugins.enable(install(files=files), env)
        assert str(finding.severity) == "info"
        assert "overrides 2 tasks of the release in the default graph: other, base" in finding.message

    # Roles that are in use, and deployed environments

    def test_a_plugin_whose_role_is_in_use_stays(self, backend: Backend, env: int, install: Any) -> None:
        plugin = install(files=WATCHER)
        backend.plugins.enable(plugin, env)
        backend.nodes.create([Node(number, f"n{number}", env, pending_roles=("watcher",)) for number in (1, 2)])
        with refused(Conflict, "node 1", "node 2", "watcher"):
            backend.plugins.disable(plugin, env)
        with pytest.raises(Conflict):
            backend.plugins.remove(plugin)
        assert backend.plugins.get(plugin).clusters == (env,)
        backend.clusters.remove_nodes(env, None)
        backend.plugins.disable(plugin, env)

    def test_on_a_deployed_environment(self, backend: Backend, env: int, install: Any) -> None:
        before, cold = install("before"), install("cold", files=WATCHER)
        hot = install("hot", is_hotpluggable=True)
        backend.plugins.enable(before, env)
        backend.nodes.create([Node(1, "a", env, "ready", roles=("compute",))])
        text, _ = self.refused(backend, cold, env)
        assert "Plugin 'cold' version '1.2.3' couldn't be changed after or during deployment" in text
        backend.plugins.enable(hot, env)
        for plugin, name in ((before, "before"), (hot, "hot")):
            with pytest.raises(Conflict) as caught:
                backend.plugins.disable(plugin, env)
            text = f"Plugin '{name}' version '1.2.3' couldn't be changed after or during deployment."
            assert caught.value.message == text  # Nailgun's own text, which scripts match
        text, _ = self.refused(backend, install("before", "2.0.0", is_hotpluggable=True), env)
        assert "Plugin 'before' version '1.2.3' couldn't be changed" in text

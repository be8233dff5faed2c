"""Releases as plugins on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from contract.holdings import described, task_ids
from package_trees import definition, role, task, write_package
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, InvalidDocument
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.task import Task


class TestPluginRelease:
    """The behaviour of releases of plugins that front ends rely on."""

    def releases_of(self, backend: Backend, path: str, *, force: bool = False) -> Sequence[Release]:
        return backend.plugins.install(path, force=force).releases

    def test_a_release_comes_with_everything(self, backend: Backend, tmp_path: Path) -> None:
        volumes = {
            "volumes_roles_mapping": {"base": [{"id": "os", "allocate_size": "min"}]},
            "volumes": [{"id": "os", "type": "vg"}],
        }
        record = definition(
            version="1.0.0",
            roles={"base": role()},
            volumes=volumes,
            networks={"neutron": {}},
            attributes={"editable": {"common": {"x": {"value": 1}}}},
            graphs=[
                {"type": "default", "tasks": [task("start", "stage")]},
                {"type": "provisioning", "name": "Install", "tasks": [task("p")], "on_stop": {}},
            ],
        )
        path = write_package(tmp_path / "r", "example", "5.0.0", "5.0.0", releases=[record])
        done = backend.plugins.install(path)
        (release,) = done.releases
        assert done.plugin.releases == (release.id,)
        stored = backend.releases.get(release.id)
        assert {key: stored.metadata[key] for key in release.metadata} == release.metadata
        assert replace(stored, metadata={}) == replace(release, metadata={})
        assert (release.name, release.version, release.operating_system) == ("example", "1.0.0", "ubuntu")
        assert release.plugin_id == done.plugin.id
        assert release.metadata["networks_metadata"] == {"neutron": {}}
        assert release.metadata["attributes_metadata"]["editable"]["common"] == {"x": {"value": 1}}
        assert backend.roles.of_release(release.id)["base"].volumes == (
            {"id": "os", "allocate_size": "min", "type": "vg"},
        )
        assert task_ids(backend, Level.RELEASE, release.id) == ["start"]
        found = backend.graphs.get(OwnerRef(Level.RELEASE, release.id), "provisioning")
        assert (found.name, found.metadata, [one.id for one in found.tasks]) == ("Install", {"on_stop": {}}, ["p"])

    def test_a_release_keeps_its_id_through_upgrade_and_sync(self, backend: Backend, tmp_path: Path) -> None:
        path = write_package(tmp_path / "1", "example", "5.0.0", "5.0.0", releases=[definition()])
        (first,) = self.releases_of(backend, path)
        env = backend.clusters.create("prod", first.id).id
        owner = OwnerRef(Level.RELEASE, first.id)
        backend.graphs.upload(owner, GraphDocument((Task("mine", {"type": "stage"}),)), "custom")
        graphs = [{"type": "default", "tasks": [task("start", "stage"), task("more", "stage")]}]
        for number, record in enumerate((definition(graphs=graphs), definition(version="ocata-11.1", graphs=graphs))):
            path = write_package(tmp_path / f"x{number}", "example", f"5.0.{number + 1}", "5.0.0", releases=[record])
            (release,) = self.releases_of(backend, path)
            assert (release.id, release.version) == (first.id, record["version"])
            backend.plugins.sync()
            backend.plugins.sync([release.plugin_id or 0])
            assert task_ids(backend, Level.RELEASE, first.id) == ["start", "more"]
            assert task_ids(backend, Level.RELEASE, first.id, "custom") == ["mine"]
        assert backend.clusters.get(env).release_id == first.id
        assert len(backend.releases.list()) == 1

    def test_an_upgrade_cannot_take_away_a_release_that_is_used(self, backend: Backend, tmp_path: Path) -> None:
        two = [definition("a", "1.0.0"), definition("b", "2.0.0")]
        first, second = self.releases_of(
            backend, write_package(tmp_path / "1", "example", "5.0.0", "5.0.0", releases=two)
        )
        backend.clusters.create("prod", second.id)
        path = write_package(tmp_path / "2", "example", "5.0.1", "5.0.0", releases=two[:1])
        with refused(Conflict, f"release {second.id}", "environment 1 (prod)"):
            backend.plugins.install(path, force=True)
        assert [one.id for one in backend.releases.list()] == [first.id, second.id]
        backend.clusters.delete(1)
        assert [one.id for one in self.releases_of(backend, path)] == [first.id]
        assert [one.id for one in backend.releases.list()] == [first.id]

    def test_an_upgrade_cannot_take_away_a_role_of_a_release(self, backend: Backend, tmp_path: Path) -> None:
        record = definition(roles={"base": role()})
        (release,) = self.releases_of(
            backend, write_package(tmp_path / "1", "example", "5.0.0", "5.0.0", releases=[record])
        )
        env = backend.clusters.create("prod", release.id).id
        backend.nodes.create([Node(3, "a", env, pending_roles=("base",))])
        path = write_package(tmp_path / "2", "example", "5.0.1", "5.0.0", releases=[definition()])
        with refused(Conflict, "node 3", "role base"):
            backend.plugins.install(path)

    def test_a_release_of_that_name_and_version_is_in_the_way(self, backend: Backend, tmp_path: Path) -> None:
        (mine,) = backend.releases.create([Release(0, "example", "ocata-11.0", "ubuntu")])
        before = described(backend)
        path = write_package(tmp_path / "1", "example", "5.0.0", "5.0.0", releases=[definition()])
        with refused(Conflict, "example ocata-11.0", f"fuel2 release delete {mine.id}"):
            backend.plugins.install(path)
        assert described(backend) == before

    def test_a_release_that_is_defined_twice_is_refused(self, backend: Backend, tmp_path: Path) -> None:
        path = write_package(tmp_path / "1", "example", "5.0.0", "5.0.0", releases=[definition(), definition()])
        with refused((Conflict, InvalidDocument), "twice"):
            backend.plugins.install(path)
        assert described(backend) == [[], [], []]

    def test_a_release_goes_with_its_plugin_and_not_without(self, backend: Backend, tmp_path: Path) -> None:
        path = write_package(tmp_path / "1", "example", "5.0.0", "5.0.0", releases=[definition()])
        done = backend.plugins.install(path)
        (release,) = done.releases
        with refused(Conflict, f"release {release.id}", "plugin example 5.0.0"):
            backend.releases.delete(release.id)
        env = backend.clusters.create("prod", release.id).id
        with refused(Conflict, f"environment {env} (prod)"):
            backend.plugins.remove(done.plugin.id)
        backend.clusters.delete(env)
        backend.plugins.remove(done.plugin.id)
        assert described(backend) == [[], [], []]

    def test_a_release_that_only_provisions(self, backend: Backend, tmp_path: Path) -> None:
        graphs = [{"type": "provisioning", "tasks": [task("image", role=["master"])]}]
        path = write_package(tmp_path / "1", "metal", "1.0.0", "5.0.0", releases=[definition("metal", graphs=graphs)])
        (release,) = self.releases_of(backend, path)
        env = backend.clusters.create("prod", release.id).id
        assert {summary.type for summary in backend.graphs.list(env)} == {"provisioning"}
        assert [one.id for one in backend.graphs.layers(env, list(Level), "provisioning").tasks] == ["image"]
        with missing("graph type", "default", "provisioning"):
            backend.graphs.snapshot(env)

"""What every backend does when somebody changes roles and tags, the repositories of releases, and nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, InvalidDocument, NotFound, UsageError
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.label import label_from
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role, Tag
from fuelclient.model.task import Task
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview

NOUNS = {Level.RELEASE: "release", Level.CLUSTER: "environment"}
RELEASE = Release(
    0,
    "Newton",
    "newton-10.0",
    "Ubuntu",
    metadata={
        "roles_metadata": {"controller": {"tags": ["controller", "db"]}, "compute": {"name": "Compute"}},
        "tags_metadata": {"controller": {"has_primary": True}, "db": {"has_primary": False}},
        "volumes_metadata": {"volumes": [{"id": "os", "type": "vg"}], "volumes_roles_mapping": {"compute": []}},
        "components_metadata": [{"name": "hypervisor:kvm", "default": True}],
        "attributes_metadata": {"editable": {"repo_setup": {"repos": {"value": [{"name": "mos", "uri": "http://a"}]}}}},
        "kept": {"as": "it is"},
    },
)
WATCHER = Role("watcher", ("db",), {"name": "Watcher", "description": "Watches", "tags": ["db"]})


class TestRoles:
    def test_a_role_of_a_release_is_known_to_its_environments(
        self, backend: Backend, env: int, release: OwnerRef
    ) -> None:
        created = backend.roles.create(release, WATCHER)
        assert (created.name, created.tags, created.metadata["description"]) == ("watcher", ("db",), "Watches")
        assert list(backend.roles.of_release(release.id)) == ["controller", "compute", "watcher"]
        assert "watcher" in backend.roles.of_cluster(env)
        assert backend.releases.get(release.id).metadata["kept"] == {"as": "it is"}
        with refused(Conflict, "role watcher", f"release {release.id}", "exists"):
            backend.roles.create(release, WATCHER)

    def test_a_role_takes_the_volumes_that_somebody_defines(self, backend: Backend, release: OwnerRef) -> None:
        taken = Role("watcher", ("db",), {"tags": ["db"]}, ({"id": "os", "allocate_size": "min"},))
        created = backend.roles.create(release, taken)
        assert created.volumes == ({"id": "os", "allocate_size": "min", "type": "vg"},)
        with refused(InvalidDocument, "role other", f"volumes that release {release.id} does not define: ceph", "os"):
            backend.roles.create(release, Role("other", (), {"tags": []}, ({"id": "ceph"},)))
        assert "other" not in backend.roles.of_release(release.id)
        backend.roles.delete(release, "watcher")
        assert backend.roles.create(release, WATCHER).volumes == ()

    def test_an_update_replaces_the_whole_role(self, backend: Backend, release: OwnerRef) -> None:
        role = Role("controller", ("controller",), {"name": "Brain", "tags": ["controller"]})
        assert backend.roles.update(release, role).tags == ("controller",)
        found = backend.roles.of_release(release.id)
        assert list(found) == ["controller", "compute"]
        assert dict(found["controller"].metadata) == {"name": "Brain", "tags": ["controller"]}
        with missing("role", "contrller", "controller"):
            backend.roles.update(release, Role("contrller", (), {}))

    def test_a_role_that_a_node_has_stays(self, backend: Backend, env: int, release: OwnerRef) -> None:
        (node,) = backend.nodes.create([Node(0, "a", env, pending_roles=("compute",))])
        with refused(Conflict, f"node {node.id}", "role compute"):
            backend.roles.delete(release, "compute")
        assert "compute" in backend.roles.of_release(release.id)
        backend.roles.delete(release, "controller")
        assert list(backend.roles.of_release(release.id)) == ["compute"]

    def test_an_environment_has_roles_of_its_own(
        self, backend: Backend, env: int, release: OwnerRef, cluster: OwnerRef
    ) -> None:
        backend.roles.create(cluster, WATCHER)
        assert backend.roles.of_cluster(env)["watcher"].owner == "environment prod"
        assert "watcher" not in backend.roles.of_release(release.id)
        (node,) = backend.nodes.create([Node(0, "a", env, pending_roles=("watcher",))])
        with refused(Conflict, f"node {node.id}", "role watcher"):
            backend.roles.delete(cluster, "watcher")

    def test_an_environments_role_stands_above_its_releases(
        self, backend: Backend, env: int, release: OwnerRef, cluster: OwnerRef
    ) -> None:
        backend.nodes.create([Node(0, "a", env, pending_roles=("compute",))])
        with refused(Conflict, "role compute", f"release {release.id}"):
            backend.roles.update(cluster, Role("compute", ("compute",), {"name": "Mine"}))
        with refused(Conflict, "role compute", f"release {release.id}"):
            backend.roles.delete(cluster, "compute")
        backend.roles.create(cluster, Role("compute", ("db",), {"name": "Mine", "tags": ["db"]}))
        assert backend.roles.of_cluster(env)["compute"].metadata["name"] == "Mine"
        assert backend.roles.of_release(release.id)["compute"].metadata["name"] == "Compute"
        backend.roles.delete(cluster, "compute")
        assert backend.roles.of_cluster(env)["compute"].metadata["name"] == "Compute"

    @pytest.mark.parametrize("name", ["", "a b", "a/b", "é"])
    def test_a_name_that_cannot_be_one_is_refused(self, backend: Backend, release: OwnerRef, name: str) -> None:
        with pytest.raises((UsageError, InvalidDocument)):  # a server looks at the shape of a body first
            backend.roles.create(release, Role(name, (), {}))

    def test_an_unknown_owner_is_not_found(self, backend: Backend) -> None:
        for level in (Level.RELEASE, Level.CLUSTER):
            with missing(NOUNS[level], 42):
                backend.roles.create(OwnerRef(level, 42), WATCHER)


class TestTags:
    def test_tags_are_described_or_implied_by_roles(self, backend: Backend, env: int, release: OwnerRef) -> None:
        found = backend.tags.of_release(release.id)
        assert [(tag.name, tag.metadata) for tag in found.values()] == [
            ("controller", {"has_primary": True}),
            ("db", {"has_primary": False}),
            ("compute", {"has_primary": False}),
        ]
        assert list(backend.tags.of_cluster(env)) == list(found)

    def test_a_tag_that_a_role_implies_is_described(self, backend: Backend, release: OwnerRef) -> None:
        with refused(Conflict, "tag compute", "has no description"):
            backend.tags.update(release, Tag("compute", {"has_primary": True}))
        backend.tags.create(release, Tag("compute", {"has_primary": True}))
        assert backend.tags.of_release(release.id)["compute"].metadata == {"has_primary": True}
        with refused(Conflict, "tag compute", f"release {release.id}", "exists"):
            backend.tags.create(release, Tag("compute"))

    def test_a_tag_that_a_role_carries_stays(self, backend: Backend, release: OwnerRef) -> None:
        backend.tags.create(release, Tag("spare"))
        backend.tags.delete(release, "spare")
        assert "spare" not in backend.tags.of_release(release.id)
        assert "db" in backend.roles.of_release(release.id)["controller"].metadata["tags"]
        with refused(Conflict, "tag db", "role controller"):
            backend.tags.delete(release, "db")
        assert "db" in backend.releases.get(release.id).metadata["tags_metadata"]
        with pytest.raises(NotFound):
            backend.tags.delete(release, "spare")

    def test_an_environments_tag_stands_above_its_releases(
        self, backend: Backend, env: int, release: OwnerRef, cluster: OwnerRef
    ) -> None:
        with refused(Conflict, "tag db", f"release {release.id}"):
            backend.tags.update(cluster, Tag("db", {"has_primary": True}))
        backend.tags.create(cluster, Tag("db", {"has_primary": True}))
        own = backend.tags.of_cluster(env)["db"]
        assert (own.metadata, own.owner) == ({"has_primary": True}, "environment prod")
        backend.tags.delete(cluster, "db")
        assert backend.tags.of_cluster(env)["db"].metadata == {"has_primary": False}

    def test_roles_and_tags_of_an_environment_place_tasks(self, backend: Backend, env: int, cluster: OwnerRef) -> None:
        backend.tags.create(cluster, Tag("spare", {"has_primary": True}))
        backend.roles.create(cluster, Role("watcher", ("spare",), {"tags": ["spare"]}))
        for name in ("a", "b"):
            backend.nodes.create([Node(0, name, env, pending_roles=("watcher",))])
        tasks = (
            Task("first", {"type": "shell", "version": "2.0.0", "roles": ["primary-spare"]}),
            Task("all", {"type": "shell", "version": "2.0.0", "roles": ["/.*spare/"]}),
        )
        backend.graphs.upload(cluster, GraphDocument(tasks))
        shown = preview(backend.graphs.snapshot(env), PreviewOptions())
        places = {row.task: row.nodes for row in shown.rows}
        ids = [node.id for node in backend.nodes.list(env)]
        assert places == {"first": (ids[0],), "all": tuple(ids)}


class TestReleases:
    def test_components(self, backend: Backend, release: OwnerRef) -> None:
        assert [dict(one) for one in backend.releases.components(release.id)] == [
            {"name": "hypervisor:kvm", "default": True}
        ]
        with pytest.raises(NotFound):
            backend.releases.components(42)

    def test_repositories(self, backend: Backend, release: OwnerRef) -> None:
        assert list(backend.releases.repositories(release.id)) == [{"name": "mos", "uri": "http://a"}]
        mirrors: list[dict[str, Any]] = [
            {"name": "mirror", "uri": "http://b", "priority": 1050},
            {"name": "z", "uri": "http://z"},
        ]
        backend.releases.set_repositories(release.id, mirrors)
        assert list(backend.releases.repositories(release.id)) == mirrors
        assert backend.releases.get(release.id).metadata["kept"] == {"as": "it is"}
        with pytest.raises(NotFound):
            backend.releases.set_repositories(42, mirrors)

    def test_an_update_stores_every_field(self, backend: Backend, release: OwnerRef) -> None:
        (spare,) = backend.releases.create([Release(0, "spare", "spare-1")])
        stored = backend.releases.get(release.id)
        wanted = replace(stored, name="new", version="new-2", state="unavailable", description="d")
        updated = backend.releases.update(wanted)
        assert (updated.name, updated.state, updated.metadata) == ("new", "unavailable", stored.metadata)
        assert backend.releases.get(release.id) == updated
        with pytest.raises(Conflict):
            backend.releases.update(replace(wanted, name=spare.name, version=spare.version))
        with pytest.raises(NotFound):
            backend.releases.update(replace(wanted, id=42))
        assert backend.releases.get(release.id) == updated

    def test_a_release_without_any_gets_some(self, backend: Backend) -> None:
        (bare,) = backend.releases.create([Release(0, "bare", "bare-1")])
        assert list(backend.releases.repositories(bare.id)) == []
        assert list(backend.releases.components(bare.id)) == []
        backend.releases.set_repositories(bare.id, [{"name": "mos", "uri": "http://a"}])
        assert list(backend.releases.repositories(bare.id)) == [{"name": "mos", "uri": "http://a"}]


class TestNodes:
    @pytest.fixture
    def ids(self, backend: Backend, env: int) -> list[int]:
        made = backend.nodes.create([Node(0, "a", env), Node(0, "b", env), Node(0, "c")])
        return [node.id for node in made]

    def test_names(self, backend: Backend, env: int, ids: list[int]) -> None:
        changed = backend.nodes.update(ids[0], name="x", hostname="host-1")
        assert (changed.name, changed.attributes["hostname"]) == ("x", "host-1")
        assert backend.nodes.get(ids[0]) == changed
        assert backend.nodes.update(ids[0], name="x").attributes["hostname"] == "host-1"
        with refused(Conflict, f"environment {env}", "node b", f"id {ids[1]}"):
            backend.nodes.update(ids[0], name="b")
        for taken in ("host-1", "x"):
            with refused(Conflict, f"environment {env}", taken, f"id {ids[0]}"):
                backend.nodes.update(ids[1], hostname=taken)
        backend.nodes.update(ids[2], name="x")

    @pytest.mark.parametrize(
        ("name", "hostname"), [(None, None), (" ", None), (None, ""), (None, "a b"), (None, "10.0.0.1"), (None, "::1")]
    )
    def test_what_no_node_can_be_called(
        self, backend: Backend, ids: list[int], name: str | None, hostname: str | None
    ) -> None:
        before = backend.nodes.get(ids[0])
        with pytest.raises((UsageError, InvalidDocument)):  # a server looks at the shape of a body first
            backend.nodes.update(ids[0], name=name, hostname=hostname)
        assert backend.nodes.get(ids[0]) == before

    def test_attributes(self, backend: Backend, ids: list[int]) -> None:
        assert backend.nodes.attributes(ids[0]) == {}
        backend.nodes.set_attributes(ids[0], {"cpu": {"pins": [1, 2]}, "old": True})
        backend.nodes.set_attributes(ids[0], {"cpu": {"pins": [3]}})
        assert backend.nodes.attributes(ids[0]) == {"cpu": {"pins": [3]}}
        with pytest.raises(NotFound):
            backend.nodes.set_attributes(42, {})

    def test_labels(self, backend: Backend, ids: list[int]) -> None:
        assert list(backend.nodes.set_labels(ids[:2], {"rack": "b", "ssd": None})) == ids[:2]
        assert list(backend.nodes.set_labels(None, {"site": "west"})) == ids
        assert backend.nodes.get(ids[0]).labels == {"rack": "b", "ssd": None, "site": "west"}
        assert backend.nodes.get(ids[2]).labels == {"site": "west"}
        assert backend.nodes.get(ids[0]).attributes == {}
        assert list(backend.nodes.delete_labels(ids, [label_from("rack=c"), label_from("ssd")])) == ids
        assert backend.nodes.get(ids[0]).labels == {"rack": "b", "site": "west"}
        backend.nodes.delete_labels(None, None)
        assert [node.labels for node in backend.nodes.list()] == [{}, {}, {}]

    def test_labels_are_set_on_all_nodes_or_none(self, backend: Backend, ids: list[int]) -> None:
        with pytest.raises(NotFound):
            backend.nodes.set_labels([ids[0], 42], {"rack": "b"})
        with refused(UsageError, "label", "name"):
            backend.nodes.set_labels(ids, {"": "b"})
        assert backend.nodes.get(ids[0]).labels == {}


def test_the_version_is_that_of_the_api(backend: Backend, kind: str) -> None:
    found = backend.version()
    assert (found.api, found.auth_required, found.release) == ("1.0", kind in ("keystone", "socket"), "9.0")

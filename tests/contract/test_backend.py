"""What every backend does with releases, environments and nodes; `test_graphs`, `test_plugins`, `test_enabling` and
`test_assignment` have the rest.

The fixture `backend` (conftest) is each of the backends in turn, and holds nothing yet; `release`, `cluster` and `env`
put there what a module calls RELEASE, and an environment of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from refusals import missing, refused

from fuelclient.backends.base import Backend
from fuelclient.errors import Conflict, NotFound, UsageError
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.release import Release

NEWTON = Release(
    0,
    "Newton",
    "newton-10.0",
    "Ubuntu",
    metadata={"roles_metadata": {"controller": {"has_primary": True}, "compute": {"name": "Compute"}}},
)
MITAKA = Release(0, "Mitaka", "mitaka-9.0", "Ubuntu")
RELEASE = NEWTON


class TestBackend:
    """The behaviour that front ends rely on, but for graphs and plugins."""

    def test_an_empty_backend_lists_nothing(self, backend: Backend) -> None:
        assert [list(facet.list()) for facet in (backend.releases, backend.clusters)] == [[], []]
        assert [list(facet.list()) for facet in (backend.nodes, backend.plugins, backend.graphs)] == [[], [], []]
        assert backend.target

    # Releases

    def test_releases_are_stored_with_a_default_graph(self, backend: Backend) -> None:
        created = backend.releases.create([NEWTON, MITAKA])
        assert [release.name for release in created] == ["Newton", "Mitaka"]
        assert list(backend.releases.list()) == sorted(created, key=lambda release: release.id)
        assert backend.releases.get(created[0].id) == created[0]
        for release in created:
            assert backend.graphs.get(OwnerRef(Level.RELEASE, release.id)).tasks == ()

    def test_releases_keep_their_ids_where_these_are_free(self, backend: Backend) -> None:
        versions = [Release(0, "n", "a"), Release(5, "n", "b"), Release(5, "n", "c")]
        ids = [release.id for release in backend.releases.create(versions)]
        assert ids[1] == 5
        assert len({*ids}) == 3
        (later,) = backend.releases.create([Release(5, "n", "d")])
        assert later.id not in ids

    def test_releases_are_created_all_or_none(self, backend: Backend) -> None:
        backend.releases.create([NEWTON])
        with refused(Conflict, "Newton newton-10.0", "exists"):
            backend.releases.create([MITAKA, NEWTON])
        with refused(Conflict, "Mitaka mitaka-9.0", "twice"):
            backend.releases.create([MITAKA, MITAKA])
        assert [release.name for release in backend.releases.list()] == ["Newton"]

    def test_a_release_goes_with_its_graphs_unless_it_is_used(self, backend: Backend, env: int) -> None:
        release_id = backend.clusters.get(env).release_id
        with refused(Conflict, f"environment {env} (prod)", f"fuel2 env delete {env}"):
            backend.releases.delete(release_id)
        backend.clusters.delete(env)
        backend.releases.delete(release_id)
        assert list(backend.releases.list()) == []
        assert list(backend.graphs.list()) == []

    @pytest.mark.parametrize("release_id", [0, -1, 42, 2**63])
    def test_an_unknown_release_is_not_found(self, backend: Backend, release_id: int) -> None:
        with missing("release", release_id):
            backend.releases.get(release_id)
        with pytest.raises(NotFound):
            backend.releases.delete(release_id)

    @pytest.mark.parametrize("release_id", [-1, 2**31, 2**63])
    def test_a_number_that_cannot_be_the_id_of_a_release_is_refused(self, backend: Backend, release_id: int) -> None:
        with refused(UsageError, release_id, "release", 1, 2147483647):
            backend.releases.create([NEWTON, Release(release_id, "n", "1")])
        assert list(backend.releases.list()) == []

    def test_a_number_beyond_64_bits_is_no_id(self, backend: Backend, kind: str) -> None:
        with missing("release", 10**30) if kind == "local" else refused(UsageError, "Expected `int`"):
            backend.releases.get(10**30)

    def test_after_the_largest_id_there_is_room(self, backend: Backend) -> None:
        backend.releases.create([Release(2**31 - 1, "n", "1")])
        (release,) = backend.releases.create([NEWTON])
        assert backend.releases.get(release.id) == release
        backend.nodes.create([Node(2**31 - 1, "a")])
        (node,) = backend.nodes.create([Node(0, "b")])
        assert backend.nodes.get(node.id) == node

    # Environments

    def test_an_environment_without_any_release_says_how_to_get_one(self, backend: Backend) -> None:
        with missing("release", 1, "fuel2 release import FILE", "fuel2 demo"):
            backend.clusters.create("prod", 1)

    def test_an_environment_of_an_unknown_release_names_the_known(self, backend: Backend) -> None:
        (release,) = backend.releases.create([NEWTON])
        with missing("release", 42, release.id):
            backend.clusters.create("prod", 42)

    def test_an_environment_is_created_with_a_default_graph(self, backend: Backend, env: int) -> None:
        cluster = backend.clusters.get(env)
        assert (cluster.name, cluster.status, cluster.net_segment_type) == ("prod", "new", "vlan")
        assert list(backend.clusters.list()) == [cluster]
        assert backend.graphs.get(OwnerRef(Level.CLUSTER, env)).tasks == ()

    def test_names_of_environments_are_unique(self, backend: Backend, env: int) -> None:
        release_id = backend.clusters.get(env).release_id
        with refused(Conflict, "environment prod", f"id {env}"):
            backend.clusters.create("prod", release_id)
        other = backend.clusters.create("test", release_id)
        with refused(Conflict, "environment prod", f"id {env}"):
            backend.clusters.rename(other.id, "prod")
        assert backend.clusters.rename(env, "prod").name == "prod"
        assert backend.clusters.rename(other.id, "stage").name == "stage"
        assert [cluster.name for cluster in backend.clusters.list()] == ["prod", "stage"]

    def test_an_environment_needs_a_name(self, backend: Backend, env: int) -> None:
        with pytest.raises(UsageError):
            backend.clusters.create(" ", backend.clusters.get(env).release_id)

    def test_a_number_is_no_name(self, backend: Backend, env: int) -> None:
        release_id = backend.clusters.get(env).release_id
        (node,) = backend.nodes.create([Node(0, "a")])
        sequence = backend.sequences.create(release_id, "all", ["default"])
        writes: dict[str, Callable[[], object]] = {
            "environment": lambda: backend.clusters.create("7", release_id),
            "environment ": lambda: backend.clusters.rename(env, "7"),
            "node": lambda: backend.nodes.create([Node(0, "7")]),
            "node ": lambda: backend.nodes.update(node.id, name="7"),
            "release": lambda: backend.releases.create([replace(MITAKA, name="7")]),
            "release ": lambda: backend.releases.update(replace(backend.releases.get(release_id), name="7")),
            "sequence": lambda: backend.sequences.create(release_id, "7", ["default"]),
            "sequence ": lambda: backend.sequences.update(sequence.id, name="7"),
        }
        for noun, write in writes.items():
            with refused(UsageError, f"name of a{'n' * (noun[0] == 'e')} {noun.strip()}"):
                write()
        assert (len(backend.nodes.list()), len(backend.releases.list()), len(backend.clusters.list())) == (1, 1, 1)

    def test_deleting_an_environment_frees_its_nodes(self, backend: Backend, env: int) -> None:
        ready = Node(1, "a", env, "ready", roles=("controller",), primary_tags=("controller",))
        backend.nodes.create([ready, Node(2, "b", env, pending_roles=("compute",))])
        backend.clusters.delete(env)
        assert list(backend.nodes.list()) == [Node(1, "a"), Node(2, "b")]
        assert [summary.owner.level for summary in backend.graphs.list()] == [Level.RELEASE]
        with missing("environment", env):
            backend.clusters.get(env)

    # Nodes of environments

    def test_nodes_join_with_pending_roles(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(1, "a"), Node(2, "b")])
        backend.clusters.add_nodes(env, [2, 1, 2], ["compute"])
        backend.clusters.add_nodes(env, [1], ["controller", "compute"])
        first, second = backend.nodes.list(env)
        assert (first.pending_roles, second.pending_roles) == (("controller", "compute"), ("compute",))
        assert first.pending_addition
        assert first.cluster_id == env

    def test_a_deployed_node_that_gets_a_role_is_no_addition(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(1, "a", env, "ready", roles=("controller",))])
        backend.clusters.add_nodes(env, [1], ["controller", "compute"])
        node = backend.nodes.get(1)
        assert (node.roles, node.pending_roles, node.pending_addition) == (("controller",), ("compute",), False)

    def test_nodes_join_all_or_none(self, backend: Backend, env: int) -> None:
        other = backend.clusters.create("other", backend.clusters.get(env).release_id)
        backend.nodes.create([Node(1, "a"), Node(2, "b", other.id)])
        before = backend.nodes.list()
        with refused(Conflict, "node 2", f"environment {other.id}"):
            backend.clusters.add_nodes(env, [1, 2], ["compute"])
        with missing("node", 3):
            backend.clusters.add_nodes(env, [1, 3], ["compute"])
        with missing("role", "computer", "compute"):
            backend.clusters.add_nodes(env, [1], ["computer"])
        assert backend.nodes.list() == before

    def test_a_role_that_a_node_brings_along_must_be_known(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(1, "a", roles=("watcher",))])
        with missing("role", "watcher"):
            backend.clusters.add_nodes(env, [1], ["compute"])

    def test_nodes_leave(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(number, f"n{number}", env, pending_roles=("compute",)) for number in (1, 2, 3)])
        assert list(backend.clusters.remove_nodes(env, [2])) == [2]
        assert backend.nodes.get(2) == Node(2, "n2")
        with refused(NotFound, "node", f"environment {env}") as caught:
            backend.clusters.remove_nodes(env, [1, 2])
        assert (caught.value.key, caught.value.known) == (2, ("1", "3"))
        assert [node.id for node in backend.nodes.list(env)] == [1, 3]
        assert list(backend.clusters.remove_nodes(env, None)) == [1, 3]
        assert list(backend.nodes.list(env)) == []

    # Nodes

    def test_nodes_get_free_ids_after_the_given_ones(self, backend: Backend) -> None:
        nodes = backend.nodes.create([Node(0, "a"), Node(1, "b"), Node(0, "c")])
        assert nodes[1].id == 1
        assert len({node.id for node in nodes}) == 3
        assert {node.id: node.name for node in nodes} == {node.id: node.name for node in backend.nodes.list()}

    def test_nodes_come_back_as_they_were_stored(self, backend: Backend) -> None:
        node = Node(
            7, "x", ip="10.0.0.7", mac="aa", online=False, executor="ssh", ssh={"user": "u"}, attributes={"é": [1]}
        )
        backend.nodes.create([node])
        assert backend.nodes.get(7) == node

    def test_nodes_are_created_all_or_none(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(1, "a")])
        with refused(Conflict, "node 1", "exists"):
            backend.nodes.create([Node(0, "b"), Node(1, "c")])
        with refused(Conflict, "node 5", "twice"):
            backend.nodes.create([Node(5, "b"), Node(5, "c")])
        with missing("environment", 99):
            backend.nodes.create([Node(0, "b"), Node(0, "c", 99)])
        with missing("role", "contoller", "controller"):
            backend.nodes.create([Node(0, "b"), Node(0, "c", env, pending_roles=("contoller",))])
        with refused(UsageError, 2**63, "node", 1, 2147483647):
            backend.nodes.create([Node(0, "b"), Node(2**63, "c")])
        assert [node.name for node in backend.nodes.list()] == ["a"]

    @pytest.mark.parametrize("node_id", [-1, 2**31, 2**63 - 2])
    def test_a_number_that_cannot_be_the_id_of_a_node_is_refused(self, backend: Backend, node_id: int) -> None:
        with refused(UsageError, node_id, "node", 1, 2147483647):
            backend.nodes.create([Node(0, "a"), Node(node_id, "b")])
        assert list(backend.nodes.list()) == []

    @pytest.mark.parametrize("name", ["", " ", "\t"])
    def test_a_node_needs_a_name(self, backend: Backend, name: str) -> None:
        with refused(UsageError, "node", "name"):
            backend.nodes.create([Node(0, name)])

    @pytest.mark.parametrize("ip", ["10.20.0.300", "10.20.0", "10.20.0.3/24", "not an ip", "-x", "a..b", "http://a"])
    def test_a_node_has_an_address_or_a_host_name(self, backend: Backend, ip: str) -> None:
        with refused(UsageError, repr(ip), "10.20.0.3", "node-1.domain.tld"):
            backend.nodes.create([Node(0, "a", ip=ip)])
        assert list(backend.nodes.list()) == []

    def test_addresses_are_kept_as_they_are(self, backend: Backend) -> None:
        wanted = ("", "10.20.0.3", "::1", "fe80::1%eth0", "node-1", "node-1.domain.tld")
        backend.nodes.create([Node(0, f"n{number}", ip=ip) for number, ip in enumerate(wanted)])
        assert tuple(node.ip for node in backend.nodes.list()) == wanted

    def test_names_tell_the_nodes_of_an_environment_apart(self, backend: Backend, env: int) -> None:
        other = backend.clusters.create("other", backend.clusters.get(env).release_id).id
        backend.nodes.create([Node(1, "a", env), Node(2, "a", other), Node(3, "a"), Node(4, "b")])
        before = backend.nodes.list()
        with refused(Conflict, f"environment {env}", "node a", "id 1"):
            backend.nodes.create([Node(0, "c", env), Node(0, "a", env)])
        with refused(Conflict, "free nodes", "node a", "id 3"):
            backend.nodes.create([Node(0, "a")])
        with refused(Conflict, "two", "c"):
            backend.nodes.create([Node(0, "c"), Node(9, "c")])
        with refused(Conflict, f"environment {env}", "node a", "id 1"):
            backend.clusters.add_nodes(env, [4, 3], ["compute"])
        assert backend.nodes.list() == before

    def test_a_node_that_leaves_keeps_its_name(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(1, "a", env), Node(2, "a"), Node(3, "b", env)])
        backend.clusters.remove_nodes(env, None)
        assert [(node.id, node.name, node.cluster_id) for node in backend.nodes.list()] == [
            (1, "a", None), (2, "a", None), (3, "b", None),
        ]  # fmt: skip
        with refused(Conflict, "two", "a"):
            backend.clusters.add_nodes(env, [1, 2], ["compute"])
        backend.clusters.add_nodes(env, [2, 3], ["compute"])
        assert backend.nodes.get(2).pending_roles == ("compute",)

    def test_a_node_that_names_its_environment_joins_it(self, backend: Backend, env: int) -> None:
        (node,) = backend.nodes.create([Node(0, "a", env, pending_roles=("compute",))])
        assert node.pending_addition
        assert backend.nodes.get(node.id) == node

    def test_a_node_of_an_environment_is_deleted_only_by_force(self, backend: Backend, env: int) -> None:
        backend.nodes.create([Node(1, "a"), Node(2, "b", env)])
        with refused(Conflict, "node 2", f"environment {env}", "--force"):
            backend.nodes.delete([1, 2])
        assert len(backend.nodes.list()) == 2
        backend.nodes.delete([1, 2], force=True)
        assert list(backend.nodes.list()) == []
        with missing("node", 1) as caught:
            backend.nodes.delete([1])
        assert (caught.value.known, bool(caught.value.hint)) == ((), True)

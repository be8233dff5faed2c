"""What a real master says of releases, environments, nodes, roles, plugins, graphs and sequences is what is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from contract.recorded.conftest import OnMaster
from recordings import HOST, TOKEN, Adapter, Replay, line

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.backends.http.answers import Response
from fuelclient.backends.studies import study_of
from fuelclient.commands.exits import Exit
from fuelclient.errors import Conflict, NotFound, Unauthorised, UsageError
from fuelclient.graph.merge import merge_layers
from fuelclient.insight.differences import differences
from fuelclient.model.graph import Level, OwnerRef
from fuelclient.settings.master import Credentials, Master
from fuelclient.support import supports

pytestmark = pytest.mark.corpus

RELEASES, CLUSTERS = "releases: list and get", "clusters: create, refusals, get, update"
NODES, PLUGINS = (
    "nodes: list, get, update, labels, filters",
    "plugins: sync, list, get, enable, refusals, links, delete",
)
GRAPHS = "graphs: five verbs for a cluster, by type"


def by_id(records: Any) -> dict[int, Any]:
    return {record["id"]: record for record in records}


# Login and version


def test_the_version_is_asked_for_again_with_a_token() -> None:
    replay = Replay(RELEASES)
    backend = replay.backend()
    version = backend.version()
    recorded = line(6).response_body
    assert (version.release, version.api, version.auth_required) == (recorded["release"], recorded["api"], True)
    assert list(version.feature_groups) == recorded["feature_groups"]
    assert replay.asked == ["GET version", "GET version"]
    assert not supports(backend.runs.logs)


def test_a_password_is_given_to_the_master_s_own_keystone() -> None:
    replay = Replay(5)  # its token is an old one, so that each request asks for another
    credentials = Credentials(f"{HOST}/keystone/v2.0", "admin", "PASSWORD")
    backend = connected(Master(HOST, credentials), adapter=Adapter(replay))
    assert len(backend.releases.list()) == len(line(17).response_body)
    assert "POST /keystone/v2.0/tokens" in replay.asked


def test_a_wrong_token_and_no_token_are_refused_alike() -> None:
    master = Master(HOST, Credentials(token="another"))  # noqa: S106 (it opens nothing)
    with pytest.raises(Unauthorised, match="OS_TOKEN"):
        connected(master, adapter=Adapter(Replay(RELEASES))).releases.list()
    assert TOKEN not in str(master)


# Releases, roles, tags


def test_releases_are_those_of_the_master() -> None:
    releases = Replay(RELEASES).backend().releases
    recorded = by_id(line(17).response_body)
    listed = releases.list()
    assert [release.id for release in listed] == sorted(recorded)
    for release in listed:
        told = recorded[release.id]
        assert (release.name, release.version, release.operating_system, release.state) == (
            told["name"], told["version"], told["operating_system"], told["state"],
        )  # fmt: skip
    assert releases.get(2).name == line(18).response_body["name"]
    with pytest.raises(NotFound):
        releases.get(99)


@pytest.mark.parametrize("level", [Level.RELEASE, Level.CLUSTER])
def test_roles_are_those_of_the_list(level: Level) -> None:
    """Roles of a release are 404 one by one below an environment, so they are taken from its list."""
    told = Replay("nodes: assignment").backend().roles
    recorded = {role["name"]: role for role in line(157).response_body}
    roles = told.of_cluster(1) if level is Level.CLUSTER else told.of_release(2)
    recorded |= {} if level is Level.CLUSTER else {role["name"]: role for role in line(48).response_body}
    assert set(roles) == set(recorded)
    for name, role in roles.items():
        assert role.metadata == recorded[name]["meta"]
        assert [volume["id"] for volume in role.volumes] == [
            volume["id"] for volume in recorded[name]["volumes_roles_mapping"]
        ]


def test_tags_of_a_release_are_read() -> None:
    tags = Replay("roles and tags of a release").backend().tags.of_release(2)
    assert {name: tag.metadata for name, tag in tags.items()} == {
        tag["name"]: tag["meta"] for tag in line(59).response_body
    }


# Environments and nodes


def test_environments_are_those_of_the_master() -> None:
    clusters = Replay(84, 97).backend().clusters
    recorded = by_id(line(84).response_body)
    listed = clusters.list()
    assert [cluster.id for cluster in listed] == sorted(recorded)
    for cluster in listed:
        told = recorded[cluster.id]
        assert (cluster.name, cluster.release_id, cluster.status) == (told["name"], told["release_id"], told["status"])
        assert (cluster.fuel_version, cluster.is_customized) == (told["fuel_version"], told["is_customized"])
        assert list(cluster.changes) == told["changes"]
    with pytest.raises(NotFound):
        clusters.get(99)


def test_an_environment_with_uploaded_facts_is_customized() -> None:
    assert Replay(392).backend().clusters.get(1).is_customized


def test_settings_are_those_of_the_master() -> None:
    settings = Replay("settings of a cluster").backend().clusters.settings(1)
    assert settings == line(98).response_body["editable"]


def test_nodes_are_those_of_the_master() -> None:
    nodes = Replay("nodes: assignment").backend().nodes
    recorded = by_id(line(150).response_body)
    for node in nodes.list(1):
        told = recorded.pop(node.id)
        assert (node.name, node.status, node.ip, node.mac, node.online, node.cluster_id) == tuple(
            told[key] for key in ("name", "status", "ip", "mac", "online", "cluster")
        )
        assert (list(node.roles), list(node.pending_roles)) == (told["roles"], told["pending_roles"])
        assert (node.pending_addition, node.pending_deletion) == (told["pending_addition"], told["pending_deletion"])
        assert dict(node.labels) == told["labels"]
        assert node.attributes["meta"] == told["meta"]
    assert not recorded
    assert len(Replay(114, 127).backend().nodes.list()) == len(line(127).response_body)
    with pytest.raises(NotFound):
        Replay(NODES).backend().nodes.get(999)


def test_a_node_to_be_deleted_is_known_as_such() -> None:
    told = line(641).response_body
    node = Replay(641).backend().nodes.get(3)
    assert node.pending_deletion is told["pending_deletion"] is True


# Plugins


def test_plugins_and_where_they_are_enabled_are_the_masters(on_master: OnMaster) -> None:
    backend = Replay(656).backend()
    listed = {plugin.id: plugin for plugin in backend.plugins.list()}
    assert backend.plugins.get(2).clusters == (1,)
    assert listed[2].name == "detach-rabbitmq"
    done = on_master(Replay(656), "plugins", "show", "detach-rabbitmq", "-f", "value", "-c", "environments")
    assert done.out == "1 (env-1)\n", done.err


# Graphs


def test_graphs_are_those_of_the_master() -> None:
    graphs = Replay("graphs: the original client's commands").backend().graphs
    recorded = by_id([graph for number in (312, 353, 354) for graph in line(number).response_body])
    listed = graphs.list(1)
    assert [graph.id for graph in listed] == sorted(recorded)
    for graph in listed:
        told = recorded[graph.id]
        (relation,) = told["relations"]
        assert (graph.name, graph.type, str(graph.owner.level)) == (told["name"], relation["type"], relation["model"])
        assert sorted(graph.task_ids) == sorted(task["id"] for task in told["tasks"])


def test_tasks_with_both_spellings_are_one(on_master: OnMaster) -> None:
    graph = Replay(GRAPHS).backend().graphs.get(OwnerRef(Level.CLUSTER, 1), "small")
    told = line(276).response_body
    assert [task.id for task in graph.tasks] == [task["id"] for task in told["tasks"]]
    assert [task.id for task in graph.tasks if task.attributes.get("cross_depends")] == [
        task["id"] for task in told["tasks"] if task.get("cross-depends")
    ]
    done = on_master(Replay(GRAPHS), "graph", "download", "--env", 1, "--cluster", "-t", "small", "--file", "-")
    assert done.code == 0
    assert "task_name" not in done.out


@pytest.mark.parametrize("owner", [OwnerRef(Level.CLUSTER, 1), OwnerRef(Level.RELEASE, 2)])
def test_a_graph_type_that_nobody_has_is_not_found(owner: OwnerRef) -> None:
    with pytest.raises(NotFound) as caught:
        Replay(278 if owner.level is Level.CLUSTER else 319).backend().graphs.get(
            owner, "nosuch" if owner.level is Level.CLUSTER else "extra"
        )
    assert "small" in str(caught.value) or "default" in str(caught.value)


@pytest.mark.parametrize("graph_type", ["default", "small"])
def test_the_layers_of_a_master_merge_here_as_there(graph_type: str) -> None:
    backend = Replay("graphs: the original client's commands").backend()
    snapshot = backend.graphs.snapshot(1, graph_type)
    ours = [merged.task for merged in merge_layers(snapshot.layers).tasks]
    theirs = backend.graphs.merged(1, graph_type)
    assert [str(difference) for difference in differences(ours, theirs)] == []
    seen = study_of(backend, snapshot).preview()
    assert seen.nodes == 3


# Sequences


def test_sequences_are_those_of_the_master() -> None:
    sequences = Replay(602, 622).backend().sequences
    sequences.list()
    (listed,) = sequences.list()
    told = line(608).response_body[0]
    assert (listed.id, listed.name, listed.release_id) == (told["id"], told["name"], told["release_id"])
    assert list(listed.graph_types) == [graph["type"] for graph in told["graphs"]]
    assert [sequence.id for sequence in sequences.list(cluster_id=1)] == [told["id"]]
    assert sequences.list(release_id=3) == []
    for ask in (lambda: sequences.get(99), lambda: sequences.list(release_id=99)):
        with pytest.raises(NotFound):
            ask()
    with pytest.raises(Conflict):
        sequences.create(2, "both", ["small"])


# Answers that say little


@pytest.mark.parametrize(
    ("number", "delete"),
    [
        (287, lambda backend: backend.graphs.delete(OwnerRef(Level.CLUSTER, 1), "empty")),
        (394, lambda backend: backend.facts.delete(1)),
        (634, lambda backend: backend.sequences.delete(1)),
        (636, lambda backend: backend.runs.delete(28)),
        (654, lambda backend: backend.clusters.delete(3, force=True)),
    ],
    ids=["204", "202 with an empty mapping", "204 of a sequence", "204 of a run", "202 with a task"],
)
def test_a_deletion_is_done_whatever_its_answer_says(number: int, delete: Callable[[Backend], Any]) -> None:
    replay = Replay(number)
    assert not delete(replay.backend())
    assert any(asked.startswith("DELETE ") for asked in replay.asked)


def test_master_merges_nothing_for_an_unknown_graph_type() -> None:
    assert list(Replay(328).backend().graphs.merged(1, "nosuch")) == []


# Answers that differ from what their headers say


def test_json_in_json_is_read() -> None:
    """The answer to `PATCH` of a graph is a JSON string that holds JSON; nobody asks for it, and it is no error."""
    recorded = line(281)
    answer = Response(recorded.method, recorded.path, recorded.status, "application/json", recorded.body)
    assert isinstance(answer.data(), str)


def test_an_unknown_status_of_runs_is_refused_before_it_is_sent(on_master: OnMaster) -> None:
    replay = Replay("runs: after the end")
    with pytest.raises(UsageError):
        replay.backend().runs.list(statuses=["nosuch"])
    assert replay.asked == ["GET version"] * 2
    assert on_master(replay, "task", "show", 99999).code == Exit.NOT_FOUND

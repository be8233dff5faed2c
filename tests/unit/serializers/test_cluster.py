"""Environments, sequences, releases, nodes, roles, facts and findings as a server tells of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from refusals import refused

from fuelclient.errors import InvalidDocument
from fuelclient.model.cluster import Cluster
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import Graph, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role, Tag
from fuelclient.model.task import Task
from fuelclient.serializers.cluster import cluster_from, cluster_to
from fuelclient.serializers.fact import facts_from, facts_to, facts_to_list, info_to
from fuelclient.serializers.finding import finding_from, finding_to
from fuelclient.serializers.graph import graph_from, graph_to
from fuelclient.serializers.node import node_record_from, node_record_to
from fuelclient.serializers.release import release_record_from, release_record_to, role_from, role_to, tag_from, tag_to

NODE = Node(
    7, "node-7", 1, "ready", ("controller",), ("cinder",), ("controller",), "10.20.0.7", "52:54:00:00:00:07", False,
    error_type="deploy", pending_addition=True, pending_deletion=True, labels={"rack": "a", "x": None},
)  # fmt: skip
RELEASE = Release(3, "Mitaka", "mitaka-9.0", "Ubuntu", "unavailable", "d", {"roles_metadata": {"a": {}}})
ROLE = Role("db", ("db", "x"), {"name": "DB", "tags": ["db", "x"]}, ({"id": "os", "type": "vg"}, "odd"), "plugin p-1")
FINDING = Finding(Severity.WARNING, "G001", "odd", Place("a.yaml", 3, "release"), "netconfig", "Mend it.")
GRAPH = Graph(
    5,
    "fix",
    Owner(Level.PLUGIN, 2),
    (Task("a", {"type": "stage", "version": "1.0.0"}), Task("b", {"cross_depends": [{"name": "a"}]})),
    "Fix",
    {"node_filter": "$.status = ready", "on_success": {}},
)
FACTS = DeploymentFacts({"a": {"x": 1}}, {"1": {"a": {"y": 2}}, "master": {}})


@pytest.mark.parametrize(
    ("value", "to", "back"),
    [
        (Cluster(1, "prod", 3, "operational", "tun"), cluster_to, cluster_from),
        (NODE, node_record_to, lambda data: replace(node_record_from(data), attributes={})),
        (Node(1, "bare"), node_record_to, lambda data: replace(node_record_from(data), attributes={})),
        (RELEASE, release_record_to, release_record_from),
        (ROLE, role_to, role_from),
        (Tag("db", {"has_primary": True}, "plugin p-1"), tag_to, tag_from),
        (FINDING, finding_to, finding_from),
        (GRAPH, graph_to, graph_from),
        (FACTS, facts_to, facts_from),
        (FACTS, info_to, facts_from),
    ],
    ids=lambda value: type(value).__name__ if not callable(value) else "",
)
def test_what_is_written_reads_as_it_was(value: Any, to: Any, back: Any) -> None:
    record = to(value)
    assert json.loads(json.dumps(record)) == record
    result = back(record)
    if value == RELEASE:  # what clients expect of a release is filled in
        assert result.metadata["roles_metadata"] == {"a": {}}
        result = Release(
            **{**{name: getattr(result, name) for name in Release.__slots__}, "metadata": RELEASE.metadata}
        )
    assert result == value


def test_the_fields_of_a_node_stand_in_one_order() -> None:
    """Nailgun's clients print them as they come."""
    assert list(node_record_to(NODE))[:14] == [
        "id", "name", "status", "cluster", "roles", "pending_roles", "primary_tags", "ip", "mac", "hostname", "fqdn",
        "online", "error_type", "pending_addition",
    ]  # fmt: skip


def test_a_master_says_less_of_a_node() -> None:
    told = {
        "id": 2, "name": "Untitled (00:02)", "status": "ready", "roles": ["compute"], "pending_roles": [],
        "ip": "10.20.0.2", "online": True, "cluster": 1, "error_type": None, "mac": "52:54:00:00:00:02",
        "pending_addition": False, "pending_deletion": False, "os_platform": "ubuntu", "labels": {"rack": "a"},
    }  # fmt: skip
    result = node_record_from(told)
    assert (result.attributes, result.labels) == ({"os_platform": "ubuntu"}, {"rack": "a"})
    assert (result.roles, result.ip, result.cluster_id, result.primary_tags) == (("compute",), "10.20.0.2", 1, ())


def test_a_master_says_less_of_roles_and_environments() -> None:
    meta = {"name": "Controller", "conflicts": ["compute"]}
    role = role_from({"name": "controller", "meta": meta, "volumes_roles_mapping": [{"id": "os"}]})
    assert (role.tags, role.metadata, role.volumes) == (("controller",), meta, ({"id": "os"},))
    assert role_from({"name": "x", "meta": {"tags": ["a"]}}).tags == ("a",)
    assert cluster_from({"id": 1, "name": "e", "release_id": 2, "status": "new"}) == Cluster(1, "e", 2)


def test_volumes_of_a_role_are_told_as_nailgun_maps_them() -> None:
    role = Role("db", ("db",), {}, ({"id": "os", "allocate_size": "min", "type": "vg"},))
    assert role_to(role)["volumes_roles_mapping"] == [{"id": "os", "allocate_size": "min"}]


def test_facts_are_merged_where_they_are_not_split() -> None:
    assert facts_to_list(FACTS) == [{"a": {"x": 1, "y": 2}, "uid": "1"}, {"a": {"x": 1}, "uid": "master"}]
    assert facts_to_list(FACTS, {"master"}) == [{"a": {"x": 1}, "uid": "master"}]
    assert facts_from([{"uid": 1, "a": 2}]) == DeploymentFacts({}, {"1": {"a": 2}})


def test_the_model_of_a_relation_may_have_a_capital() -> None:
    told = {"id": 1, "name": None, "tasks": [], "relations": [{"type": "x", "model": "Release", "model_id": 3}]}
    assert graph_from(told) == Graph(1, "x", Owner(Level.RELEASE, 3), ())


@pytest.mark.parametrize(
    ("back", "data", "told"),
    [
        (cluster_from, [], "record of one environment"),
        (cluster_from, {"id": "1"}, "id of one environment is the string '1', not a whole number"),
        (cluster_from, {"id": True}, "not a whole number"),
        (cluster_from, {"id": 1, "release_id": 1}, "name of one environment is empty, not a string"),
        (node_record_from, {"id": 1, "name": "n", "roles": "db"}, "roles of one node is the string 'db', not a list"),
        (node_record_from, {"id": 1, "name": "n", "roles": [1]}, "not a list of strings"),
        (node_record_from, {"id": 1, "name": "n", "online": 1}, "not true or false"),
        (role_from, {"name": "n", "meta": 3}, "not a mapping"),
        (finding_from, {"message": "m", "severity": "bad"}, "severity of one finding is 'bad'"),
        (graph_from, {"id": 1, "tasks": []}, "no owner"),
        (
            graph_from,
            {"id": 1, "tasks": [{}], "relations": [{"type": "t", "model": "cluster", "model_id": 1}]},
            "the task has no id",
        ),
        (graph_from, {"id": 1, "relations": [{"type": "t", "model": "node", "model_id": 1}]}, "a graph of a 'node'"),
        (facts_from, 3, "list of nodes"),
        (facts_from, {"common": {}, "else": 1}, "list of nodes"),
        (facts_from, [{"a": 1}], "with its uid"),
        (facts_from, [{"uid": 1}, {"uid": "1"}], "node 1 occur twice"),
        (facts_from, [{"uid": 1, "role": "a"}, {"uid": "1", "role": "a"}], "node 1 occur twice"),
    ],
)
def test_what_is_no_answer_is_one_error(back: Any, data: Any, told: str) -> None:
    with refused(InvalidDocument, told):
        back(data)

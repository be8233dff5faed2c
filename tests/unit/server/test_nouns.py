"""Environments, nodes, releases, roles, plugins, sequences and facts: what clients send, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from executions import Executions
from http_api import Api
from package_trees import role, write_package

from fuelclient.model.node import Node


def test_environments_as_the_original_client_makes_them(api: Api) -> None:
    body = {"nodes": [], "tasks": [], "name": "new", "release_id": 1, "net_segment_type": "tun"}
    made = api.ask("POST", "clusters/", body, status=201)
    assert (made["id"], made["name"], made["status"], made["fuel_version"]) == (2, "new", "new", "1.0")
    assert (made["is_customized"], made["changes"], made["net_segment_type"]) == (False, [], "tun")
    assert api.ask("PUT", "clusters/2/", {"name": "renamed"})["name"] == "renamed"
    assert [one["name"] for one in api.ask("GET", "clusters/")] == ["prod", "renamed"]
    taken = api.refusal("PUT", "clusters/2/", {"name": "prod"}, status=409)
    assert taken == "Environment with this name already exists"
    api.ask("DELETE", "clusters/2/", status=204)
    assert api.refusal("DELETE", "clusters/2/", status=404) == "Cluster not found"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "a"}, 400),
        ({"name": "", "release_id": 1}, 400),
        ({"name": " ", "release_id": 1}, 400),
        ({"name": "a", "release_id": 9}, 400),
        ({"name": "prod", "release_id": 1}, 409),
        ({"name": "a", "release_id": 1, "nodes": [1]}, 400),
        ({"name": "a", "release_id": 1, "net_segment_type": "wire"}, 400),
    ],
)
def test_environments_that_are_refused(api: Api, body: dict[str, Any], status: int) -> None:
    api.ask("POST", "clusters", body, status=status)
    assert len(api.ask("GET", "clusters")) == 1


def test_nodes_are_given_roles_all_or_none(api: Api) -> None:
    made = api.ask("POST", "nodes", [{"name": "a"}, {"name": "b", "roles": []}], status=201)
    first, second = (one["id"] for one in made)
    assert made[0]["cluster"] is None

    wanted = [{"id": first, "roles": ["controller"]}, {"id": second, "roles": ["nope"]}]
    told = api.refusal("POST", "clusters/1/assignment/", wanted, status=400)
    assert told == "nope are not valid roles for node in environment 1"
    missing = api.refusal("POST", "clusters/1/assignment/", [{"id": 99, "roles": ["compute"]}], status=400)
    assert missing == "Nodes with ids 99 were not found."
    assert api.ask("GET", f"nodes/{first}")["cluster"] is None

    wanted[1]["roles"] = ["compute", "storage"]
    told = api.ask("POST", "clusters/1/assignment/", wanted)
    assert [(one["id"], one["pending_roles"]) for one in told] == [
        (first, ["controller"]),
        (second, ["compute", "storage"]),
    ]
    assert len(api.ask("GET", "nodes/?cluster_id=1")) == 5

    told = api.ask("POST", "clusters/1/unassignment", [{"id": first}, {"id": first}])
    assert [(one["id"], one["cluster"], one["pending_roles"]) for one in told] == [(first, None, [])]
    gone = api.refusal("POST", "clusters/1/unassignment", [{"id": first}], status=400)
    assert gone == f"Nodes [{first}] are not members of environment 1."


def test_a_node_of_another_environment_is_not_taken(api: Api, mitaka: int) -> None:
    """None of the nodes of the request is: those that could have been added are not, either."""
    (free,) = (node["id"] for node in api.ask("POST", "nodes", [{"name": "free"}], status=201))
    wanted = [{"id": free, "roles": ["controller"]}, {"id": 1, "roles": ["compute"]}]
    told = api.plain("POST", f"clusters/{mitaka}/assignment/", wanted, status=400)
    assert told == "Changing cluster on the fly is not allowed"
    assert api.ask("GET", f"nodes/{free}")["cluster"] is None


def test_nodes_are_made_and_removed(api: Api) -> None:
    body = {"name": "n", "ip": "10.20.0.9", "mac": "52:54:00:00:00:09", "cluster": 1, "roles": ["compute"]}
    made = api.ask("POST", "nodes", body, status=201)
    assert {key: made[key] for key in ("name", "ip", "mac", "cluster")} == {
        key: value for key, value in body.items() if key != "roles"
    }
    assert made["pending_roles"] == ["compute"]
    assert "belongs to environment 1" in api.refusal("DELETE", f"nodes/{made['id']}", status=409)
    api.ask("DELETE", f"nodes/?ids={made['id']}&force=1", status=204)
    api.ask("GET", f"nodes/{made['id']}", status=404)
    assert "ids is required" in api.refusal("DELETE", "nodes", status=400)
    assert "address" in api.refusal("POST", "nodes", {"name": "m", "ip": "10.20.0.300"}, status=400)


def test_releases_and_their_roles(api: Api) -> None:
    fields = {
        "name": "R", "version": "r-2.0", "operating_system": "Ubuntu",
        "roles_metadata": {"db": {"name": "DB", "tags": ["db"]}}, "tags_metadata": {"db": {"has_primary": True}},
        "components_metadata": [{"name": "hypervisor:qemu"}],
    }  # fmt: skip
    made = api.ask("POST", "releases", fields, status=201)
    assert (made["id"], made["state"]) == (2, "available")
    assert api.ask("GET", "releases/2")["roles_metadata"] == fields["roles_metadata"]
    (found,) = api.ask("GET", "releases/2/roles/")
    assert (found["name"], found["meta"]["name"], found["tags"]) == ("db", "DB", ["db"])
    assert api.ask("GET", "releases/2/roles/db") == found
    assert api.ask("GET", "releases/2/tags") == [{"name": "db", "meta": {"has_primary": True}, "owner": "release"}]
    assert api.ask("GET", "releases/2/components") == fields["components_metadata"]
    assert "already exists" in api.refusal("POST", "releases", [fields], status=409)
    taken = api.refusal("POST", "releases", fields, status=409)
    assert taken == "Release with the same name and version already exists"
    assert "roles_metadata must be a mapping" in api.refusal(
        "POST", "releases", {"name": "S", "version": "1", "roles_metadata": []}, status=400
    )
    api.ask("DELETE", "releases/2", status=204)
    assert api.refusal("DELETE", "releases/1", status=400) == "Can't delete release with clusters assigned"


@pytest.mark.parametrize("owner", ["releases/1", "clusters/1"])
def test_roles_and_tags_are_described(api: Api, owner: str) -> None:
    before = {one["name"] for one in api.ask("GET", f"{owner}/tags")}
    assert before == {"controller", "compute", "storage"}  # of roles that name no tags
    for noun in ("roles", "tags"):
        where, singular = owner.replace("s/", " "), noun.removesuffix("s").capitalize()
        volumes: dict[str, Any] = {"volumes_roles_mapping": []} if noun == "roles" else {}
        body = {"name": "db", "meta": {"name": "DB", "has_primary": True}, **volumes}
        made = api.ask("POST", f"{owner}/{noun}/", body, status=201)
        assert (made["name"], made["meta"]["has_primary"]) == ("db", True)
        assert api.ask("GET", f"{owner}/{noun}/db") == made
        taken = api.refusal("POST", f"{owner}/{noun}", body, status=409)
        assert taken == f"{singular} with name db already exists for {where}"
        changed = api.ask("PUT", f"{owner}/{noun}/db/", {**body, "meta": {"name": "Database"}})
        assert changed["meta"] == {"name": "Database"}
        assert "cannot be renamed" in api.refusal("PUT", f"{owner}/{noun}/web", body, status=400)
        api.ask("DELETE", f"{owner}/{noun}/db", status=204)
        missing = api.refusal("DELETE", f"{owner}/{noun}/nope", status=404)
        assert missing == f"{singular} 'nope' is not found for the {where}"


def test_nodes_are_named_and_labelled(api: Api) -> None:
    body = {"name": "first", "hostname": "first.example", "labels": {"rack": "a", "x": None}}
    told = api.ask("PUT", "nodes/1/", body)
    assert {key: told[key] for key in body} == body
    assert api.ask("PUT", "nodes/1", {"labels": {"rack": "b"}})["labels"] == {"rack": "b"}
    assert api.refusal("PUT", "nodes/1", {"name": "node-2"}, status=409)
    api.ask("PUT", "nodes/1", {}, status=400)
    api.ask("PUT", "nodes/1", {"labels": {"": "x"}}, status=400)
    assert api.ask("PUT", "nodes/2/attributes", {"disks": ["sda"]}) == {"disks": ["sda"]}
    assert api.ask("GET", "nodes/2/attributes") == {"disks": ["sda"]}


def test_repositories_of_a_release(api: Api) -> None:
    path = "releases/1/attributes_metadata"
    repos = [{"name": "main", "uri": "http://example.org", "type": "deb"}]
    told = api.ask("PUT", path, {"editable": {"repo_setup": {"repos": {"value": repos}}}})
    assert told["editable"]["repo_setup"]["repos"]["value"] == repos
    assert api.ask("GET", path) == told
    api.ask("PUT", path, {"editable": {}}, status=400)


def test_plugins_are_read_synchronised_and_removed(api: Api, env: Executions, tmp_path: Path) -> None:
    files = {"node_roles.yaml": {"watcher": role()}}
    plugin = env.backend.plugins.install(write_package(tmp_path / "monitor", files=files)).plugin

    (told,) = api.ask("GET", "plugins/")
    assert (told["id"], told["name"], told["version"]) == (plugin.id, plugin.name, plugin.version)
    assert {"os", "version"} <= told["releases"][0].keys()
    assert api.ask("GET", f"plugins/{plugin.id}") == told
    assert api.ask("POST", "plugins/sync/", data=b"") == {}  # as the original client: no body at all
    assert api.ask("POST", "plugins/sync", {"ids": [plugin.id]}) == {}
    api.ask("POST", "plugins/sync", {"ids": [99]}, status=404)
    assert api.raw("POST", "plugins/", {"name": "x"}).status_code == 405
    api.ask("DELETE", f"plugins/{plugin.id}", status=204)
    assert api.ask("GET", "plugins") == []


def test_sequences(api: Api) -> None:
    body = {"name": "seq", "graphs": [{"type": "default"}, {"type": "custom"}], "release": 1}
    made = api.ask("POST", "sequences/", body, status=201)
    assert made == {"id": 1, "name": "seq", "graphs": body["graphs"], "release_id": 1}
    assert (
        api.refusal("POST", "sequences/", body, status=409) == 'Sequence with name "seq" already exist for release 1.'
    )
    assert api.ask("GET", "sequences/?release=1") == api.ask("GET", "sequences/?cluster=1") == [made]
    assert api.refusal("GET", "sequences/?release=9", status=404) == "Release not found"
    changed = api.ask("PUT", "sequences/1/", {"name": "renamed", "graphs": [{"type": "x"}]})
    assert (changed["name"], changed["graphs"]) == ("renamed", [{"type": "x"}])
    assert api.ask("PATCH", "sequences/1", {"graphs": [{"type": "y"}]})["name"] == "renamed"
    api.ask("PUT", "sequences/1/", {"release": 2}, status=400)
    api.ask("PUT", "sequences/1/", {}, status=400)
    api.ask("DELETE", "sequences/1/", status=204)
    assert api.refusal("GET", "sequences/1/", status=404) == "DeploymentSequence not found"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"name": "s", "graphs": [{"type": "x"}]}, "'release' is a required property"),
        ({"name": "s", "graphs": [], "release": 1}, "deque(['graphs']): [] should be non-empty"),
        ({"name": "s", "graphs": [{"type": "a b"}], "release": 1}, "deque(['graphs', 0, 'type']): 'a b' does not"),
    ],
)  # fmt: skip
def test_sequences_that_are_refused(api: Api, body: dict[str, Any], told: str) -> None:
    assert told in api.refusal("POST", "sequences", body, status=400)


def test_deployment_facts(api: Api, mitaka: int) -> None:
    path = "clusters/1/orchestrator/deployment"
    assert api.ask("GET", path) == api.ask("GET", f"{path}/?split=1") == []
    sent: list[dict[str, Any]] = [{"uid": "1", "a": {"x": 1}}, {"uid": "master", "b": 2}, {"uid": "common", "c": 3}]
    assert api.ask("PUT", path, sent) == sent
    assert api.ask("GET", f"{path}/?split=1") == sent
    by_uid = {"common": {"a": {"y": 2}}, "nodes": {"2": {"d": 4}}}
    assert api.ask("PUT", path, by_uid) == by_uid
    assert api.ask("PUT", path, []) == []
    api.ask("PUT", path, [{"uid": "2", "d": 5}])
    assert api.ask("GET", f"{path}/?nodes=1") == [
        {"uid": "1", "a": {"x": 1, "y": 2}}, {"uid": "master", "b": 2, "a": {"y": 2}},
    ]  # fmt: skip
    split = api.ask("GET", f"{path}/?split=1")
    assert split[-1] == {"uid": "common", "a": {"y": 2}}
    assert {node["uid"]: node.get("d") for node in split[:-1]} == {"1": None, "2": 5, "master": None}
    assert api.refusal("PUT", path, [{"uid": "99"}], status=404) == "Node not found"
    api.ask("PUT", path, [{"a": 1}], status=400)
    assert api.ask("DELETE", path, status=202) == {}
    assert api.ask("GET", path) == []


def test_default_facts_have_the_master_and_the_common_part(api: Api, env: Executions, mitaka: int) -> None:
    path = "clusters/1/orchestrator/deployment/defaults"
    split = api.ask("GET", f"{path}/?split=1")
    assert [node["uid"] for node in split] == ["master", "1", "2", "3", "common"]
    assert [node["uid"] for node in api.ask("GET", f"{path}/?nodes=2")] == ["master", "2"]
    whole = {node["uid"]: node for node in api.ask("GET", path)}
    assert whole["2"] == {**split[-1], **split[2]}
    assert api.refusal("GET", f"{path}/?nodes=99", status=404) == "NodeCollection not found"
    env.backend.nodes.create([Node(9, "elsewhere", mitaka, pending_roles=("compute",))])
    assert api.refusal("GET", f"{path}/?nodes=9", status=400) == "Nodes 9 do not belong to cluster 1"

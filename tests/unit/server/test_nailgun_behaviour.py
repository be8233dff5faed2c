"""Where the server does as a Fuel master does, for clients that know no other: what begins, and what is told of it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from executions import Executions, shell, stage
from http_api import Api

from fuelclient.model.status import InstanceStatus
from fuelclient.model.task import Task
from fuelclient.store.database import Database

IDLE = Task("idle", {"type": "skipped", "roles": ["compute"]})
FIELDS = [
    "id", "cluster", "uuid", "name", "result", "message", "status", "progress", "dry_run", "graph_type", "time_start",
    "time_end",
]  # fmt: skip


def _body(*subgraphs: Any, **limits: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"cluster": 1, "graphs": [{"type": "default", **limits}]}
    return {**found, "subgraphs": list(subgraphs)} if subgraphs else found


@pytest.mark.parametrize(
    "body",
    [
        _body(tasks=["idle"]),
        _body(tasks=["s"]),
        _body({"start": ["idle/1,2"], "end": ["after/3"]}, {"start": ["idle"], "end": [None]}),
    ],
)
def test_a_selection_of_what_does_nothing_begins(api: Api, env: Executions, body: dict[str, Any]) -> None:
    after = Task("after", {"type": "skipped", "roles": ["compute"], "cross-depends": [{"name": "idle"}]})
    env.graph(stage("s"), IDLE, after, shell("a", env.note("a")))

    begun = api.ask("POST", "graphs/execute/", body, status=202)

    assert env.ended(begun["id"]).status == "ready"
    assert env.noted() == []
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}


@pytest.mark.parametrize("subgraph", [{"start": ["b"], "end": ["a"]}, {"start": ["a/1"], "end": ["a/2"]}])
def test_a_selection_of_nothing_is_refused(api: Api, env: Executions, subgraph: dict[str, Any]) -> None:
    env.graph(IDLE, shell("a"), shell("b", requires=["a"]))
    assert "leaves nothing" in api.refusal("POST", "graphs/execute", _body(subgraph), status=400)
    assert api.ask("GET", "transactions") == []


def test_a_subgraph_that_names_no_task_begins_and_fails(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    env.graph(shell("c", env.note("c")), graph_type="second")
    both = {**_body({"start": [None], "end": [None]}), "graphs": [{"type": "default"}, {"type": "second"}]}

    begun = api.ask("POST", "graphs/execute", both, status=202)

    ended = env.ended(begun["id"])
    assert (ended.status, ended.message.partition(" names")[0]) == ("error", "Graph default: The subgraph ''")
    assert [child.message for child in ended.children][1:] == ["Aborted"]
    assert env.noted() == []
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}
    assert env.backend.clusters.get(1).status == "new"
    unknown = {**both, "graphs": [{"type": "third"}]}
    assert "no deployment tasks for graph type 'third'" in api.refusal("POST", "graphs/execute", unknown, status=400)
    assert env.run(task_names=("a",)).status == "ready"


def test_a_run_has_the_fields_of_nailgun(api: Api, env: Executions) -> None:
    env.graph(shell("a"))
    env.graph(shell("c"), graph_type="second")
    one, both = env.run(), env.run("default", "second")
    failed = env.run(task_names=("a",), noop=True)

    found = api.ask("GET", f"transactions/{one.id}")
    assert list(found) == FIELDS
    assert (found["message"], found["result"], found["graph_type"], found["dry_run"]) == (None, {}, None, False)
    noop = api.ask("GET", f"transactions/{failed.id}")
    assert (noop["message"], noop["dry_run"]) == (failed.message or None, True)
    listed = api.ask("GET", "transactions?cluster_id=1")
    assert [record["graph_type"] for record in listed] == [None, "default", None, "default", "second", None, "default"]
    assert all(list(record) == FIELDS for record in listed)
    assert [record["id"] for record in listed if record["name"] == "deploy"] == [one.id, both.id, failed.id]


def test_only_tasks_name_the_run_that_they_are_parts_of(api: Api, env: Executions) -> None:
    env.graph(shell("a"))
    run = env.run()
    part = run.children[0].id

    assert "parent_id" not in api.ask("GET", f"transactions/{part}")
    assert api.ask("GET", f"tasks/{part}")["parent_id"] == run.id
    tasks = api.ask("GET", "tasks/?cluster_id=1")
    assert [(task["id"], task["parent_id"]) for task in tasks] == [(run.id, None), (part, run.id)]
    assert {*tasks[0]} == {*FIELDS, "parent_id"}
    assert api.refusal("GET", "tasks/99", status=404) == "Transaction not found"
    api.ask("GET", "tasks/?cluster_id=9", status=404)


def test_a_reset_runs_the_graph_that_says_what_it_is(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    told = api.refusal("PUT", "clusters/1/reset/?force=0", {}, status=400)
    assert "no graph of type reset, which resets nodes" in told
    api.ask("PUT", "clusters/9/reset/", {}, status=404)
    env.graph(shell("r", env.note("reset")), graph_type="reset")

    begun = api.ask("PUT", "clusters/1/reset/?force=0", {}, status=202)

    assert "parent_id" in begun
    assert [child.graph_type for child in env.backend.runs.get(begun["id"]).children] == ["reset"]
    assert env.ended(begun["id"]).status == "ready"
    assert env.noted() == ["reset"] * 3


def test_networks_that_were_not_recorded_are_null(api: Api, env: Executions) -> None:
    env.graph(shell("a"))
    run = env.run()
    assert api.ask("GET", f"transactions/{run.id}/network_configuration") is None, "a run of graphs has no records"
    path = f"transactions/{run.children[0].id}/network_configuration"
    assert [network["name"] for network in api.ask("GET", path)["networks"]] == ["fuelweb_admin"]
    with closing(Database(str(env.engine))) as database, database.write() as connection:
        connection.execute("DELETE FROM transaction_facts WHERE uid = '/networks'")
    assert api.ask("GET", path) is None
    api.ask("GET", "transactions/99/network_configuration", status=404)


@pytest.mark.parametrize("number", ["1e400", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_refused_where_it_stands(api: Api, env: Executions, number: str) -> None:
    text = f'{{"editable": {{"common": {{"sizes": [1.5, {{"a": {number}}}]}}}}}}'
    before = api.ask("GET", "clusters/1/attributes")
    answer = api.app.test_client().put("/api/v1/clusters/1/attributes", data=text)
    assert answer.status_code == 400
    said = f"the value of editable.common.sizes[1].a is {number},"
    assert said in answer.get_json()["message"]
    assert api.ask("GET", "clusters/1/attributes") == before


@pytest.mark.parametrize(
    ("path", "body", "noun"),
    [
        ("clusters", {"name": "a\x07b", "release_id": 1}, "environment"),
        ("nodes", {"name": "a\x1b[2J", "mac": ""}, "node"),
        ("sequences", {"name": "a\nb", "release": 1, "graphs": [{"type": "default"}]}, "sequence"),
        ("releases/1/roles", {"name": "a\x07", "meta": {}, "volumes_roles_mapping": []}, "role"),
        ("clusters/1/roles", {"name": "a/b", "meta": {}, "volumes_roles_mapping": []}, "role"),
        ("releases/1/tags", {"name": "a\x9b", "meta": {}}, "tag"),
    ],
)
def test_names_can_be_printed(api: Api, env: Executions, path: str, body: dict[str, Any], noun: str) -> None:
    before = api.ask("GET", path)
    told = api.refusal("POST", path, body, status=400)
    assert f"cannot be the name of {'an' if noun == 'environment' else 'a'} {noun}" in told
    assert told.isprintable()
    assert api.ask("GET", path) == before


@pytest.mark.parametrize("noun", ["role", "tag"])
@pytest.mark.parametrize("end", ["", "/"])
def test_no_role_has_a_slash_in_its_name(api: Api, noun: str, end: str) -> None:
    path = f"releases/1/{noun}s/a/b{end}"
    missing = f"{noun.capitalize()} 'a/b' is not found for the release 1"
    for method in ("GET", "DELETE"):
        assert api.refusal(method, path, status=404) == missing
    body = {"name": "a/b", "meta": {}, **({"volumes_roles_mapping": []} if noun == "role" else {})}
    assert api.refusal("PUT", path, body, status=404) == missing
    assert "does not exist" in api.plain("GET", f"releases/1/{noun}s/a/b//", status=404)


def test_the_name_of_a_graph_can_be_printed(api: Api, env: Executions) -> None:
    path, task = "clusters/1/deployment_graphs/custom", {"id": "a", "type": "stage"}
    told = api.ask("POST", path, {"name": "a\x07", "tasks": [task]}, status=400)
    assert [one["code"] for one in told["errors"]] == ["G016"]
    assert repr("a\x07") in told["errors"][0]["message"]
    api.ask("GET", path, status=404)


def test_an_environment_is_renamed_to_what_can_be_printed(api: Api, env: Executions) -> None:
    api.refusal("PUT", "clusters/1", {"name": "a\tb"}, status=400)
    assert api.ask("PUT", "clusters/1", {"name": "Köln 東京"})["name"] == "Köln 東京"


def test_every_status_of_an_instance_can_be_asked_for(api: Api, env: Executions) -> None:
    env.graph(shell("a"), IDLE)
    run = env.run()
    path = f"transactions/{run.children[0].id}/deployment_history?statuses="
    found = {status: len(api.ask("GET", f"{path}{status}")) for status in InstanceStatus}
    assert found == {"pending": 0, "running": 0, "ready": 3, "error": 0, "skipped": 3}

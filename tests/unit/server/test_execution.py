"""Execution over HTTP: real runs, their transactions and their history."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from executions import Executions, shell, stage
from http_api import Api

from fuelclient.model.node import Node
from fuelclient.serializers.run import history_row_from


def test_a_run_is_begun_followed_and_read(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.note("a")), shell("b", "exit 3", requires=["a"], fail_on_error=False))
    body = {
        "cluster": 1, "graphs": [{"type": "default", "nodes": [1, 2]}], "dry_run": False, "noop_run": False,
        "force": False, "debug": False,
    }  # fmt: skip

    begun = api.ask("POST", "graphs/execute/", body, status=202)

    assert (begun["cluster"], begun["name"], begun["graph_type"], begun["parent_id"]) == (1, "deploy", None, None)
    (part,) = env.ended(begun["id"]).children
    found = api.ask("GET", f"transactions/{begun['id']}/")
    assert (found["status"], found["progress"]) == ("ready", 100)
    assert env.noted() == ["a", "a"]

    assert api.ask("GET", f"transactions/{begun['id']}/deployment_history") == []
    path = f"transactions/{part.id}/deployment_history"
    rows = api.ask("GET", f"{path}/?include_summary=0&nodes=1&tasks_names=a")
    assert [(row["task_name"], row["node_id"], row["status"]) for row in rows] == [("a", "1", "ready")]
    assert {"type", "parameters", "roles", "role", "version"} <= rows[0].keys()
    assert not {"summary", "instance", "id"} & rows[0].keys()
    assert {row["task_name"] for row in api.ask("GET", f"{path}/?statuses=skipped")} == {"b"}
    told = [history_row_from(row) for row in api.ask("GET", f"{path}?include_summary=1")]
    assert [(row.task, row.node, row.status, row.summary) for row in told] == [
        (row.task, row.node, row.status, row.summary) for row in env.rows(begun["id"])
    ]
    assert "Statuses parameter could be only: pending" in api.refusal("GET", f"{path}?statuses=lost", status=400)


def test_history_as_csv(api: Api, env: Executions) -> None:
    env.graph(shell("a"))
    found = env.run(node_ids=(1,))
    header = api.raw("GET", f"transactions/{found.id}/deployment_history/", headers={"Accept": "text/csv"}).text

    part = found.children[0].id
    answer = api.raw("GET", f"transactions/{part}/deployment_history/", headers={"Accept": "text/csv"})

    assert answer.mimetype == "text/csv"
    columns, row = list(csv.reader(io.StringIO(answer.text)))
    assert columns == ["task_name", "node_id", "status", "type", "time_start", "time_end"]
    assert row[:4] == ["a", "1", "ready", "shell"]
    assert header == ",".join(columns) + "\r\n"


def test_what_a_run_saw(api: Api, env: Executions) -> None:
    """Only the run of a graph has records, as in Nailgun; the run that was asked for has none."""
    env.graph(shell("a"))
    found = env.run()
    part = found.children[0].id
    info = api.ask("GET", f"transactions/{part}/deployment_info")
    assert {"1", "2", "3", "master"} <= set(info["nodes"])
    assert info["common"]["cluster"]["name"] == "prod"
    assert api.ask("GET", f"transactions/{part}/settings") == {"editable": {}, "generated": {}}
    assert api.ask("GET", f"transactions/{found.id}/deployment_info") == {}
    assert api.ask("GET", f"transactions/{found.id}/settings") is None
    api.ask("GET", "transactions/99/settings", status=404)


def test_listings_and_deletion(api: Api, env: Executions) -> None:
    env.graph(shell("a", "exit 1"))
    failed = env.run()
    assert failed.status == "error"
    assert [one["name"] for one in api.ask("GET", "transactions/")] == ["deploy", "deployment"]
    query = "cluster_id=1&statuses=ready%2Cerror&transaction_types=deploy"
    assert [one["id"] for one in api.ask("GET", f"transactions/?{query}")] == [failed.id]
    assert api.ask("GET", "transactions/?statuses=running") == []
    api.ask("GET", "transactions/?cluster_id=9", status=404)
    child = failed.children[0].id
    assert f"part of run {failed.id}" in api.refusal("DELETE", f"transactions/{child}?force=0", status=409)
    api.ask("DELETE", f"transactions/{failed.id}/?force=0", status=204)
    assert api.refusal("DELETE", f"transactions/{failed.id}/?force=1", status=404) == "Transaction not found"


def test_a_run_is_stopped_and_keeps_others_out(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.held("a")), shell("b", requires=["a"]))
    body = {"cluster": 1, "graphs": [{"type": "default"}]}
    begun = api.ask("POST", "graphs/execute", body, status=202)
    env.until(begun["id"], lambda _: env.noted())

    refused = api.ask("POST", "graphs/execute", body, status=409)
    assert refused["message"] == "Deployment already started"
    assert f"Run {begun['id']} " in refused["errors"][0]
    told = api.refusal("DELETE", f"transactions/{begun['id']}", status=400)
    assert told == "You cannot delete running task manually"
    told = api.refusal("DELETE", "clusters/1/", status=400)
    assert told == "Can't delete environment '1' when running deployment task exists."
    assert api.plain("PUT", "clusters/1/changes", status=400) == (
        "Cannot perform the actions because there are another running tasks."
    )
    env.graph(shell("r"), graph_type="reset")
    assert api.plain("PUT", "clusters/1/reset/", status=400) == (
        "Can't reset environment '1' when running deployment task exists."
    )
    stopped = api.ask("PUT", "clusters/1/stop_deployment/", {}, status=202)
    assert stopped["id"] == begun["id"]
    assert env.backend.runs.get(begun["id"]).stop == "graceful"
    env.backend.runs.stop(begun["id"], kill=True)
    env.ended(begun["id"])
    assert "Nothing to stop" in api.refusal("PUT", "clusters/1/stop_deployment/", {}, status=409)


def test_without_nodes_the_master_and_the_stages_run(api: Api, env: Executions) -> None:
    env.graph(
        stage("start"), shell("m", env.note("master"), roles=["master"], requires=["start"]), shell("a", env.note("a")),
        shell("late", env.note("late"), roles=["master"], cross_depends=[{"name": "a", "role": "*"}]),
    )  # fmt: skip
    env.graph(stage("only"), shell("b"), graph_type="idle")
    both = [{"type": "default", "nodes": []}, {"type": "idle", "nodes": []}]

    begun = api.ask("POST", "graphs/execute/", {"cluster": 1, "graphs": both}, status=202)

    assert env.ended(begun["id"]).status == "ready"
    assert sorted(env.noted()) == ["late", "master"]
    assert {row.task for row in env.rows(begun["id"]) if row.node != "-"} == {"start", "m", "late", "only"}
    assert env.backend.runs.get(begun["id"]).request.master_only
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}


def asked_for(env: Executions, begun: dict[str, Any]) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
    """The graph types, nodes and tasks of a run that has begun."""
    request = env.backend.runs.get(begun["id"]).request
    return request.graph_types, request.node_ids, request.task_names


def test_nodes_are_provisioned_by_the_graph_for_that(api: Api, env: Executions) -> None:
    """By default those that have no operating system yet."""
    env.graph(shell("a"))
    path = "clusters/1/provision/?dry_run=1"
    assert "no graph of type provision or provisioning" in api.refusal("PUT", path, {}, status=400)
    env.graph(shell("p"), graph_type="provision")
    assert "no nodes to provision" in api.refusal("PUT", path, status=400)
    assert api.refusal("PUT", f"{path}&nodes=99", status=404) == "NodeCollection not found"

    begun = api.ask("PUT", f"{path}&nodes=2,3", {}, status=202)

    assert asked_for(env, begun) == (("provision",), (2, 3), ())
    env.backend.nodes.create([Node(0, "new", 1, "discover", pending_roles=("compute",), executor="local")])
    assert asked_for(env, api.ask("PUT", path, {}, status=202)) == (("provision",), (4,), ())


def test_the_other_ways_to_begin_a_run(api: Api, env: Executions) -> None:
    """All of them plan only, so that none has to end before the next."""
    env.graph(shell("a"), shell("b"))
    env.graph(shell("c"), graph_type="fix")
    dry = "dry_run=1&noop_run=0"

    def types(told: dict[str, Any]) -> list[str]:
        assert told["dry_run"] is True
        return [child.graph_type for child in env.backend.runs.get(told["id"]).children]

    assert types(api.ask("PUT", f"clusters/1/changes?{dry}", {}, status=202)) == ["default"]
    redeployed = api.ask("PUT", f"clusters/1/changes/redeploy?{dry}", {}, status=202)
    assert env.backend.runs.get(redeployed["id"]).request.force
    deployed = api.ask("PUT", f"clusters/1/deploy/?nodes=1,2&force=1&graph_type=fix&{dry}", {}, status=202)
    assert types(deployed) == ["fix"]
    assert asked_for(env, deployed) == (("fix",), (1, 2), ())
    some = api.ask("PUT", f"clusters/1/deploy_tasks?{dry}", ["b", "b"], status=202)
    assert asked_for(env, some) == (("default",), (), ("b",))
    env.backend.sequences.create(1, "deploy-changes", ["fix", "default"])
    assert types(api.ask("PUT", f"clusters/1/changes?{dry}", {}, status=202)) == ["fix", "default"]
    run = {"cluster": 1, "dry_run": True, "noop_run": False, "force": False, "debug": False}
    assert types(api.ask("POST", "sequences/1/execute/", run, status=202)) == ["fix", "default"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("POST", "graphs/execute/", {"cluster": 99, "graphs": [{"type": "default"}]}, 404, "Cluster not found"),
        ("POST", "graphs/execute/", {"graphs": [{"type": "default"}]}, 400, "'cluster' is a required property"),
        ("POST", "graphs/execute/", {"cluster": 1, "graphs": []}, 400, "deque(['graphs']): [] should be non-empty"),
        ("POST", "graphs/execute/", {"cluster": 1, "graphs": [{"type": "fix"}], "executor": "noop"}, 400, "'executor'"),
        ("POST", "graphs/execute/", {"cluster": 1, "graphs": [{"type": 5}]}, 400, "5 is not of type 'string'"),
        (
            "POST", "graphs/execute/", {"cluster": 1, "graphs": [{"type": "default", "nodes": [7]}]}, 400,
            "Nodes 7 do not belong to the same cluster 1",
        ),
        (
            "POST", "graphs/execute/", {"cluster": 1, "graphs": [{"type": "fix", "nodes": []}, {"type": "fix"}]}, 400,
            "cannot have different nodes",
        ),
        (
            "POST", "graphs/execute/", {"cluster": 1, "graphs": [{"type": "default", "tasks": ["zzz"]}]}, 404,
            "Task zzz does not exist",
        ),
        (
            "PUT", "clusters/1/deploy?graph_type=nope", None, 400,
            "There are no deployment tasks for graph type 'nope'. Checked cluster (ID=1), its plugins and release (ID",
        ),
        ("PUT", "clusters/1/deploy_tasks", [], 400, "Tasks list must be specified."),
        ("PUT", "clusters/1/deploy_tasks", ["yy", "zz"], 400, "Tasks yy,zz are not present in deployment graph"),
        ("POST", "sequences/9/execute", {"cluster": 1}, 404, "DeploymentSequence not found"),
    ],
)  # fmt: skip
def test_what_cannot_be_run(
    api: Api, env: Executions, method: str, path: str, body: Any, status: int, told: str
) -> None:
    env.graph(shell("a"))
    assert told in api.refusal(method, path, body, status=status)
    assert api.ask("GET", "transactions") == []


def test_a_graph_without_tasks_is_refused_by_deploy_only(api: Api, env: Executions) -> None:
    """As in Nailgun, where `graphs/execute` runs it."""
    env.graph()
    told = "There are no deployment tasks for graph type 'default'. Checked cluster (ID=1), its plugins and release"
    assert told in api.refusal("PUT", "clusters/1/deploy", None, status=400)

    started = api.ask(
        "POST", "graphs/execute", {"cluster": 1, "graphs": [{"type": "default", "nodes": []}]}, status=202
    )

    assert env.ended(started["id"]).status == "ready"


def test_a_sequence_of_another_release_cannot_be_run(api: Api, env: Executions, mitaka: int) -> None:
    sequence = env.backend.sequences.create(1, "seq", ["default"])
    told = api.refusal("POST", f"sequences/{sequence.id}/execute", {"cluster": mitaka}, status=404)
    assert told == "Sequence 'seq' is not found for cluster mitaka"


def test_graph_without_order_is_refused_with_findings(api: Api, env: Executions) -> None:
    env.graph(shell("a", requires=["b"]), shell("b", requires=["a"]))
    found = api.ask("POST", "graphs/execute", {"cluster": 1, "graphs": [{"type": "default"}]}, status=400)
    assert {one["code"] for one in found["errors"]} == {"G050"}

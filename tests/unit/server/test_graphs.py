"""Graphs over HTTP: by owner and type, by id, merged, and as the original client uploads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from executions import Executions, shell, stage
from http_api import Api
from package_trees import task, write_package

from fuelclient.model.node import Node
from fuelclient.model.release import Release

TASKS: list[dict[str, Any]] = [
    {"id": "t1", "type": "shell", "parameters": {"cmd": "true"}},
    {"id": "t2", "type": "stage", "requires": ["t1"]},
]
OWN = "clusters/1/deployment_graphs"


@pytest.mark.parametrize("owner", ["clusters/1", "releases/1"])
def test_a_graph_of_a_type_lives_and_dies(api: Api, owner: str) -> None:
    path = f"{owner}/deployment_graphs/custom"
    assert api.refusal("GET", path, status=404) == "Graph with type: custom is not defined"
    made = api.ask("POST", path, {"tasks": TASKS})
    assert [one["id"] for one in made["tasks"]] == ["t1", "t2"]
    assert made["relations"] == [{"type": "custom", "model": owner[:-3], "model_id": 1}]
    assert api.refusal("POST", path, {"tasks": []}, status=409) == (
        'Deployment graph with type "custom" already exist.'
    )
    for method in ("PUT", "PATCH"):
        changed = api.ask(method, path, {"name": "Nice"})
        assert (changed["id"], changed["name"], len(changed["tasks"])) == (made["id"], "Nice", 2)
        assert [one["id"] for one in api.ask(method, path, {"tasks": TASKS[:1]})["tasks"]] == ["t1"]
        assert api.ask(method, path, {"tasks": TASKS})["name"] == "Nice"
    assert api.ask("PUT", path, {"tasks": []})["tasks"] == []
    api.ask("DELETE", path, status=204)
    for method, body in (("DELETE", None), ("PUT", {}), ("PATCH", {}), ("GET", None)):
        assert api.refusal(method, path, body, status=404) == "Graph with type: custom is not defined"


def test_metadata_of_a_graph(api: Api) -> None:
    body = {"name": "N", "tasks": [], "node_filter": "$.status = ready", "on_success": {}, "on_error": {
        "node_attributes": {"status": "error"}}}  # fmt: skip
    made = api.ask("POST", f"{OWN}/m", body)
    assert {key: made[key] for key in body} == body
    assert "on_stop" not in made
    assert api.ask("PUT", f"{OWN}/m", made)["node_filter"] == "$.status = ready"  # what was read can be written


def test_graphs_by_their_id(api: Api) -> None:
    made = api.ask("POST", f"{OWN}/x", {"tasks": TASKS})
    path = f"graphs/{made['id']}"
    assert api.ask("GET", path)["tasks"] == made["tasks"]
    assert api.ask("PUT", path, {"name": "N"})["name"] == "N"
    assert api.ask("PATCH", f"{path}/", {"tasks": []})["tasks"] == []
    api.ask("DELETE", path, status=204)
    for method, body in (("GET", None), ("PUT", {}), ("DELETE", None)):
        assert api.refusal(method, path, body, status=404) == "DeploymentGraph not found"


def test_listings_and_their_filters(api: Api, env: Executions, mitaka: int, tmp_path: Path) -> None:
    package = write_package(tmp_path / "p", files={"deployment_tasks.yaml": [task("p")]})
    plugin = env.backend.plugins.install(package).plugin.id
    env.backend.plugins.enable(plugin, mitaka)
    release_id = env.backend.clusters.get(mitaka).release_id
    api.ask("POST", f"clusters/{mitaka}/deployment_graphs/custom", {"tasks": TASKS})

    def found(query: str) -> set[tuple[str, int, str]]:
        told = [one["relations"][0] for one in api.ask("GET", f"graphs/?{query}")]
        return {(one["model"], one["model_id"], one["type"]) for one in told}

    own = {("cluster", mitaka, "default"), ("cluster", mitaka, "custom")}
    release, brought = ("release", release_id, "default"), ("plugin", plugin, "default")
    assert found("") == {*own, release, brought, ("cluster", 1, "default"), ("release", 1, "default")}
    assert found(f"clusters_ids={mitaka}") == own
    assert found(f"clusters_ids={mitaka}&fetch_related=1") == {*own, release, brought}
    assert found(f"releases_ids={release_id}&plugins_ids={plugin}") == {release, brought}
    assert found("graph_types=custom") == {("cluster", mitaka, "custom")}
    assert found(f"clusters_ids={mitaka}&graph_types=default") == {("cluster", mitaka, "default")}
    assert found("clusters_ids=99") == set()
    assert len(api.ask("GET", f"clusters/{mitaka}/deployment_graphs/?fetch_related=1")) == 2
    assert len(api.ask("GET", f"plugins/{plugin}/deployment_graphs")) == 1


def test_layers_and_the_merge(api: Api) -> None:
    def stage(name: str, **more: Any) -> dict[str, Any]:
        return {"id": name, "type": "stage", **more}

    api.ask("PUT", "releases/1/deployment_tasks", [stage("base"), {**TASKS[0], "id": "net"}])
    api.ask("PUT", "clusters/1/deployment_tasks", [{"id": "net", "parameters": {"timeout": 7}}, stage("own")])

    merged = api.ask("GET", "clusters/1/deployment_tasks/")
    assert [one["id"] for one in merged] == ["base", "net", "own"]
    assert merged[1]["parameters"] == {"cmd": "true", "timeout": 7}
    assert [one["id"] for one in api.ask("GET", "clusters/1/deployment_tasks/own/")] == ["net", "own"]
    assert api.ask("GET", "clusters/1/deployment_tasks/plugins/") == []
    released = api.ask("GET", "clusters/1/deployment_tasks/release/")
    assert [one["id"] for one in released] == ["base", "net"]
    assert api.ask("GET", "releases/1/deployment_tasks/") == released


def test_a_type_that_no_layer_has_has_no_tasks(api: Api) -> None:
    for path in ("clusters/1/deployment_tasks", "clusters/1/deployment_tasks/own", "releases/1/deployment_tasks"):
        api.ask("PUT", path.removesuffix("/own"), TASKS)
        assert api.ask("GET", f"{path}/?graph_type=nope") == []
        assert [one["id"] for one in api.ask("GET", f"{path}/?graph_type=")] == ["t1", "t2"]  # as the default one


def test_own_tasks_of_a_new_type(api: Api) -> None:
    told = api.ask("PUT", "clusters/1/deployment_tasks/?graph_type=new", TASKS)
    assert [one["id"] for one in told] == ["t1", "t2"]
    assert api.ask("GET", f"{OWN}/new")["tasks"] == told
    api.ask("PUT", "clusters/1/deployment_tasks/?graph_type=a b", TASKS, status=400)


def test_uploads_that_are_refused_change_nothing(api: Api) -> None:
    path = f"{OWN}/x"
    api.ask("POST", path, {"tasks": TASKS})
    for body, told in (
        ({"tasks": 42}, "deque(['tasks']): 42 is not of type 'array'"),
        ({"tasks": [{"id": "a", "type": "odd"}]}, "deque(['tasks', 0, 'type']): 'odd' is not one of ['puppet',"),
        ({"tasks": [], "title": "x"}, "Additional properties are not allowed ('title' was unexpected)"),
        ({"tasks": [{"id": "a"}]}, "The x graph of environment 1 is not stored"),
        ({"tasks": [*TASKS, *TASKS]}, "Tasks duplication found: t1, t2"),
        ([], "[] is not of type 'object'"),
    ):  # fmt: skip
        assert told in api.refusal("PUT", path, body, status=400)
    assert [one["id"] for one in api.ask("GET", path)["tasks"]] == ["t1", "t2"]


def test_entries_of_a_plugin_may_be_without_an_id(api: Api, env: Executions, tmp_path: Path) -> None:
    plugin = env.backend.plugins.install(write_package(tmp_path / "p")).plugin
    entry = {"stage": "post_deployment/50", "type": "shell", "role": ["compute"], "parameters": {"cmd": "true"}}
    made = api.ask("POST", f"plugins/{plugin.id}/deployment_graphs/own", {"tasks": [entry]})
    assert [one["id"] for one in made["tasks"]] == [f"{plugin.name}:post_deployment#1"]
    assert "'id' is a required property" in api.refusal("POST", f"{OWN}/own", {"tasks": [entry]}, status=400)


def test_falsy_values_and_unknown_keys_survive(api: Api) -> None:
    sent = {"id": "a", "type": "shell", "condition": False, "x_note": None, "parameters": {"cmd": "", "n": 0}}
    api.ask("POST", f"{OWN}/x", {"tasks": [sent]})
    (stored,) = api.ask("GET", f"{OWN}/x")["tasks"]
    assert {key: stored[key] for key in sent} == sent


def test_tasks_have_the_spellings_of_nailgun(api: Api) -> None:
    """Both names of attributes that have two, a version, and a lone `*` or `master` as text; partial records get no
    version, which would override that of the release."""
    relations = [{"name": "b", "role": "self"}]
    sent = [
        {"id": "a", "type": "shell", "role": ["*"], "cross-depends": relations, "cross-depended-by": relations},
        {"id": "b", "type": "shell", "version": "2.1.0", "roles": ["master"]},
        {"id": "c", "type": "shell", "groups": ["controller"]},
        {"id": "d", "roles": ["compute", "storage"]},
    ]
    wanted = [
        {
            "id": "a", "task_name": "a", "type": "shell", "version": "1.0.0", "role": "*", "roles": "*",
            "cross-depends": relations, "cross_depends": relations, "cross-depended-by": relations,
            "cross_depended_by": relations,
        },
        {"id": "b", "task_name": "b", "type": "shell", "version": "2.1.0", "role": "master", "roles": "master"},
        {"id": "c", "task_name": "c", "type": "shell", "version": "1.0.0", "groups": ["controller"]},
        {"id": "d", "task_name": "d", "role": ["compute", "storage"], "roles": ["compute", "storage"]},
    ]  # fmt: skip

    api.ask("POST", "releases/1/deployment_graphs/x", {"tasks": [{"id": "d", "type": "shell"}]})
    stored = api.ask("POST", f"{OWN}/x", {"tasks": sent})

    assert stored["tasks"] == wanted
    assert api.ask("GET", f"graphs/{stored['id']}")["tasks"] == wanted
    assert api.ask("GET", "clusters/1/deployment_tasks/own/?graph_type=x") == wanted
    assert api.ask("PUT", f"{OWN}/x", {"tasks": wanted, "name": "again"})["tasks"] == wanted


def test_what_an_orchestrator_would_be_sent(api: Api, env: Executions) -> None:
    env.graph(shell("a"), shell("b", cross_depends=[{"name": "a", "role": "compute"}]), shell("c", requires=["b"]))

    found = api.ask("GET", "clusters/1/serialized_tasks/?nodes=1,2&tasks=a,b")["tasks_graph"]

    assert found.keys() == {"null", "1", "2"}
    assert [(one["id"], one["type"]) for one in found["1"]] == [("a", "shell"), ("b", "shell"), ("c", "skipped")]
    assert found["2"][1]["requires"] == [{"name": "a", "node_id": "1"}, {"name": "a", "node_id": "2"}]
    assert found["1"][0]["parameters"]["cmd"] == "true"
    assert "parameters" not in found["1"][2]
    assert not found["1"][2]["fail_on_error"]
    assert api.refusal("GET", "clusters/1/serialized_tasks/?nodes=99", status=404) == "NodeCollection not found"
    assert api.ask("GET", "clusters/1/serialized_tasks/?graph_type=nope")["tasks_graph"] == {"null": []}


def test_an_orchestrator_is_sent_what_a_first_run_would_do(api: Api, env: Executions) -> None:
    """Conditions and expressions are evaluated, and a task that names its successors keeps them."""
    env.graph(
        shell("a", "echo {CLUSTER_ID}", required_for=["b"]),
        shell("b", condition={"yaql_exp": "changed($.uid)"}),
        shell("c", condition=False, cross_depends=[{"name": {"yaql_exp": "'b'"}, "role": "self"}]),
    )
    env.run()

    first, second, third = api.ask("GET", "clusters/1/serialized_tasks/?nodes=1")["tasks_graph"]["1"]

    assert first["required_for"] == [{"name": "b", "node_id": "1"}]
    assert first["parameters"] == {"cmd": "echo 1", "timeout": 60, "retries": 0, "cwd": "/"}
    assert (second["type"], "requires" in second) == ("shell", False)
    assert third == {
        "id": "c", "type": "skipped", "fail_on_error": False, "requires": [{"name": "b", "node_id": "1"}],
    }  # fmt: skip


def test_instance_that_names_itself_is_sent_and_runs(api: Api, env: Executions) -> None:
    env.graph(shell("a", cross_depends=[{"name": "/.*/", "role": "self"}]))

    (sent,) = api.ask("GET", "clusters/1/serialized_tasks/?nodes=1")["tasks_graph"]["1"]

    assert sent["requires"] == [{"name": "a", "node_id": "1"}]
    assert env.run(node_ids=(1,)).status == "ready"


def test_serialized_tasks_know_the_nodes_of_the_environment(api: Api, env: Executions, mitaka: int) -> None:
    """A name of a task that no task has leaves out everything, and a node elsewhere is refused."""
    env.graph(shell("a"))
    env.backend.nodes.create([Node(9, "elsewhere", mitaka, pending_roles=("compute",))])

    found = api.ask("GET", "clusters/1/serialized_tasks/?tasks=nosuch")["tasks_graph"]

    assert [(task["id"], task["type"]) for task in found["1"]] == [("a", "skipped")]
    refused = api.refusal("GET", "clusters/1/serialized_tasks/?nodes=1,9", status=400)
    assert refused == "Nodes 9 do not belong to cluster 1"


@pytest.mark.parametrize(("version", "status"), [("mitaka-9.0", 400), ("newton-10.0", 200), ("pike-12.0", 200)])
@pytest.mark.parametrize(
    "tasks", [[{"requires": ["ghost"]}], [{"groups": ["ghost"]}], [{"requires": ["b"]}, {"requires": ["a"]}]]
)
def test_old_tasks_are_checked_on_old_releases_only(
    api: Api, env: Executions, version: str, status: int, tasks: list[dict[str, Any]]
) -> None:
    """Runs take names that no task has; the relations of a cycle are sent as they are stated."""
    stated = Release(0, "R", version, metadata={"roles_metadata": {"compute": {}}})
    (release,) = env.backend.releases.create([stated])
    made = env.backend.clusters.create("other", release.id)
    env.backend.nodes.create([Node(0, "n", cluster_id=made.id, pending_roles=("compute",))])
    old = {"type": "shell", "roles": ["compute"], "parameters": {"cmd": "true", "timeout": 5}}
    api.ask(
        "PUT", f"clusters/{made.id}/deployment_graphs/default/",
        {"tasks": [{"id": name, **old, **more} for name, more in zip("ab", tasks, strict=False)]},
    )  # fmt: skip

    answer = api.raw("GET", f"clusters/{made.id}/serialized_tasks/")

    assert answer.status_code == status, answer.text
    if status == 200 and len(tasks) == 2:
        (sent,) = (found for uid, found in answer.get_json()["tasks_graph"].items() if uid != "null")
        assert [one["requires"][0]["name"] for one in sent] == ["b", "a"]


def test_a_refused_run_names_an_error_as_its_reason(api: Api, env: Executions) -> None:
    env.graph(shell("a", requires=["ghost"]), shell("b", parameters={"cmd": "true", "timeout": "soon"}))
    error = api.refusal("POST", "graphs/execute/", {"cluster": 1, "graphs": [{"type": "default"}]}, status=400)
    assert "ghost" not in error
    assert "timeout" in error


def test_an_environment_without_nodes_has_tasks_for_none(api: Api, env: Executions) -> None:
    env.graph(stage("start"), shell("a", requires=["start"]))
    env.backend.clusters.remove_nodes(1, None)

    found = api.ask("GET", "clusters/1/serialized_tasks/")["tasks_graph"]

    assert {uid: [one["id"] for one in tasks] for uid, tasks in found.items()} == {"null": ["start"]}

"""What clients of Nailgun send and expect: what GET returned, both ways to run dry, roles, tags and ended tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from executions import Executions, shell
from http_api import Api
from package_trees import write_package

DEBUG = {"type": "checkbox", "value": False, "label": "Debug", "weight": 10}


@pytest.fixture
def plugin(api: Api, env: Executions, mitaka: int, tmp_path: Path) -> str:
    """A plugin that is enabled in the environment `mitaka`, and its name."""
    files = {"environment_config.yaml": {"attributes": {"debug": DEBUG}}}
    installed = env.backend.plugins.install(write_package(tmp_path / "package", files=files)).plugin
    env.backend.plugins.enable(installed.id, mitaka)
    return installed.name


def test_what_get_returned_may_be_put(api: Api, env: Executions, mitaka: int, plugin: str) -> None:
    node = env.backend.nodes.list()[0].id
    for path in ("clusters/1", f"clusters/{mitaka}", f"nodes/{node}", "releases/1", "releases/2", "plugins/1"):
        before = api.ask("GET", path)
        assert api.ask("PUT", path, {**before, "nosuch": 1}) == before, path
        other = {"id": 99} if "status" not in before else {"status": "error"}
        assert "cannot change" in api.refusal("PUT", path, {**before, **other}, status=400)
        assert api.ask("GET", path) == before
    changed = {**api.ask("GET", "clusters/1"), "name": "renamed"}
    assert api.ask("PUT", "clusters/1", changed) == changed
    named = api.ask("PUT", f"nodes/{node}", {**api.ask("GET", f"nodes/{node}"), "labels": {"rack": "7"}})
    assert named["labels"] == {"rack": "7"}


def test_a_dry_run_with_noop_run_is_a_dry_run(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    both = {"cluster": 1, "dry_run": True, "noop_run": True}
    sequence = api.ask("POST", "sequences", {"name": "s", "release": 1, "graphs": [{"type": "default"}]}, status=201)
    for method, path, body in (
        ("POST", "graphs/execute", {**both, "graphs": [{"type": "default"}]}),
        ("POST", f"sequences/{sequence['id']}/execute", both),
        ("PUT", "clusters/1/changes?dry_run=1&noop_run=1", None),
        ("PUT", "clusters/1/changes/redeploy?dry_run=1&noop_run=1", None),
        ("PUT", "clusters/1/deploy?dry_run=1&noop_run=1", None),
        ("PUT", "clusters/1/deploy_tasks?dry_run=1&noop_run=1", ["a"]),
    ):
        begun = api.ask(method, path, body, status=202)
        request = api.ask("GET", f"transactions/{begun['id']}?include_details=1")["request"]
        assert (request["dry_run"], request["noop_run"]) == (True, False), path
    assert env.noted() == []


def test_a_null_version_disables_a_plugin(api: Api, mitaka: int, plugin: str) -> None:
    path = f"clusters/{mitaka}/attributes"
    for method in ("PUT", "PATCH"):
        off = {"editable": {plugin: {"metadata": {"enabled": False, "chosen_id": None}}}}
        assert not api.ask(method, path, off)["editable"][plugin]["metadata"]["enabled"]
        on = {"editable": {plugin: {"metadata": {"enabled": True, "chosen_id": None}}}}
        assert api.ask(method, path, on)["editable"][plugin]["metadata"]["enabled"]


def test_defaults_have_the_sections_of_plugins(api: Api, mitaka: int, plugin: str) -> None:
    path = f"clusters/{mitaka}/attributes"
    changed = {"editable": {"common": {"debug": {"value": True}}, plugin: {"debug": {"value": True}}}}
    api.ask("PATCH", path, changed)
    now, defaults = api.ask("GET", path)["editable"], api.ask("GET", f"{path}/defaults")["editable"]
    assert now.keys() == defaults.keys() == {"common", plugin}
    assert (now[plugin]["debug"]["value"], defaults[plugin]["debug"]["value"]) == (True, False)
    assert (now["common"]["debug"]["value"], defaults["common"]["debug"]["value"]) == (True, False)
    assert now[plugin]["metadata"] == defaults[plugin]["metadata"]


def role(name: str, *tags: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "meta": {"name": name, "description": "d", "tags": [*tags]}, **more}


@pytest.mark.parametrize("owner", ["releases/1", "clusters/1"])
def test_roles_have_tags_that_exist_and_lose_those_that_go(api: Api, owner: str) -> None:
    for method, path in (("POST", "roles"), ("PUT", "roles/compute")):
        if method == "PUT" and owner.startswith("clusters"):
            api.ask("POST", f"{owner}/roles", role("compute"), status=201)
        refused = api.refusal(method, f"{owner}/{path}", role("compute" if "/" in path else "new", "ghost"), status=400)
        assert "tags ghost do not exist" in refused
    for name in ("eyes", "ears"):
        api.ask("POST", f"{owner}/tags", {"name": name, "meta": {"has_primary": True}}, status=201)
    api.ask("POST", f"{owner}/roles", role("watcher", "eyes", "ears"), status=201)
    api.ask("DELETE", f"{owner}/tags/eyes", status=204)
    assert api.ask("GET", f"{owner}/roles/watcher")["meta"]["tags"] == ["ears"]
    assert api.refusal("DELETE", f"{owner}/tags/eyes", status=404).startswith("Tag 'eyes' is not found")


def test_a_task_that_has_ended_is_deleted(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.held("a")))
    begun = api.ask("POST", "graphs/execute", {"cluster": 1, "graphs": [{"type": "default"}]}, status=202)["id"]
    assert "it has not ended" in api.refusal("DELETE", f"tasks/{begun}", status=400)
    env.let_go()
    env.ended(begun)
    part = next(task["id"] for task in api.ask("GET", "tasks") if task["parent_id"] == begun)
    assert "part of another" in api.refusal("DELETE", f"tasks/{part}", status=400)
    assert api.ask("DELETE", f"tasks/{begun}", status=202) == {"left": []}
    assert api.refusal("DELETE", f"tasks/{begun}", status=404) == "Transaction not found"
    assert api.ask("GET", "tasks") == []

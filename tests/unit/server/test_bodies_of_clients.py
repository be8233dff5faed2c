"""What clients of Nailgun send and expect: what GET returned, both ways to run dry, roles, tags and ended tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import fuel2
from corpus import corpus
from executions import Executions, shell
from http_api import Api
from package_trees import write_package

from fuelclient.model.release import Release

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


RELEASE_FIELDS = {
    "name": "Other", "version": "mitaka-9.1", "state": "unavailable", "description": "changed",
    "operating_system": "CentOS", "modes_metadata": {"ha": {"description": "d"}},
    "networks_metadata": {"neutron": {"networks": []}},
}  # fmt: skip


def test_a_release_takes_every_field_that_it_has(api: Api, env: Executions) -> None:
    path = "releases/1"
    (spare,) = env.backend.releases.create([Release(0, "spare", "mitaka-9.0")])
    for key, value in RELEASE_FIELDS.items():
        before = api.ask("GET", path)
        after = api.ask("PUT", path, {key: value})
        expected = {**before, key: value} if key in before else before
        assert after == expected == api.ask("GET", path), key
    refused = [
        ({"name": spare.name, "version": spare.version}, 409, "same name and version already exists"),
        ({"name": 7}, 400, "'string'"),
        ({"state": "nosuch"}, 400, "'nosuch' is not one of"),
        ({"description": 7}, 400, "description must be a string"),
        ({"roles_metadata": []}, 400, "roles_metadata"),
        ({"roles_metadata": {}}, 409, "would no longer have"),
        ({"roles_metadata": {}, "name": "unused"}, 409, "would no longer have"),
        ({"id": 9, "name": "x"}, 400, "cannot change id"),
    ]
    for body, status, words in refused:
        before = api.ask("GET", path)
        assert words in api.refusal("PUT", path, body, status=status), body
        assert api.ask("GET", path) == before
    assert api.refusal("PUT", "releases/99", {"name": "x"}, status=404) == "Release not found"


def test_a_plugin_takes_what_people_read_as_a_whole_record(api: Api, mitaka: int, plugin: str) -> None:
    path = "plugins/1"
    before = api.ask("GET", path)
    assert "'name' is a required property" in api.refusal("PUT", path, {"title": "Posted again"}, status=400)
    changed = {"title": "Posted again", "description": "d", "authors": ["A"], "licenses": ["L"], "homepage": "/"}
    after = api.ask("PUT", path, {**before, **changed})
    assert {key: after[key] for key in changed} == changed
    assert api.ask("GET", path) == after
    for key, value in (("version", "9.9.9"), ("releases", []), ("fuel_version", ["8.0"]), ("package_version", "1.0.0")):
        refusal = api.refusal("PUT", path, {**after, key: value}, status=400)
        assert f"cannot change {key} here" in refusal
    assert api.ask("GET", path) == after


def test_an_environment_takes_another_release(api: Api, env: Executions) -> None:
    path, first = "clusters/1", env.backend.releases.get(1)
    (later,) = env.backend.releases.create([replace(first, id=0, version="mitaka-9.1")])
    assert api.refusal("PUT", path, {"release_id": 99}, status=400) == "Invalid release ID"
    env.backend.clusters.create("taken", 1)
    both = {"name": "taken", "release_id": later.id}
    assert "already exists" in api.refusal("PUT", path, both, status=409)
    assert "Invalid" in api.refusal("PUT", path, {"name": "new", "release_id": 99}, status=400)
    assert api.ask("GET", path)["release_id"] == 1
    moved = api.ask("PUT", path, {**api.ask("GET", path), **both, "name": "new"})
    assert (moved["name"], moved["release_id"], moved["fuel_version"]) == ("new", later.id, "9.1")
    assert api.ask("GET", path) == moved


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
        request = env.backend.runs.get(begun["id"]).request
        assert (request.dry_run, request.noop) == (True, False), path
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
    meta = {"name": name, "description": "d", "tags": [*tags]}
    return {"name": name, "meta": meta, "volumes_roles_mapping": [], **more}


@pytest.mark.parametrize(
    ("noun", "body", "said"),
    [
        ("roles", {"name": "new", "meta": {"name": "N", "description": "d"}}, "'volumes_roles_mapping' is a required"),
        ("roles", role("new", "new"), "tags new do not exist"),
        ("roles", role("new", meta={"name": "N", "conflicts": 5}), "conflicts must be"),
        ("roles", role("new", meta={"name": "N", "tags": "compute"}), "tags must be a list"),
        ("roles", role("new", volumes_roles_mapping=[{"id": "os", "allocate_size": "x"}]), "'x' is not one of"),
        ("tags", {"name": "new", "meta": {"has_primary": "no"}}, "has_primary must be true or false"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("owner", ["releases/1", "clusters/1"])
def test_a_mistake_in_a_posted_role_or_tag_is_not_lost(
    api: Api, owner: str, noun: str, body: dict[str, Any], said: str
) -> None:
    told = api.refusal("POST", f"{owner}/{noun}", body, status=400)
    assert said in told
    assert "answer" not in told
    assert "new" not in [one["name"] for one in api.ask("GET", f"{owner}/{noun}")]


def test_a_tag_of_the_release_is_not_taken_from_an_environment(api: Api) -> None:
    api.ask("POST", "releases/1/tags", {"name": "eyes", "meta": {}}, status=201)
    api.ask("POST", "releases/1/roles", role("watcher", "eyes"), status=201)
    assert "role" not in api.refusal("DELETE", "clusters/1/tags/eyes", status=409).lower()
    assert api.ask("GET", "clusters/1/roles/watcher")["meta"]["tags"] == ["eyes"]


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


@pytest.mark.parametrize("owner", ["releases/1", "clusters/1"])
def test_unknown_role_is_told_before_faults_of_its_body(api: Api, owner: str) -> None:
    bare = {"name": "ghost", "meta": {"name": "N", "description": "d"}}
    assert api.refusal("PUT", f"{owner}/roles/ghost", bare, status=404).startswith("Role 'ghost' is not found")
    api.ask("POST", f"{owner}/roles", role("mine"), status=201)
    bare["name"] = "mine"
    assert "already exists" in api.refusal("POST", f"{owner}/roles", bare, status=409)
    refused = api.refusal("PUT", f"{owner}/roles/mine", bare, status=400)
    assert refused == "'volumes_roles_mapping' is a required property"


@pytest.mark.parametrize("owner", ["releases/1", "clusters/1"])
def test_posted_role_names_tags_if_the_release_has_tags(api: Api, owner: str) -> None:
    bare = {"name": "N", "description": "d"}
    api.ask("POST", f"{owner}/roles", role("before", meta=bare), status=201)
    api.ask("POST", "releases/1/tags", {"name": "eyes", "meta": {}}, status=201)

    refused = api.refusal("POST", f"{owner}/roles", role("after", meta=bare), status=400)
    assert refused == "Role after cannot be created: its meta has no tags, and its release describes tags."
    for name, tags in (("none", ()), ("some", ("eyes",))):
        api.ask("POST", f"{owner}/roles", role(name, *tags), status=201)
    api.ask("PUT", f"{owner}/roles/before", api.ask("GET", f"{owner}/roles/before"))
    assert "after" not in [one["name"] for one in api.ask("GET", f"{owner}/roles")]


def test_a_task_that_has_ended_is_deleted(api: Api, env: Executions) -> None:
    env.graph(shell("a", env.held("a")))
    begun = api.ask("POST", "graphs/execute", {"cluster": 1, "graphs": [{"type": "default"}]}, status=202)["id"]
    assert api.refusal("DELETE", f"tasks/{begun}", status=400) == "You cannot delete running task manually"
    env.let_go()
    env.ended(begun)
    part = next(task["id"] for task in api.ask("GET", "tasks") if task["parent_id"] == begun)
    assert "part of another" in api.refusal("DELETE", f"tasks/{part}", status=400)
    assert api.ask("DELETE", f"tasks/{begun}", status=202) == {}
    assert api.refusal("DELETE", f"tasks/{begun}", status=404) == "Transaction not found"
    assert api.ask("GET", "tasks") == []


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["9.0", "newton"])
def test_roles_of_real_releases_are_taken_as_they_were_got(api: Api, env: Executions, version: str) -> None:
    fixture = corpus() / f"fuel-web/{version}/nailgun/nailgun/fixtures/openstack.yaml"
    fuel2("--engine", env.engine, "release", "import", fixture)
    paths = [f"releases/{one['id']}/roles" for one in api.ask("GET", "releases")]
    described = {f"{path}/{one['name']}": one for path in paths for one in api.ask("GET", path)}
    assert len(described) > 10
    for path, one in described.items():
        assert api.ask("PUT", path, one) == one, path

"""Settings of environments, and plugins that are enabled by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from executions import Executions
from http_api import Api
from package_trees import role, write_package

from fuelclient.model.node import Node

PORT = {"type": "text", "value": "80", "label": "Port", "weight": 10}
ATTRIBUTES = {"environment_config.yaml": {"attributes": {"watch_port": PORT}}}


@pytest.fixture
def plugins(env: Executions, tmp_path: Path) -> list[int]:
    """Two versions of one plugin."""
    return [
        env.backend.plugins.install(write_package(tmp_path / version, version=version, files=ATTRIBUTES)).plugin.id
        for version in ("1.2.3", "1.3.0")
    ]


@pytest.fixture
def path(mitaka: int) -> str:
    return f"clusters/{mitaka}/attributes"


def enabling(plugin_id: int, **more: Any) -> dict[str, Any]:
    return {"editable": {"monitor": {"metadata": {"enabled": True, "chosen_id": plugin_id}, **more}}}


def test_available_plugin_is_listed_with_its_versions(api: Api, plugins: list[int], path: str) -> None:
    metadata = api.ask("GET", path)["editable"]["monitor"]["metadata"]
    assert (metadata["class"], metadata["enabled"]) == ("plugin", False)
    assert [one["metadata"]["plugin_id"] for one in metadata["versions"]] == plugins
    assert "monitor" not in api.ask("GET", "clusters/1/attributes")["editable"]  # another release


def test_plugins_are_switched_as_the_original_client_does(
    api: Api, env: Executions, plugins: list[int], path: str, mitaka: int
) -> None:
    known = api.ask("GET", path)
    known["editable"]["monitor"]["metadata"].update(enabled=True, chosen_id=plugins[0])
    section = api.ask("PUT", path, known)["editable"]["monitor"]
    assert (section["metadata"]["enabled"], section["metadata"]["chosen_id"]) == (True, plugins[0])
    assert section["watch_port"]["value"] == "80"
    assert env.backend.plugins.get(plugins[0]).clusters == (mitaka,)

    section = api.ask("PATCH", path, enabling(plugins[1]))["editable"]["monitor"]
    assert section["metadata"]["chosen_id"] == plugins[1]
    assert env.backend.plugins.get(plugins[0]).clusters == ()

    found = api.ask("PATCH", path, {"editable": {"monitor": {"metadata": {"enabled": False}}}})
    assert found["editable"]["monitor"]["metadata"]["enabled"] is False
    assert env.backend.plugins.get(plugins[1]).clusters == ()


def test_put_replaces_what_was_set_and_patch_adds_to_it(api: Api, path: str) -> None:
    def set_value(method: str, section: str) -> Any:
        return api.ask(method, path, {"editable": {section: {"x": {"type": "number", "value": 1}}}})["editable"]

    assert set_value("PATCH", "one")["common"]["debug"]["value"] is False
    assert set_value("PATCH", "two").keys() >= {"one", "two", "common"}
    assert set_value("PUT", "three").keys() == {"three", "common"}
    assert api.ask("GET", f"{path}/defaults")["editable"].keys() == {"common"}


def test_a_setting_of_a_plugin_leaves_it_enabled(api: Api, plugins: list[int], path: str) -> None:
    api.ask("PATCH", path, enabling(plugins[0]))
    section = api.ask("PATCH", path, {"editable": {"monitor": {"watch_port": {"value": "81"}}}})["editable"]["monitor"]
    assert (section["watch_port"]["value"], section["metadata"]["enabled"]) == ("81", True)


def test_what_fails_leaves_all_as_it_was(api: Api, env: Executions, tmp_path: Path, path: str, mitaka: int) -> None:
    package = write_package(tmp_path / "w", "watcher", files={"node_roles.yaml": {"watch": role()}})
    watcher = env.backend.plugins.install(package).plugin.id
    other = env.backend.plugins.install(write_package(tmp_path / "o", "other")).plugin.id
    env.backend.plugins.enable(watcher, mitaka)
    env.backend.nodes.create([Node(0, "w", cluster_id=mitaka, pending_roles=("watch",))])
    before = api.ask("GET", path)
    body = {
        "editable": {
            "other": {"metadata": {"enabled": True, "chosen_id": other}},
            "watcher": {"metadata": {"enabled": False}},  # a node has its role
        }
    }

    told = api.refusal("PATCH", path, body, status=409)

    assert "has the role watch" in told
    assert api.ask("GET", path) == before


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"editable": {"common": 3}}, 400, "deque(['editable', 'common']): 3 is not of type 'object'"),
        ({"editable": {"monitor": {"metadata": {"enabled": 1}}}}, 400, "1 is not of type 'boolean'"),
        ({"generated": {}}, 400, "'editable' is a required property"),
        ({"editable": {"common": {"debug": {"value": "yes"}}}}, 400, "common.debug must be true or false"),
        (enabling(99), 404, "Plugin not found"),
        ({"editable": {"monitor": {"metadata": {"enabled": True}}}}, 400, "installed in several versions"),
    ],
)
def test_settings_that_are_refused(
    api: Api, plugins: list[int], path: str, body: dict[str, Any], status: int, told: str
) -> None:
    assert told in api.refusal("PUT", path, body, status=status)


def test_a_version_that_is_enabled_stays_if_none_is_named(api: Api, plugins: list[int], path: str) -> None:
    api.ask("PUT", path, enabling(plugins[0]))
    same = {"editable": {"monitor": {"metadata": {"enabled": True, "chosen_id": None}}}}
    assert api.ask("PUT", path, same)["editable"]["monitor"]["metadata"]["chosen_id"] == plugins[0]

"""What every backend says of plugins in the settings of an environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from package_trees import write_package
from refusals import refused

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound, UsageError
from fuelclient.model.release import Release

RELEASE = Release(
    0,
    "Mitaka",
    "mitaka-9.0",
    "Ubuntu",
    metadata={
        "roles_metadata": {"compute": {}},
        "attributes_metadata": {"editable": {"common": {"debug": {"value": False}}}},
    },
)


@pytest.fixture
def plugins(backend: Backend, tmp_path: Path) -> list[int]:
    """The ids of two versions of one plugin, and of another plugin."""
    named = (("monitor", "1.2.3"), ("monitor", "1.3.0"), ("other", "1.0.0"))
    paths = [write_package(tmp_path / f"{name}-{version}", name, version) for name, version in named]
    return [backend.plugins.install(path).plugin.id for path in paths]


def test_settings_tell_of_plugins_that_are_enabled(backend: Backend, env: int, plugins: list[int]) -> None:
    assert backend.clusters.settings(env) == {"common": {"debug": {"value": False}}}

    backend.plugins.enable(plugins[0], env)

    found = backend.clusters.settings(env)
    assert set(found) == {"common", "monitor"}
    about = found["monitor"]["metadata"]
    assert {key: value for key, value in about.items() if key != "label"} == {
        "class": "plugin", "enabled": True, "hot_pluggable": False, "plugin_id": plugins[0], "plugin_version": "1.2.3",
        "toggleable": True, "weight": 70,
    }  # fmt: skip


def test_settings_that_were_downloaded_change_nothing(backend: Backend, env: int, plugins: list[int]) -> None:
    backend.plugins.enable(plugins[1], env)
    before = backend.clusters.settings(env)

    assert backend.clusters.set_settings(env, before) == before

    assert backend.plugins.get(plugins[1]).clusters == (env,)
    assert backend.plugins.get(plugins[0]).clusters == backend.plugins.get(plugins[2]).clusters == ()


CONFIG = {
    "attributes": {
        "metadata": {"label": "Monitor"},
        "address": {"type": "text", "label": "Address", "weight": 1, "description": "", "value": ""},
        "verbose": {"type": "checkbox", "label": "Verbose", "weight": 2, "description": "", "value": False},
        "names": {"type": "text_list", "label": "Names", "weight": 3, "description": "", "value": ["a"]},
        "mode": {
            "type": "radio", "label": "Mode", "weight": 4, "description": "", "value": "local",
            "values": [{"data": word, "label": word, "description": ""} for word in ("local", "remote")],
        },
    }
}  # fmt: skip


@pytest.fixture
def configured(backend: Backend, tmp_path: Path) -> int:
    """The id of a plugin with settings."""
    path = write_package(tmp_path / "configured", "configured", files={"environment_config.yaml": CONFIG})
    return backend.plugins.install(path).plugin.id


def values(backend: Backend, env: int) -> dict[str, object]:
    """The values of the plugin's settings by name."""
    section = backend.clusters.settings(env)["configured"]
    return {name: setting["value"] for name, setting in section.items() if name != "metadata"}


def test_a_plugin_is_enabled_with_values(backend: Backend, env: int, configured: int) -> None:
    before = backend.clusters.settings(env)
    stated = {"address": "10.0.0.1", "verbose": "yes", "names": '["b", "c"]'}
    backend.plugins.enable(configured, env, stated)
    assert [plugin.id for plugin in backend.plugins.enabled(env)] == [configured]
    assert values(backend, env) == {"address": "10.0.0.1", "verbose": True, "names": ["b", "c"], "mode": "local"}
    assert {name: section for name, section in backend.clusters.settings(env).items() if name in before} == before

    backend.plugins.enable(configured, env, {"mode": "remote"})  # also while it is enabled
    assert values(backend, env) == {"address": "10.0.0.1", "verbose": True, "names": ["b", "c"], "mode": "remote"}

    backend.plugins.disable(configured, env)
    assert list(backend.plugins.enabled(env)) == []


@pytest.mark.parametrize(
    ("stated", "error", "named"),
    [
        ({"adress": "x"}, NotFound, ["adress"]),
        ({"metadata": {}}, NotFound, ["metadata"]),
        ({"verbose": "perhaps"}, UsageError, ["verbose", "perhaps"]),
        ({"names": "often"}, UsageError, ["names", "often"]),
        ({"mode": "far"}, UsageError, ["mode", "far"]),
    ],
)
def test_nothing_is_enabled_with_an_impossible_value(
    backend: Backend, env: int, configured: int, stated: dict[str, object], error: type[Exception], named: list[str]
) -> None:
    with refused(error, *named):
        backend.plugins.enable(configured, env, {"address": "x", **stated})
    assert list(backend.plugins.enabled(env)) == []

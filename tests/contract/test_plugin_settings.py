"""What every backend says of plugins in the settings of an environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from package_trees import write_package

from fuelclient.backends.base import Backend
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
        "class": "plugin", "enabled": True, "plugin_id": plugins[0], "plugin_version": "1.2.3", "toggleable": True,
        "weight": 70,
    }  # fmt: skip


def test_settings_that_were_downloaded_change_nothing(backend: Backend, env: int, plugins: list[int]) -> None:
    backend.plugins.enable(plugins[1], env)
    before = backend.clusters.settings(env)

    assert backend.clusters.set_settings(env, before) == before

    assert backend.plugins.get(plugins[1]).clusters == (env,)
    assert backend.plugins.get(plugins[0]).clusters == backend.plugins.get(plugins[2]).clusters == ()

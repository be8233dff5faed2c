"""Plugins that a settings document switches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from package_trees import write_package
from refusals import missing, refused

from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Conflict, InvalidDocument, UsageError
from fuelclient.model.cluster import ClusterStatus
from fuelclient.model.release import Release

ATTRIBUTES = {"mode": {"type": "text", "value": "x", "label": "Mode", "weight": 1}}


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[LocalBackend]:
    """An environment, and a plugin in two versions of which neither is enabled."""
    made = LocalBackend(str(tmp_path / "engine.db"))
    (release,) = made.releases.create([Release(0, "R", "mitaka-9.0", "Ubuntu", metadata={"roles_metadata": {"a": {}}})])
    made.clusters.create("prod", release.id)
    for version in ("1.0.0", "2.0.0"):
        files = {"environment_config.yaml": {"attributes": ATTRIBUTES}}
        made.plugins.install(write_package(tmp_path / version, "monitor", version, files=files))
    yield made
    made.close()


def put(backend: LocalBackend, enabled: object, **more: Any) -> None:
    metadata = {"enabled": enabled, **more.pop("metadata", {})}
    backend.clusters.set_settings(1, {"monitor": {"metadata": metadata, **more}})


def enabled(backend: LocalBackend) -> list[str]:
    return [plugin.version for plugin in backend.plugins.enabled(1)]


def test_a_version_is_named_by_its_id_or_by_itself(backend: LocalBackend) -> None:
    with refused(UsageError, "several versions", "metadata.chosen_id"):
        put(backend, True)
    with missing("plugin", 9, "1", "2"):
        put(backend, True, metadata={"chosen_id": 9})
    assert enabled(backend) == []
    put(backend, True, metadata={"chosen_id": 1})
    assert enabled(backend) == ["1.0.0"]
    put(backend, True)
    assert enabled(backend) == ["1.0.0"]
    put(backend, True, metadata={"plugin_version": "2.0.0"})  # an older document switches no version
    assert enabled(backend) == ["1.0.0"]
    put(backend, True, metadata={"chosen_id": 2})
    assert enabled(backend) == ["2.0.0"]
    put(backend, False)
    put(backend, True, metadata={"plugin_version": "1.0.0", "plugin_id": 77})  # a document of another engine
    assert enabled(backend) == ["1.0.0"]


@pytest.mark.parametrize(
    "section",
    [
        {"metadata": {"enabled": False}, "mode": {"value": 7}}, {"mode": {"value": 7}}, {"mdoe": {"value": "y"}},
        {"metadata": {"enabled": "yes"}}, {"metadata": 5},
    ],
)  # fmt: skip
def test_settings_that_forbid_an_enabled_plugin_are_refused(backend: LocalBackend, section: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        backend.clusters.set_settings(1, {"monitor": section})
    backend.plugins.enable(2, 1)
    assert backend.clusters.settings(1)["monitor"]["mode"]["value"] == "x"


def test_what_was_downloaded_may_be_uploaded(backend: LocalBackend) -> None:
    put(backend, True, metadata={"chosen_id": 2}, mode={"value": "y"})
    before = backend.clusters.settings(1)
    assert backend.clusters.set_settings(1, before) == before
    assert enabled(backend) == ["2.0.0"]


def test_settings_of_a_disabled_plugin_are_kept_and_no_facts(backend: LocalBackend) -> None:
    put(backend, True, metadata={"chosen_id": 2}, mode={"value": "y"})
    put(backend, False, mode={"value": "y"})
    assert enabled(backend) == []
    assert "monitor" not in backend.clusters.settings(1)
    assert "monitor" not in backend.facts.default(1).common
    backend.plugins.enable(2, 1)
    assert backend.clusters.settings(1)["monitor"]["mode"]["value"] == "y"


def test_a_deployed_environment_keeps_its_plugins(backend: LocalBackend) -> None:
    put(backend, True, metadata={"chosen_id": 2})
    with backend._database.write() as connection:
        connection.execute("UPDATE clusters SET status = ?", (str(ClusterStatus.OPERATIONAL),))
    with refused(Conflict, "couldn't be changed after or during deployment"):
        put(backend, False)
    assert enabled(backend) == ["2.0.0"]

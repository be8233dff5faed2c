"""Feature groups: the roles of Fuel's releases that ask for them can be assigned."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine
from corpus import corpus

from fuelclient.settings import load


@pytest.mark.parametrize(
    ("text", "groups"),
    [(None, ("experimental",)), ("", ("experimental",)), ("advanced,experimental", ("advanced", "experimental")),
     ("a, b a", ("a", "b"))],
)  # fmt: skip
def test_the_setting_is_a_list_of_names(text: str | None, groups: tuple[str, ...]) -> None:
    assert load(environ={} if text is None else {"FUEL_FEATURE_GROUPS": text}).feature_groups == groups


def test_the_engine_and_its_version_state_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUEL_FEATURE_GROUPS", "advanced")
    assert "advanced" in CommandLine(tmp_path / "engine.db").ok("fuel-version", "-f", "json").out


@pytest.mark.corpus
@pytest.mark.parametrize("library", ["9.0", "newton"])
def test_virt_and_mongo_of_real_releases(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fuel2 = CommandLine(tmp_path / "engine.db")
    path = corpus("fuel-web", library, "nailgun", "nailgun", "fixtures", "openstack.yaml")
    fuel2.ok("release", "import", path)
    fuel2.ok("env", "create", "prod", "--release", 1)
    for number in (1, 2):
        fuel2.ok("node", "create", f"node-{number}")

    def refusal(node: int, role: str) -> str:
        return fuel2("env", "add", "nodes", "--env", 1, "--nodes", node, "--roles", role).err

    assert "Role 'virt' restrictions mismatch" in refusal(1, "virt")
    monkeypatch.setenv("FUEL_FEATURE_GROUPS", "experimental,advanced")
    fuel2.ok("env", "add", "nodes", "--env", 1, "--nodes", 1, "--roles", "virt")
    assert "Ceilometer should be enabled" in refusal(2, "mongo")
    settings = "additional_components: {ceilometer: {value: true}, mongo: {value: false}}"
    fuel2.ok("env", "settings", "upload", 1, "--file", "-", stdin=settings)
    if library == "newton":
        monkeypatch.setenv("FUEL_FEATURE_GROUPS", "advanced")
        assert "Role 'mongo' restrictions mismatch" in refusal(2, "mongo")
    monkeypatch.delenv("FUEL_FEATURE_GROUPS")
    fuel2.ok("env", "add", "nodes", "--env", 1, "--nodes", 2, "--roles", "mongo")

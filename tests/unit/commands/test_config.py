"""`config show`: every setting with its origin, no secret, nothing written."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from command_line import CommandLine

from fuelclient.commands.shell import FuelShell
from fuelclient.settings import SPECS


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for spec in SPECS:
        for name in spec.environment:
            monkeypatch.delenv(name, raising=False)


def test_every_setting_is_shown(tmp_path: Path) -> None:
    done = CommandLine(tmp_path / "engine.db").ok("config", "show", "--origin", "-f", "json")
    rows = {row["name"]: row for row in done.json}
    assert set(rows) == {spec.name for spec in SPECS}
    assert rows["ENGINE"] == {
        "name": "ENGINE", "value": str(tmp_path / "engine.db"), "origin": "command line --engine",
    }  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_origins_are_shown_when_asked_for(tmp_path: Path) -> None:
    assert set(CommandLine(tmp_path / "engine.db").ok("config", "show", "-f", "json").json[0]) == {"name", "value"}


def test_secrets_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OS_PASSWORD", "OS_TOKEN", "OS_APPLICATION_CREDENTIAL_SECRET"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("HTTP_PROXY", "http://me:hunter2@proxy:3128")
    for layout in ("table", "json", "yaml", "csv", "value"):
        done = CommandLine(tmp_path / "engine.db").ok("config", "show", "--origin", "-f", layout)
        assert "hunter2" not in done.out + done.err
        assert "***" in done.out


def test_deprecated_names_are_told_on_stderr(tmp_path: Path) -> None:
    (tmp_path / ".config" / "fuel").mkdir(parents=True)
    (tmp_path / ".config" / "fuel" / "fuel_client.yaml").write_text("LISTEN_PORT: 8001\n")
    done = CommandLine(tmp_path / "engine.db").ok("config", "show", "-f", "value")
    assert "LISTEN_PORT is deprecated" in done.err
    assert "is deprecated" not in done.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--server", "http://a", "--engine", "x.db"], "--engine and --server"),
        (["--server", " "], "--server is empty"),
    ],
)
def test_places_that_make_no_sense(line: list[str], said: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert FuelShell(io.StringIO(), out, err).run([*line, "config", "show"]) == 2
    assert said in err.getvalue()
    assert out.getvalue() == ""

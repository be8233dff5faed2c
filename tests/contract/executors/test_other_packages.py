"""Kinds of executors that other packages add: found by their entry point, and refused by name where they are not."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
import stranger
import yaml
from command_line import CommandLine
from processes import command_lines, eventually

from fuelclient.engine.runs.processes import start_time
from fuelclient.errors import InvalidDocument, Unsupported, UsageError
from fuelclient.executors import registry
from fuelclient.executors.connector import Connector
from fuelclient.model.document import Document
from fuelclient.serializers.node import nodes_from

RELEASE = "- {name: Tiny, version: tiny-1.0, operating_system: Ubuntu, roles_metadata: {web: {}}}"
BUILT_IN = ["local", "ssh", "noop", "directory", "dask"]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The package of the other kind is installed; undo it to remove the package."""
    patch = pytest.MonkeyPatch()
    stranger.install(tmp_path / "installed", patch)
    return patch


@pytest.fixture
def fuel2(tmp_path: Path, installed: pytest.MonkeyPatch) -> CommandLine:
    """Environment 1 with a node of the other kind, whose task waits for the file `go` below its home."""
    fuel2 = CommandLine(tmp_path / "engine.db")
    home = tmp_path / "home"
    home.mkdir()
    nodes = [{"name": "a", "roles": ["web"], "executor": stranger.KIND, "attributes": {"home": str(home)}}]
    cmd = "echo x >> begun; until [ -e go ]; do sleep 0.05; done; echo $HOME [$LANG]"
    parameters = {"cmd": cmd, "cwd": str(home), "timeout": 60, "retries": 0}
    task = {"id": "t", "type": "shell", "version": "2.0.0", "roles": ["web"], "parameters": parameters}
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    fuel2.ok("node", "import", "-", "--env", 1, stdin=yaml.safe_dump(nodes))
    fuel2.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=yaml.safe_dump([task]))
    return fuel2


@pytest.fixture(autouse=True)
def _forgotten(installed: pytest.MonkeyPatch) -> object:
    yield
    installed.undo()
    stranger.forget()


def spools(home: Path) -> list[Path]:
    return list(home.glob(".spools/*"))


def removed(installed: pytest.MonkeyPatch) -> None:
    """The package is not installed any more."""
    installed.undo()
    stranger.forget()


def test_a_run_on_a_node_of_another_kind(fuel2: CommandLine, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "go").touch()
    done = fuel2("graph", "execute", "--env", 1, "--wait")
    assert done.code == 0, done
    assert fuel2.ok("task", "logs", 1, "t/1").out == f"{home} []\n"
    assert len(spools(home)) == 1
    deleted = fuel2.ok("task", "delete", 1)
    assert "stay" not in deleted.err
    assert spools(home) == []


def test_what_a_dead_runner_left_there_is_ended(fuel2: CommandLine, tmp_path: Path) -> None:
    home = tmp_path / "home"
    number = json.loads(fuel2.ok("graph", "execute", "--env", 1, "--no-wait", "--format", "json").out)["id"]
    assert eventually((home / "begun").exists, 60)
    words = f"runner {os.path.realpath(fuel2.engine)} {number}"
    runners = [process for process, line in command_lines() if words in line]
    assert runners
    for runner in runners:
        os.kill(runner, signal.SIGKILL)
    assert eventually(lambda: not any(map(start_time, runners)))
    fuel2.ok("task", "stop", number, "--kill")
    (result,) = home.glob(".spools/*/*/1/t/rc")
    assert result.read_text().split()[::2] == ["1.1", "stopped"]


def test_a_node_that_it_refuses_is_refused_before_anything_runs(fuel2: CommandLine, tmp_path: Path) -> None:
    fuel2.ok("node", "create", "homeless", "--executor", stranger.KIND, "--env", 1, "--roles", "web")
    done = fuel2("graph", "execute", "--env", 1)
    assert done.code == 7
    assert "G046" in done.err
    assert "the node has no attribute home" in done.err
    assert json.loads(fuel2.ok("task", "list", "-f", "json").out) == []
    assert spools(tmp_path / "home") == []


def test_a_noop_run_looks_through_it(fuel2: CommandLine, tmp_path: Path) -> None:
    done = fuel2("graph", "execute", "--env", 1, "--noop", "--wait")
    assert done.code == 0, done
    assert not (tmp_path / "home" / "begun").exists()
    assert spools(tmp_path / "home") == []


def test_kind_without_package_is_refused_and_spools_named(
    fuel2: CommandLine, installed: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home" / "go").touch()
    assert fuel2("graph", "execute", "--env", 1, "--wait").code == 0
    removed(installed)

    done = fuel2("graph", "execute", "--env", 1)
    assert done.code == 7
    assert all(word in done.err for word in ("G046", stranger.KIND, *BUILT_IN))
    for arguments in (("graph", "execute", "--env", 1), ("node", "create", "b")):
        refused = fuel2(*arguments, "--executor", stranger.KIND)
        assert refused.code == 2
        told = refused.err + capsys.readouterr().err
        assert all(word in told for word in (stranger.KIND, *BUILT_IN))
    deleted = fuel2.ok("task", "delete", 1)
    assert "Node 1 (a)" in deleted.err
    assert stranger.KIND in deleted.err
    assert len(spools(tmp_path / "home")) == 1


def test_the_command_line_lists_it_with_the_built_in_ones(
    fuel2: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = "".join((fuel2("graph", "execute", "--help").out + capsys.readouterr().out).split())  # lines may break
    assert ",".join([*BUILT_IN, stranger.KIND]) in shown


def test_other_packages_are_not_searched_for_built_in_kinds(tmp_path: Path) -> None:
    """Reading the metadata of everything that is installed takes longer than most commands."""
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    nodes = [{"name": kind, "roles": ["web"], "executor": kind} for kind in ("local", "noop")]
    fuel2.ok("node", "import", "-", "--env", 1, stdin=yaml.safe_dump(nodes))
    fuel2.ok("node", "create", "other", "--executor", "local", "--env", 1, "--roles", "web")
    task = {"id": "t", "type": "shell", "version": "2.0.0", "roles": ["web"], "parameters": {"cmd": "true"}}
    fuel2.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=yaml.safe_dump([task]))
    fuel2.ok("graph", "execute", "--env", 1, "--executor", "local", "--wait")
    fuel2.ok("task", "delete", 1)
    assert registry.added.cache_info().misses == 0


def test_unknown_kinds_are_errors_that_name_the_known_ones(installed: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as error:
        registry.connector("docker")
    assert all(kind in error.value.hint for kind in (*BUILT_IN, stranger.KIND))
    with pytest.raises(UsageError) as error:
        registry.connector("lcoal")
    assert "Did you mean local?" in error.value.hint
    assert registry.class_of("docker") is Connector
    document = Document([{"name": "a", "executor": "docker"}], "nodes.yaml")
    with pytest.raises(InvalidDocument) as invalid:
        nodes_from(document, registry.KINDS)
    (finding,) = invalid.value.findings
    assert all(kind in str(finding) for kind in (*BUILT_IN, stranger.KIND))


@pytest.mark.parametrize("text", ["import nothing_of_that_name\n", "CleanShell = 'no class'\n", "raise ValueError\n"])
def test_a_package_that_cannot_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    with monkeypatch.context() as patch:
        # its name sorts before that of the other package, and the first one counts
        stranger.install(tmp_path / "broken", patch, "broken_shell", text)
        with pytest.raises(Unsupported) as error:
            registry.connector(stranger.KIND)
    assert "broken_shell" in error.value.message


def test_a_package_cannot_replace_a_built_in_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stranger, "KIND", "local")
    with monkeypatch.context() as patch:
        stranger.install(tmp_path / "local", patch, "other_local")
        assert registry.connector("local").__module__ == "fuelclient.executors.local"
        assert list(registry.KINDS).count("local") == 1

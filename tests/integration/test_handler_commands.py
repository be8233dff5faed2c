"""Task types that only a configured command can do: refused without one, run with one, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from command_line import RELEASE, CommandLine

GRAPH = """
- {id: erase, type: erase_node, version: 2.0.0, roles: [compute], parameters: {disk: "sd a", retries: 0}}
- {id: cobbler, type: cobbler_sync, version: 2.0.0, roles: [master], requires: [erase], parameters: {retries: 0},
   cross-depends: [{name: erase, role: /.*/}]}
"""


@pytest.fixture
def fuel2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Environment 1 with one compute node, and a graph of tasks that need handlers."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    fuel2.ok("graph", "upload", "--env", 1, "--type", "deletion", "--file", "-", stdin=GRAPH)
    fuel2.ok("node", "create", "node 1", "--ip", "10.0.0.1", "--env", 1, "--roles", "compute")
    return fuel2


def configure(path: Path, commands: object) -> None:
    path.write_text(yaml.safe_dump({"HANDLER_COMMANDS": commands}))


def execute(fuel2: CommandLine, *options: object) -> tuple[int, str]:
    done = fuel2("graph", "execute", "--env", 1, "--type", "deletion", *options)
    return done.code, done.err


@pytest.mark.parametrize("option", ["--wait", "--dry-run"])
def test_without_a_command_nothing_starts(fuel2: CommandLine, option: str) -> None:
    code, said = execute(fuel2, option)
    assert code == 7
    for name, kind in (("erase/1", "erase_node"), ("cobbler/master", "cobbler_sync")):
        assert f"Task {name} cannot run: there is no handler command for tasks of type {kind}" in said
    assert "HANDLER_COMMANDS" in said
    assert fuel2.ok("task", "list", "-f", "json").json == []


def test_with_commands_they_run_on_this_machine(
    fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings file is named by a relative path, which the detached runner has to find too."""
    names = "{node.uid} {node.ip} {node.name} {parameters.disk} {task.id}"
    write = f">> {tmp_path}/notes; echo told"
    configure(
        tmp_path / "own.yaml",
        {
            "erase_node": f"printf '%s|' {names} {write}",
            "cobbler_sync": f"echo cobbler {write}",
        },
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FUELCLIENT_CUSTOM_SETTINGS", "own.yaml")
    assert execute(fuel2, "--dry-run")[0] == 0
    assert not (tmp_path / "notes").exists()
    code, said = execute(fuel2, "--wait")
    assert code == 0, said
    assert (tmp_path / "notes").read_text() == "1|10.0.0.1|node 1|sd a|erase|cobbler\n"
    assert fuel2.ok("task", "logs", 1, "erase/1").out == "told\n"


def test_a_command_that_names_what_a_task_does_not_have(fuel2: CommandLine, tmp_path: Path) -> None:
    (tmp_path / ".config" / "fuel").mkdir(parents=True)
    configure(
        tmp_path / ".config/fuel/fuel_client.yaml", {"erase_node": "wipe {parameters.disc}", "cobbler_sync": "true"}
    )
    code, said = execute(fuel2, "--wait")
    assert code == 7
    assert "Task erase/1 cannot run: the handler command names {parameters.disc}, which this task does not have" in said


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ({"erase-node": "true"}, "own.yaml:1: HANDLER_COMMANDS has a command for 'erase-node'"),
        ({"erase-node": "true"}, "the nearest is erase_node"),
        ({"shell": "true"}, "Use cobbler_sync, erase_node, move_to_bootstrap, reboot."),
        ({"erase_node": " "}, "own.yaml:1: "),
        ({"erase_node": "sh -c 'wipe {node.name}'"}, "own.yaml:1: the command for erase_node"),
        ({"erase_node": "sh -c 'wipe {node.name}'"}, "{node.name} stands inside single quotes"),
        (["erase_node"], "own.yaml:1: HANDLER_COMMANDS is ['erase_node']"),
        ({"erase_node": ["wipe"]}, "own.yaml:1: HANDLER_COMMANDS"),
    ],
)
def test_commands_that_cannot_be_used(
    fuel2: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: object, said: str
) -> None:
    configure(tmp_path / "own.yaml", commands)
    monkeypatch.setenv("FUELCLIENT_CUSTOM_SETTINGS", str(tmp_path / "own.yaml"))
    code, told = execute(fuel2, "--wait")
    assert code == 7
    assert said in told

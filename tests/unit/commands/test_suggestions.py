"""Commands that messages suggest can be pasted: they act on the target of the command line that suggested them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from command_line import CommandLine, Done, fuel2, tiny_engine
from executions import executions, shell

from fuelclient.commands.shell import for_target

_QUOTED = re.compile("`(fuel2 [^`]*)`")


@pytest.fixture
def spaced(tmp_path: Path) -> CommandLine:
    """An engine whose path needs quotes, and has a character that formats of messages give a meaning to."""
    (tmp_path / "100% mine").mkdir()
    return tiny_engine(tmp_path / "100% mine")


def pasted(command: str) -> Done:
    """Run a suggested command as it stands."""
    program, *words = shlex.split(command)
    assert program == "fuel2"
    return fuel2(*words)


def test_the_hint_of_an_error_names_the_engine(spaced: CommandLine) -> None:
    refused = spaced("release", "delete", 1)
    [command] = _QUOTED.findall(refused.err)
    assert (refused.code, str(spaced.engine) in command) == (6, True)
    assert pasted(command).code == 0
    assert spaced("release", "delete", 1).code == 0


def test_the_lines_of_a_run_name_the_engine(tmp_path: Path) -> None:
    env = executions(tmp_path)
    env.graph(shell("bad", "exit 3"))
    done = CommandLine(env.engine)("graph", "execute", "--env", 1, "--node", 1, "--wait")
    commands = [line.strip() for line in done.err.splitlines() if "task logs" in line]
    commands += _QUOTED.findall(done.err)
    assert len(commands) == 2
    assert [pasted(command).code for command in commands] == [0, 0]


def test_the_hint_of_a_finding_names_the_engine(spaced: CommandLine) -> None:
    spaced.ok("demo")
    refused = spaced("plugins", "enable", "ocata-ubuntu", "--env", "demo")
    assert refused.code == 6
    assert f"{shlex.quote(str(spaced.engine))} env create NAME" in refused.err


def test_what_messages_quote_stays_as_it_is(spaced: CommandLine, tmp_path: Path) -> None:
    name = "fuel2 env list 100%"
    assert f"Environment {name} does not exist." in spaced("env", "show", name).err
    spaced.ok("env", "create", name, "--release", 1)
    refused = spaced("release", "delete", 1, "--log-file", tmp_path / "log")
    assert f"({name})" in refused.err
    assert refused.err.splitlines()[-1] in (tmp_path / "log").read_text()


def test_without_options_commands_are_bare(spaced: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUEL_ENGINE", str(spaced.engine))
    assert "`fuel2 env delete 1`" in fuel2("release", "delete", 1).err


def test_only_commands_are_aimed() -> None:
    texts = ("This is not a fuel2 command.", "Load it: fuel2 --engine demo.db demo", "an earlier fuel2 registered it")
    assert [for_target(text, "fuel2 --local") for text in texts] == list(texts)
    assert json.loads(for_target('"`fuel2 tui`"', "fuel2 --local")) == "`fuel2 --local tui`"

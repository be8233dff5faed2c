"""What messages advise can be done, and names what is wrong."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2
from executions import Executions, executions, shell

from fuelclient.insight.progress import Progress, counted

_SUGGESTED = re.compile("`(fuel2 [^`]*)`")


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with three compute nodes."""
    return executions(tmp_path)


def test_release_of_a_deployed_environment_is_deleted_by_hint(env: Executions) -> None:
    line = CommandLine(env.engine)
    env.graph(shell("good"))
    line.ok("graph", "execute", "--env", 1, "--wait")
    assert line.ok("env", "show", 1, "-f", "json").json["status"] == "operational"
    [command] = _SUGGESTED.findall(line("release", "delete", 1).err)
    assert fuel2(*shlex.split(command)[1:]).code == 0
    assert line("release", "delete", 1).code == 0


def test_hints_name_all_that_would_do(env: Executions, tmp_path: Path) -> None:
    line = CommandLine(env.engine)
    (tmp_path / "passwd").write_text("x", encoding="utf-8")
    refused = [line(*words.split(), tmp_path / name).err for words, name in (
        ("engine restore", "nofile"), ("graph render --env 1 -o", "g.docx"), ("plugins install", "passwd"),
    )]  # fmt: skip
    assert [text.splitlines()[-1].partition(". ")[2] for text in refused] == [
        "Name one that exists.",
        "End it with .txt, .dot, .gv, .svg, .png, .mmd, .html, or use -f.",
        "Name a directory, or a file that ends in .fp or .rpm.",
    ]


def test_an_instance_may_be_written_as_answers_write_it(env: Executions) -> None:
    line = CommandLine(env.engine)
    env.graph(shell("good"))
    name = line.ok("node", "show", 1, "-f", "json").json["name"]
    for spelling in (f"good/{name}", f"good@{name}"):
        done = line("graph", "simulate", "--env", 1, "--fail", spelling)
        assert (done.code, f"Failed: good/{name}" in done.err) == (8, True)


def test_ignored_failures_are_counted_apart(env: Executions) -> None:
    line = CommandLine(env.engine)
    env.graph(shell("tolerated", "exit 3", fail_on_error=False), shell("good"))
    done = line("graph", "execute", "--env", 1, "--node", 1, "--wait")
    assert (done.code, "1 failure ignored, 1 ready" in done.err) == (0, True)
    progress = Progress(env.backend.runs.history(1))
    assert dict(counted(progress)) == {"failure ignored": 1, "ready": 1}
    misspelt = line("task", "logs", 1, "tolerate/1")
    assert (misspelt.code, "Did you mean tolerated?" in misspelt.err) == (5, True)
    assert "never began" not in line("task", "logs", 1, "good/2").err


def test_hint_of_an_unreadable_expression_names_no_facts(env: Executions) -> None:
    line = CommandLine(env.engine)
    env.graph(shell("bad", condition={"yaql_exp": "$.a b ("}))
    refused = line("graph", "simulate", "--env", 1)
    assert (refused.code, "deployment-facts" in refused.err, "Correct the" in refused.err) == (7, False, True)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_directory_of_facts_can_be_assumed(env: Executions, tmp_path: Path, form: str) -> None:
    line = CommandLine(env.engine)
    env.graph(shell("asks", condition={"yaql_exp": "$.nowhere.known"}))
    line.ok("env", "deployment-facts", "get-default", "--env", 1, "-d", tmp_path, "-f", form)
    folder = tmp_path / "deployment_1"
    asked = ("graph", "execute", "--env", 1, "--dry-run")
    unknown = line(*asked).err
    (folder / f"common.{form}").write_text('{"nowhere": {"known": true}}')
    assert "$.nowhere.known" in unknown
    assert "$.nowhere.known" not in line.ok(*asked, "--assume-facts", folder).err


def test_part_of_a_verb_is_enough_for_help() -> None:
    assert "\nusage: fuel2 graph blame " in fuel2("help", "graph", "blam").out


def test_argument_written_as_option_is_told_where_it_belongs(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuel2("env", "create", "--name", "mine", "--release", 1).code == 2
    assert "NAME needs no option here: fuel2 env create NAME" in capsys.readouterr().err


def test_the_first_directory_that_is_missing_is_named(tiny: CommandLine, tmp_path: Path) -> None:
    missing = tmp_path / "none"
    refused = tiny("env", "deployment-facts", "get-default", "--env", 1, "-d", missing / "below")
    assert (refused.code, f"Directory {missing} does not exist." in refused.err) == (5, True)

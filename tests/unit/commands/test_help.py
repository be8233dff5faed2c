"""What help looks like: what people need first, on one screen; a pager where there is a terminal."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2
from pty_session import session

from fuelclient.commands.parser import folded
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS

PAGER = "sed s/^/PAGED:/"


def on_terminal(engine: Path, *words: str, **environ: str) -> str:
    with session(
        engine, *words, width=80, height=24, environ={"TERM": "xterm", "PAGER": PAGER, "NO_COLOR": "1", **environ}
    ) as shown:
        shown.ended()
        return shown.received


@pytest.mark.parametrize("line", ["help", "help graph", "graph preview --help", ""])
def test_help_that_is_longer_than_the_terminal_is_paged(tmp_path: Path, line: str) -> None:
    paged = on_terminal(tmp_path / "engine.db", *line.split())
    assert paged.startswith("PAGED:")
    assert paged.replace("\r\n", "\n").replace("PAGED:", "") == fuel2(*line.split()).out


@pytest.mark.parametrize(
    ("line", "environ"),
    [
        ("help role", {}),
        ("-q help", {}),
        ("-q graph preview --help", {}),
        ("help", {"TERM": "dumb"}),
        ("help", {"PAGER": "/nonexistent/pager"}),
    ],
)
def test_short_help_quiet_lines_and_dumb_terminals_get_no_pager(
    tmp_path: Path, line: str, environ: dict[str, str]
) -> None:
    shown = on_terminal(tmp_path / "engine.db", *line.split(), **environ)
    assert shown.replace("\r\n", "\n") == fuel2(*line.split()).out


def test_options_of_a_command_come_before_those_of_its_output(tiny: CommandLine) -> None:
    out = tiny.ok("graph", "preview", "--help").out
    parts = (
        "usage: ",
        "examples:",
        "\noptions:",
        "  -e, --env",
        "  -t, --type",
        "\noptions of the output:",
        "  -f, --format",
    )
    places = [out.index(part) for part in (*parts, "\nGlobal options")]
    assert places == sorted(places)
    assert "--help" not in out.partition("\noptions:")[2]


def test_a_usage_names_what_a_command_needs(tiny: CommandLine) -> None:
    usages = [
        tiny.ok("help", *name.split()).out.partition("usage: ")[2].partition("\n\n")[0]
        for name in (
            "graph preview",
            "graph upload",
            "env deploy",
        )
    ]
    assert usages == [
        "fuel2 graph preview [options] --env ID|NAME",
        "fuel2 graph upload [options] (--env ID|NAME | --release ID|NAME |\n"
        "    --plugin ID|NAME) (--file FILE | --dir DIR)",
        "fuel2 env deploy [options] ID|NAME",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--env", "prod"],
        ["-e", "1"],
        ["--environment=prod"],
        ["prod"],
        ["-eprod"],
        ["1", "--env", "1"],
    ],
)
def test_an_environment_is_an_argument_or_an_option(tiny: CommandLine, words: list[str]) -> None:
    assert tiny.ok("env", "show", *words, "-f", "json") == tiny.ok("env", "show", 1, "-f", "json")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("env show prod --env 2", "prod and --env 2 contradict each other; leave one out"),
        ("env show --env", "expected one argument"),
        ("env show", "the following arguments are required: ID|NAME"),
        ("env show --env 1 --nonsense", "unrecognized arguments: --nonsense"),
    ],
)
def test_two_environments_or_none_are_refused(
    tiny: CommandLine, line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tiny(*line.split()).code == 2
    err = capsys.readouterr().err
    assert (message in err, err.count("\n")) == (True, 1)


def test_every_command_for_an_environment_takes_it_as_an_option(tiny: CommandLine) -> None:
    shell = FuelShell()
    for name in COMMANDS:
        factory, _, _ = shell.command_manager.find_command(name.split())
        parser = factory(shell, argparse.Namespace(), cmd_name=name).get_parser(name)
        arguments = [action.help for action in parser._actions if not action.option_strings]
        if "id or name of the environment" in arguments:
            assert "--env" in parser._option_string_actions, name


@pytest.mark.parametrize("line", ["bash", "--shell bash", "bash --shell bash"])
def test_completion_takes_its_shell_as_an_argument(tiny: CommandLine, line: str) -> None:
    assert tiny.ok("complete", *line.split()).out == tiny.ok("complete").out
    assert tiny("complete", "zsh", "--shell", "fish").code == 2


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("graph diff prod prod", "env:prod"),
        ("graph diff env:prod Tiny", "release:Tiny"),
        ("graph preview --env prod --against prod", "env:prod"),
    ],
)
def test_a_name_in_place_of_a_graph_is_told_how_it_is_written(tiny: CommandLine, line: str, meant: str) -> None:
    done = tiny(*line.split())
    assert (done.code, done.err.count("\n")) == (5, 1)
    assert done.err.endswith(f" does not exist. Did you mean {meant}?\n")
    assert tiny("graph", "diff", "env:prod", "nowhere.yaml").err.endswith(
        "does not exist. Check the path; `-` stands for standard input.\n"
    )


@pytest.mark.parametrize("words", [["--output"], ["-o"], []])
def test_results_are_written_to_an_output_or_an_argument(tiny: CommandLine, tmp_path: Path, words: list[str]) -> None:
    tiny.ok("engine", "backup", *words, tmp_path / "copy.db")
    tiny.ok("plan", "create", "--env", 1, *words, tmp_path / "plan.json")
    assert {"copy.db", "plan.json"} <= {path.name for path in tmp_path.iterdir()}


def test_older_spellings_of_an_output_stay(tiny: CommandLine, tmp_path: Path) -> None:
    for number, word in enumerate(("-f", "--file", "-o", "--output")):
        tiny.ok("graph", "download", "--env", 1, "--all", word, tmp_path / f"{number}.yaml")
    assert len({(tmp_path / f"{number}.yaml").read_text() for number in range(4)}) == 1


def test_a_former_short_flag_works_but_is_not_shown(tiny: CommandLine) -> None:
    tiny.ok("node", "delete", 1, "-f", "--yes")
    assert "-f," not in tiny.ok("help", "node", "delete").out
    assert "-f," not in tiny.ok("help", "task", "logs").out


@pytest.mark.parametrize(
    ("topic", "part"),
    [
        ("layers", "replaces the task of the same id"),
        ("stages", "sync point"),
        ("facts", "key by key"),
        ("queries", "\n  stage:deploy "),
        ("exit-codes", "\n  12   --timeout ended the wait"),
    ],
)
def test_concepts_have_topics(tiny: CommandLine, topic: str, part: str) -> None:
    out = tiny.ok("help", topic).out
    assert part in out or part in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"`|\]\(|\\\\", out)  # no Markdown is left
    assert topic in tiny.ok("help").out.partition("Start here:")[0]
    assert topic in tiny.ok("help", "help").out


def test_a_long_example_can_be_pasted(tmp_path: Path) -> None:
    line = "fuel2 graph query 'a b c, role:compute' --env 1 --explain"
    shown = folded(line, 36)
    assert shown == ["fuel2 graph query \\", "    'a b c, role:compute' --env 1 \\", "    --explain"]
    assert max(map(len, shown)) <= 36

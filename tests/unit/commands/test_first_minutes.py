"""What a new user types, and what the first minutes show: near misses are understood, nothing is said twice."""

from __future__ import annotations

import io
import os
import shlex
import stat
from pathlib import Path

import pytest
from command_line import CommandLine, fuel2
from executions import Executions, executions, shell

from fuelclient.commands.guesses import VERBS
from fuelclient.commands.shell import FuelShell
from fuelclient.commands.table import COMMANDS
from fuelclient.commands.task.follow import Failures


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with three compute nodes."""
    return executions(tmp_path)


class Screen(io.StringIO):
    """A standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def on_screen(engine: Path, *arguments: object) -> str:
    """Return what a command prints on stdout if that is a terminal."""
    out = Screen()
    assert FuelShell(io.StringIO(), out, io.StringIO()).run(["--engine", str(engine), *map(str, arguments)]) == 0
    return out.getvalue()


@pytest.mark.parametrize(("typed", "meant"), [
    ("nodes list", "node list"), ("nodes", "node list"), ("releases", "release list"),
    ("graphs -f json", "graph list -f json"),
    ("environment list", "env list"), ("environments", "env list"), ("environment show prod", "env show prod"),
    ("roles --env prod", "role list --env prod"), ("tasks", "task list"), ("plugin list", "plugins list"),
    ("sequences list --env prod", "sequence list --env prod"), ("tags -r 1", "tag list -r 1"),
])  # fmt: skip
def test_plurals_and_long_nouns_are_understood(tiny: CommandLine, typed: str, meant: str) -> None:
    assert tiny(*typed.split()) == tiny.ok(*meant.split())


def test_a_noun_alone_prints_its_commands_one_per_line(tiny: CommandLine) -> None:
    done = tiny("env")
    first, *lines = done.err.splitlines()
    assert (done.code, done.out, first.startswith("'env' is not a complete")) == (2, "", True)
    told = [line.split("  ")[1] for line in lines if line.startswith("  ") and line[2] != " "]
    assert told[:2] == ["env list", "env show"]
    assert sorted(told) == [name for name in sorted(COMMANDS) if name.startswith("env ")]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(("line", "suggested"), [
    ("graph preview --env 1 --asume a=1", "--assume"), ("graph list --evn 1", "--env"),
    ("graph preview --evn 1", "--env"), ("env create x --relase=1", "--release"), ("env list --debgu", "--debug"),
    ("env list --engin x", "--engine"), ("env list --color alwys", "always"), ("env list -f jsn", "json"),
    ("env list --json", "-f json"),
    ("graph preview prod", "--env prod"), ("task list 'a b'", "--env 'a b'"),
    ("graph validate x.yaml", "--file x.yaml"), ("graph validate .", "--dir ."),
])  # fmt: skip
def test_a_misspelt_option_gets_a_suggestion(
    tiny: CommandLine, line: str, suggested: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tiny(*shlex.split(line))
    _, err = capsys.readouterr()  # argparse writes to the process's own streams
    assert (done.code, err.count("\n")) == (2, 1)
    assert f"Did you mean {suggested}?" in err


@pytest.mark.parametrize(("line", "hint"), [
    ("--verison", "Did you mean --version?"), ("--hepl", "Did you mean --help?"),
    ("--engin=x env list", "Did you mean --engine?"), ("--wibble", "Put it after the command it belongs to."),
    ("ENV LIST", "Did you mean 'env list'?"), ("Graph", "Did you mean 'graph'?"),
    ("graph ls", "Did you mean 'graph list'?"), ("ls", "Say what, such as 'env list'."),
    ("help lay", "Did you mean 'fuel2 help layers'?"),
    ("help 7", "Did you mean 'fuel2 explain 7'?"), ("help g050", "Did you mean 'fuel2 explain g050'?"),
    ("help topics", "'fuel2 help' lists all commands and topics."),
    ("help exit cods", "Did you mean 'fuel2 help exit-codes'?"),
    ("delte", "'fuel2 help' lists all commands and topics."),
])  # fmt: skip
def test_the_first_words_of_a_line_are_guessed(line: str, hint: str) -> None:
    done = fuel2(*line.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f" {hint}\n")
    assert done.err.startswith(f"'{line.removeprefix('help ').removesuffix(' env list')}' is not a ")


def test_a_topic_may_be_written_in_words() -> None:
    assert fuel2("help", "exit", "codes").out == fuel2("help", "exit-codes").out
    assert fuel2("help", "query").out == fuel2("help", "select").out == fuel2("help", "queries").out


@pytest.mark.parametrize(
    "line",
    [
        "env list --xyzzyqq",
        "node list --role compute",
        "graph execute --env 1 --sequence x",
        "graph list --type default",
        "env list extra",
        "env show prod extra",
        "env list -f wibble",
        "graph preview -fjson",
    ],
)
def test_far_option_gets_no_suggestion(tiny: CommandLine, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tiny(*line.split()).code == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "suggested"),
    [
        ("preview", "'graph preview'"),
        ("preview 1 -f json", "'graph preview'"),
        ("logs 7", "'task logs'"),
        ("apply", "'plan apply' or 'graph upload'"),
        ("deploy", "'env deploy' or 'graph execute'"),
        ("run", "'graph execute' or 'env deploy'"),
        ("validate", "'graph validate' or 'plugins check'"),
        ("status", "'task list' or 'task show'"),
        ("watch", "'plugins watch' or 'task watch'"),
        ("list nodes", "'node list'"),
        ("create env", "'env create'"),
        ("previw", "'graph preview'"),
    ],
)
def test_a_verb_without_its_noun_leads_to_its_command(tiny: CommandLine, line: str, suggested: str) -> None:
    verb = line.split()[0]
    done = tiny(*line.split())
    assert (done.code, done.out) == (2, "")
    assert done.err == f"'{verb}' is not a fuel2 command. Did you mean {suggested}?\n"


def test_a_verb_of_many_nouns_asks_for_one(tiny: CommandLine) -> None:
    assert tiny("list").err == "'list' is not a fuel2 command. Say what, such as 'env list'.\n"
    assert tiny("upload").err == "'upload' is not a fuel2 command. Say what, such as 'graph upload'.\n"


def test_verbs_lead_to_commands_that_exist() -> None:
    assert {name for names in VERBS.values() for name in names} <= {*COMMANDS, "--version"}


def test_an_abbreviated_option_is_understood(tiny: CommandLine) -> None:
    assert tiny("graph", "preview", "--en", 1).code == 0  # an abbreviation


@pytest.mark.parametrize(
    "line", ["env show 1 --help", "env show prod -h", "graph upload --help", "task logs 1 a/1 --help"]
)
def test_help_after_arguments_is_the_help_of_the_command(tiny: CommandLine, line: str) -> None:
    name = " ".join(line.split()[:2])
    assert tiny.ok(*line.split()).out == tiny.ok("help", *name.split()).out


def test_terminal_shows_number_of_tasks_and_the_first_ones(tiny: CommandLine) -> None:
    graph = "\n".join(
        f"- {{id: t{n}, type: shell, roles: [compute], parameters: {{cmd: x, timeout: 1}}}}" for n in range(9)
    )
    tiny.ok("graph", "upload", "--env", 1, "--type", "many", "--file", "-", stdin=graph)
    assert "9 tasks: t0, t1, t2 and 6 more" in on_screen(tiny.engine, "graph", "list", "--env", 1)
    assert "t7, t8" in tiny.ok("graph", "list", "--env", 1).out
    assert "t7, t8" in on_screen(tiny.engine, "graph", "list", "--env", 1, "-f", "value")


def test_a_failure_is_printed_once_with_the_id_of_its_run(env: Executions) -> None:
    fuel2 = CommandLine(env.engine)
    env.graph(shell("bad", "exit 3"))
    done = fuel2("graph", "execute", "--env", 1, "--node", 1, "--wait")
    assert (done.code, done.err.count("bad/node-1 error")) == (8, 1)
    [command] = [line.strip() for line in done.err.splitlines() if "task logs" in line]
    assert command == f"fuel2 --engine {env.engine} task logs 1 bad/node-1"
    assert fuel2(*command.split()[1:]).code == fuel2("task", "logs", 2, "bad/1").code == 0


def test_a_long_reason_of_many_nodes_is_printed_in_full_once(caplog: pytest.LogCaptureFixture) -> None:
    failures = Failures(has_logs=False)
    for node in range(1, 11):
        why = (
            f"The host key of 10.20.0.{node} is not known. Compare its fingerprint, then run ssh-keyscan 10.20.0.{node}"
        )
        failures.show(1, (2, "netconfig", node), f"default: netconfig/{node}", "error", why)
    assert sum("ssh-keyscan" in message for message in caplog.messages) == 1
    assert caplog.messages[9] == "default: netconfig/10 error (like default: netconfig/1)"


def test_only_simulations_assume_nodes(tiny: CommandLine) -> None:
    tiny.ok("env", "create", "empty", "--release", 1)
    simulated = tiny.ok("graph", "simulate", "--env", "empty")
    assert "assumed" in simulated.err
    executed = tiny.ok("graph", "execute", "--env", "empty", "--wait")
    assert "G066" in executed.err
    assert tiny.ok("node", "list", "--env", "empty", "-f", "json").json == []


def test_new_file_with_passwords_is_private(env: Executions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fuel2 = CommandLine(env.engine)
    monkeypatch.chdir(tmp_path)
    old = os.umask(0o022)
    try:
        env.graph(shell("a"))
        fuel2.ok("graph", "execute", "--env", 1, "--wait")
        Path("open.yaml").write_text("", encoding="utf-8")
        for line in (
            "env settings download 1", "env deployment-facts get-default --env 1", "task deployment-info download 1",
            "task settings download 1", "env settings download 1 --file open.yaml --force",
            "node attributes-download 1",
        ):  # fmt: skip
            before = {path for path in Path().rglob("*.yaml") if path.name != "open.yaml"}
            fuel2.ok(*line.split())
            written = set(Path().rglob("*.yaml")) - before
            assert written
            assert [path for path in written if path.name != "open.yaml" and readable_by_others(path)] == [], line
        assert readable_by_others(Path("open.yaml")), "a file that exists keeps its mode"
        fuel2.ok("graph", "download", "--env", 1, "--all", "--file", "graph.yaml")
        assert not readable_by_others(Path("graph.yaml"))
    finally:
        os.umask(old)


def readable_by_others(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def test_commands_to_copy_are_quoted_for_the_shell(fuel2: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "my plugins").mkdir()
    created = fuel2.ok("plugins", "create", tmp_path / "my plugins" / "own").err
    assert f"fuel2 plugins check '{tmp_path}/my plugins/own'\n" in created

"""`graph execute`: real runs on nodes whose tasks run on this machine."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from command_line import RELEASE, CommandLine, Done, Terminal

from fuelclient.commands.shell import FuelShell

pytestmark = pytest.mark.usefixtures("real_processes")

GRAPH = """
- {{id: first, type: shell, version: 2.0.0, roles: [compute], parameters: {{cmd: "echo first >> {notes}"}}}}
- {{id: second, type: shell, version: 2.0.0, roles: [compute], requires: [first],
   parameters: {{cmd: "echo second >> {notes}"}}}}
- {{id: never, type: shell, version: 2.0.0, roles: [compute], condition: false, parameters: {{cmd: "false"}}}}
- {{id: done, type: stage, requires: [second]}}
"""
BROKEN = """
- {id: broken, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: "exit 3", retries: 0}}
- {id: after, type: shell, version: 2.0.0, roles: [compute], requires: [broken], parameters: {cmd: "true"}}
"""
SLOW = """
- {id: slow, type: shell, version: 2.0.0, roles: [compute], parameters: {cmd: "sleep 60", retries: 0}}
"""
NOWHERE = """
- {id: lost, type: shell, version: 2.0.0, roles: [controller], parameters: {cmd: "true"}}
"""


@pytest.fixture
def env(tmp_path: Path) -> CommandLine:
    """Environment 1 with two compute nodes of the local executor, and the graphs default, broken, slow and nowhere."""
    fuel2 = CommandLine(tmp_path / "engine.db")
    fuel2.ok("release", "import", "-", stdin=RELEASE)
    fuel2.ok("env", "create", "prod", "--release", 1)
    graphs = {"default": GRAPH.format(notes=tmp_path / "notes"), "broken": BROKEN, "slow": SLOW, "nowhere": NOWHERE}
    for kind, text in graphs.items():
        fuel2.ok("graph", "upload", "--env", 1, "--type", kind, "--file", "-", stdin=text)
    for name in ("node-1", "node-2"):
        fuel2.ok("node", "create", name, "--executor", "local", "--env", 1, "--roles", "compute")
    return fuel2


def notes(env: CommandLine) -> list[str]:
    path = env.engine.parent / "notes"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def started(number: int) -> str:
    return f"Deployment task with id {number} for the environment 1 has been started.\n"


def on_terminal(env: CommandLine, *arguments: object) -> Done:
    """Run a line whose stdout is a terminal."""
    out, err = Terminal(), io.StringIO()
    code = FuelShell(io.StringIO(), out, err).run(["--engine", str(env.engine), *map(str, arguments)])
    return Done(code, out.getvalue(), err.getvalue())


def test_a_run_that_is_waited_for(env: CommandLine) -> None:
    done = env.ok("graph", "execute", "--env", 1, "--wait")
    assert done.out == started(1)
    assert sorted(notes(env)) == ["first", "first", "second", "second"]
    lines = done.err.splitlines()
    assert lines.index("default: first/node-1 ready") < lines.index("default: second/node-1 running")
    assert not any("never" in line for line in lines)
    assert any(line.startswith("Run 1 ended: ready.") for line in lines)


def test_a_terminal_waits_and_a_pipe_does_not(env: CommandLine) -> None:
    done = on_terminal(env, "graph", "execute", "--env", 1, "--node", 2)
    assert (done.code, done.out, notes(env)) == (0, started(1), ["first", "second"])
    left = on_terminal(env, "graph", "execute", "--env", 1, "--type", "slow", "--no-wait")
    assert "slow/node-1 ready" not in left.err
    busy = env("graph", "execute", "--env", 1)
    assert busy.code == 6
    assert left.out.split()[4] in busy.err
    env.ok("task", "stop", left.out.split()[4], "--kill")


@pytest.mark.parametrize("words", [(), ("--format", "json"), ("--format", "jsonl"), ("--wait",)], ids=" ".join)
def test_a_run_that_cannot_be_told_of_is_told_on_stderr(env: CommandLine, words: tuple[str, ...]) -> None:
    """The disk behind stdout is full: nobody may believe that nothing was started, and start it again."""
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(env.engine)]
    line += ["graph", "execute", "--env", "1", "--type", "broken", "--node", "1", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == (8 if "--wait" in words else 1), done.stderr
    told = [one for one in done.stderr.splitlines() if "stdout" in one]
    assert len(told) == 1, done.stderr
    assert "No space left on device" in told[0]
    assert " task watch 1`" in told[0]
    assert "unexpected" not in done.stderr
    assert env("task", "watch", 1).code == 8


def test_blanks_around_the_names_of_a_subgraph(env: CommandLine) -> None:
    (plan,) = env.ok("graph", "execute", "--env", 1, "--dry-run", "--format", "json", "-S", "first: second").json
    assert {one["task"] for one in plan["instances"] if one["runs"]} == {"first", "second"}


@pytest.mark.slow
def test_a_condition_without_an_end_is_one_error(env: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUEL_EXPRESSION_SECONDS", "1")
    document = """
    - id: endless
      type: shell
      version: 2.0.0
      roles: [compute]
      condition: {yaql_exp: "[1].cycle().len() > 0"}
      parameters: {cmd: "true"}
    """
    env.ok("graph", "upload", "--env", 1, "--type", "endless", "--file", "-", stdin=document)
    done = env("graph", "execute", "--env", 1, "--type", "endless", "--dry-run")
    assert done.code == 7
    (told,) = [one for one in done.err.splitlines() if "G034" in one]
    assert "endless@1 and 1 more" in told
    assert "condition: " in told
    assert "the expressions of one plan take more than 1 seconds" in told


def test_a_failed_run_is_exit_8(env: CommandLine) -> None:
    done = env("graph", "execute", "-e", 1, "--graph-types", "broken", "default", "--nodes", "1,2", "--wait")
    assert (done.code, done.out) == (8, started(1))
    assert "broken: broken/node-1 error" in done.err
    assert notes(env) == []


def test_several_types_run_in_their_order(env: CommandLine) -> None:
    done = env("graph", "execute", "-e", 1, "-t", "default", "broken", "-n", "1", "--wait")
    assert done.code == 8
    assert done.err.index("default: second/node-1 ready") < done.err.index("broken: broken/node-1 running")


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_document_of_the_run(env: CommandLine, form: str) -> None:
    done = env.ok("graph", "execute", "--env", 1, "--task-names", "first", "--wait", "--format", form)
    read = json.loads(done.out) if form == "json" else yaml.safe_load(done.out)
    assert (read["id"], read["cluster"], read["name"], read["status"]) == (1, 1, "deploy", "ready")
    assert [child["graph_type"] for child in read["children"]] == ["default"]
    assert notes(env) == ["first", "first"]


def test_a_dry_run_prints_the_plan_and_starts_nothing(env: CommandLine) -> None:
    done = env.ok("graph", "execute", "--env", 1, "--node", 1, "--dry-run")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.out.splitlines() if "|" in line]
    assert cells[0] == ["graph_type", "task", "node", "action"]
    actions = {(task, node): action for _, task, node, action in cells[1:]}
    assert actions["first", "1"] == "run"
    assert actions["never", "1"].startswith("skip (condition")
    assert actions["done", "null"].startswith("skip")
    assert notes(env) == []
    assert "would run" in done.err
    assert "Target:" not in done.err
    (plan,) = env.ok("graph", "execute", "--env", 1, "--dry-run", "--format", "json", "-S", ":first").json
    assert {(one["task"], one["runs"]) for one in plan["instances"] if one["node"] == 2} == {
        ("first", True), ("second", False), ("never", False),
    }  # fmt: skip


def test_a_noop_run_changes_nothing(env: CommandLine) -> None:
    done = env.ok("graph", "execute", "--env", 1, "--noop", "--wait")
    assert done.out == started(1)
    assert notes(env) == []


def test_a_graph_that_places_nothing(env: CommandLine) -> None:
    """It is said when the run begins, when it ends, and by a dry run."""
    says = "the nowhere graph has nothing to do on node 1, 2 [G066]"
    done = env.ok("graph", "execute", "--env", 1, "--type", "nowhere", "--wait")
    assert says in done.err
    assert "ended: ready. There was nothing to do." in done.err
    assert says in env.ok("graph", "execute", "--env", 1, "--type", "nowhere", "--dry-run").err


def test_a_selection_that_leaves_nothing(env: CommandLine) -> None:
    """What is an error when it is executed is a warning before."""
    words = ("graph", "execute", "--env", 1, "--subgraphs", "second:first")
    refused, shown = env(*words), env.ok(*words, "--dry-run")
    warning = "The selection leaves nothing to run"
    assert (refused.code, "The selection leaves nothing of the default graph" in refused.err) == (7, True)
    assert warning in shown.err
    assert warning not in env.ok("graph", "execute", "--env", 1, "--task-names", "first", "--dry-run").err
    assert warning not in env.ok("graph", "execute", "--env", 1, "--dry-run").err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-t", "defualt"], 5, "Did you mean default?"),
        (["-T", "frist"], 5, "Did you mean first?"),
        (["-n", "9"], 5, "Node 9 is not in environment 1. Known: 1, 2."),
        (["-S", ":"], 2, "subgraph"),
        (["--dry-run", "--noop"], 2, "not allowed with argument"),
        (["--wait", "--no-wait"], 2, "not allowed with argument"),
    ],
)
def test_what_cannot_be_run_is_one_clear_error(
    env: CommandLine, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    done = env("graph", "execute", "--env", 1, *words)
    assert done.code == code
    assert message in done.err + capsys.readouterr().err
    assert done.out == ""


def test_interrupts_stop_and_then_kill_the_run(env: CommandLine) -> None:
    line = [sys.executable, "-m", "fuelclient.main", "--engine", str(env.engine), "graph", "execute", "--env", "1"]
    with subprocess.Popen(
        [*line, "--type", "slow", "--wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    ) as following:  # fmt: skip
        assert following.stderr is not None
        _until(following, "running")
        following.send_signal(signal.SIGINT)
        _until(following, "Stopping:")
        began = time.monotonic()
        following.send_signal(signal.SIGINT)
        _until(following, "Killing")
        following.stderr.read()
        assert following.wait(30) == 130
    assert time.monotonic() - began < 30
    assert "error" in env.ok("task", "list", "-f", "csv").out


def _until(following: subprocess.Popen[str], word: str) -> None:
    """Read the narration up to a line with `word`."""
    assert following.stderr is not None
    seen = []
    for line in following.stderr:
        seen.append(line)
        if word in line:
            return
    raise AssertionError(seen)

"""The progress of runs in a real terminal: what is shown, what stays, and what keys and closed windows do."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine
from executions import TOLERANT, Executions, executions, shell
from processes import eventually
from pty_session import Session, session
from tmux import Terminal

from fuelclient.model.node import Node

pytestmark = pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid (util-linux) is not installed")

STARTED = "Deployment task with id 1 for the environment 1 has been started.\n"


class Gate:
    """What a task waits for, until the test lets it go."""

    def __init__(self, path: Path) -> None:
        self._path = path
        os.mkfifo(path)

    @property
    def command(self) -> str:
        return f"read line < {self._path}"

    def open(self) -> None:
        """The task that waits goes on; it is waited for first."""
        assert eventually(self._opened, seconds=60), "nobody waits at the gate"

    def _opened(self) -> bool:
        try:
            number = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return False
        os.write(number, b"go\n")
        os.close(number)
        return True


def interrupted_twice(shown: Session) -> None:
    """The run is stopped and then killed by Ctrl-C. Two that come at once are one for the kernel."""
    shown.type("\x03")
    shown.until_shown("Stopping:")
    shown.type("\x03")
    shown.until_shown("Killing running tasks.")
    assert shown.ended()[0] == 130


@pytest.fixture
def env(tmp_path: Path) -> Executions:
    """Environment 1 with one compute node."""
    return executions(tmp_path, nodes=1)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


@pytest.fixture
def held(env: Executions, gate: Gate) -> Executions:
    """The default graph: quick, then held at the gate, then bad, which fails, and never."""
    env.graph(
        shell("quick"), shell("held", gate.command, requires=["quick"]), shell("bad", "exit 3", requires=["held"]),
        shell("never", requires=["bad"]),
    )  # fmt: skip
    return env


def test_progress_is_shown_while_it_runs_and_failures_stay(held: Executions, gate: Gate) -> None:
    with session(held.engine, "graph", "execute", "--env", 1, "--wait", stdout=False) as shown:
        text = shown.until_shown("held/node-1", "1/4  25%", "elapsed")
        lines = text.splitlines()
        title = lines.index("Run 1  graph default  environment 1")
        assert lines[title + 1] == "━" * 12 + "·" * 38
        assert lines[title + 3] == "1 running  1 ready  2 pending"
        assert lines[title + 4].endswith("  held/node-1")
        gate.open()
        code, out = shown.ended()
        kept = shown.screen.text
    assert (code, out) == (8, STARTED)
    assert re.search(r"default: bad/node-1 error \(exit code 3\)\n  fuel2 --engine ", kept)
    assert kept.count("bad/node-1 error") == 1
    assert "Run 1 ended: error." in kept
    assert "1 error, 1 not reached, 2 ready in 0:" in kept
    assert "elapsed" not in kept
    assert "━" not in kept
    assert shown.screen.coloured
    assert shown.screen.cursor_shown


def test_a_node_whose_name_cannot_be_pasted_keeps_its_id(tmp_path: Path) -> None:
    """Another node has the name too, or a shell reads it otherwise; the command that shows the output works."""
    env = executions(tmp_path / "named", nodes=3)
    env.backend.clusters.create("other", 1)
    env.backend.nodes.create([Node(0, "node-1", cluster_id=2)])
    env.backend.nodes.update(2, name="two words")
    env.graph(TOLERANT, shell("bad", "exit 3"))
    with session(env.engine, "graph", "execute", "--env", 1) as shown:
        assert shown.ended()[0] == 0
        kept = shown.screen.text
    assert sorted(re.findall(r"default: (bad/\S+) error", kept)) == ["bad/1", "bad/2", "bad/node-3"]
    assert CommandLine(env.engine)("task", "logs", 1, "bad/node-3").code == 0


def test_a_document_is_all_of_stdout(held: Executions, gate: Gate) -> None:
    line = ("graph", "execute", "--env", 1, "--wait", "--format", "json", "--task-names", "held")
    with session(held.engine, *line, stdout=False) as shown:
        shown.until_shown("held/node-1", "1 running")
        gate.open()
        code, out = shown.ended()
    document = json.loads(out)
    assert (code, document["id"], document["status"]) == (0, 1, "ready")
    assert "Run 1 ended: ready." in shown.screen.text


def test_without_colours_the_same_is_shown(held: Executions, gate: Gate) -> None:
    line = ("graph", "execute", "--env", 1, "--task-names", "held")
    with session(held.engine, *line, environ={"NO_COLOR": "1"}) as shown:
        shown.until_shown("held/node-1", "·", "1 running")
        gate.open()
        assert shown.ended()[0] == 0
    assert not shown.screen.coloured
    assert STARTED in shown.screen.text


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(held: Executions, gate: Gate) -> None:
    line = ("graph", "execute", "--env", 1, "--task-names", "held")
    with session(held.engine, *line, environ={"TERM": "dumb"}) as shown:
        shown.until_shown("default: held/node-1 running\n")
        gate.open()
        assert shown.ended()[0] == 0
    assert "default: held/node-1 ready\n" in shown.screen.text
    assert "\x1b" not in shown.received


def test_quiet_shows_errors_only(held: Executions, gate: Gate) -> None:
    with session(held.engine, "-q", "--color", "never", "graph", "execute", "--env", 1) as shown:
        gate.open()
        code, _ = shown.ended()
    assert code == 8
    assert shown.screen.text.splitlines()[:2] == [STARTED.strip(), "default: bad/node-1 error (exit code 3)"]
    assert "\x1b" not in shown.received


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    env = executions(tmp_path / "many", nodes=9)
    env.graph(shell("a-task-whose-name-is-long-and-would-not-fit", "sleep 600"))
    with session(env.engine, "graph", "execute", "--env", 1, width=40, height=10) as shown:
        text = shown.until_shown("9 running", "  and 6 more")
        frame = text.splitlines()[text.splitlines().index("Run 1  graph default  environment 1") :]
        assert max(map(len, frame)) <= 40
        assert len([line for line in frame if line.startswith("  0:")]) == 3
        assert all(line.endswith("…") for line in frame if line.startswith("  0:"))
        interrupted_twice(shown)
    assert "Killing running tasks." in shown.screen.text


def test_it_is_drawn_calmly_and_fits_when_the_window_shrinks(held: Executions) -> None:
    with session(held.engine, "graph", "execute", "--env", 1) as shown:
        shown.until_shown("held/node-1")
        before, began = shown.received.count("elapsed"), time.monotonic()
        shown.until(lambda _: shown.received.count("elapsed") >= before + 10)
        assert time.monotonic() - began > 0.9
        shown.resize(30, 12)
        shown.until(lambda text: "Run 1  graph default" in text.splitlines())
        interrupted_twice(shown)


def test_one_interrupt_lets_end_what_runs(held: Executions, gate: Gate) -> None:
    with session(held.engine, "graph", "execute", "--env", 1) as shown:
        shown.until_shown("held/node-1")
        shown.type("\x03")
        shown.until_shown("Stopping: running tasks may finish, no more start.", "Run 1  stopping  graph default")
        gate.open()
        assert shown.ended()[0] == 130
    assert "Run 1 ended: stopped." in shown.screen.text
    assert held.outcomes(1)["held@1"][0] == "ready"


def test_a_closed_terminal_does_not_hurt_the_run(env: Executions, gate: Gate) -> None:
    env.graph(shell("held", gate.command), shell("then", env.note("then"), requires=["held"]))
    with session(env.engine, "graph", "execute", "--env", 1) as shown:
        shown.until_shown("held/node-1")
        shown.close()
        shown.process.wait(60)
        gate.open()
        assert env.ended(1).status == "ready"
    assert env.noted() == ["then"]


def test_a_watcher_sees_the_graphs_of_a_sequence(env: Executions, gate: Gate) -> None:
    env.graph(shell("a"), graph_type="first")
    env.graph(shell("b", gate.command), graph_type="second")
    CommandLine(env.engine).ok("sequence", "create", "-r", 1, "-n", "both", "-t", "first", "second")
    with session(env.engine, "sequence", "execute", 1, "--env", 1) as shown:
        shown.until_shown("Run 1  graph second (2 of 2)", "1/2  50%", "b/node-1")
        with session(env.engine, "task", "watch", 3) as watching:
            watching.until_shown("Run 1  graph second (2 of 2)", "1/2  50%", "b/node-1")
            gate.open()
            assert watching.ended()[0] == shown.ended()[0] == 0


def test_what_takes_longer_than_before_is_told(env: Executions, gate: Gate) -> None:
    env.graph(shell("a"))
    env.run()
    env.graph(shell("a", gate.command))
    with session(env.engine, "graph", "execute", "-e", 1, "--force") as shown:
        shown.until_shown("longer than run 1", "a/node-1")
        gate.open()
        assert shown.ended()[0] == 0


def test_a_resumed_run_is_shown(env: Executions, gate: Gate) -> None:
    env.graph(shell("held", gate.command))
    running = env.begin()
    env.until(running.id, lambda _: env.outcomes(running.id)["held@1"][0] == "running")
    runner = env.runner()
    assert runner is not None
    os.kill(runner.pid, 9)
    env.until(running.id, lambda found: found.runner == "gone")
    with session(env.engine, "task", "resume", running.id) as shown:
        shown.until_shown(f"Run {running.id}  graph default", "0/1  0%", "1 running", "held/node-1")
        gate.open()
        assert shown.ended()[0] == 0


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_an_interrupt_leaves_no_line_of_the_display(tmp_path: Path) -> None:
    env = executions(tmp_path, nodes=2)
    env.graph(shell("a-task-" * 12, env.held("x")))
    terminal = Terminal(tmp_path)
    terminal.start(f"{Path(sys.executable).with_name('fuel2')} --engine {env.engine} graph execute --env 1", 80, 24)
    terminal.wait_for("2 running")
    terminal.keys("C-c")
    shown = terminal.wait_for("Stopping:", "stopping  graph default")
    env.let_go()
    ended = terminal.wait_for("LEFT WITH 130")
    terminal("kill-server")
    assert shown.count("graph default") == 1
    assert "graph default" not in ended

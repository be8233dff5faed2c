"""How the UI ends, and pauses, in a real terminal: which is then as it was before."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

from pty_session import session
from tmux import PLAIN, Terminal
from tui_driving import demo_engine

FUEL2 = Path(sys.executable).with_name("fuel2")

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_engine(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    made("kill-server")


def started(terminal: Terminal, engine: Path, directory: Path, shell: str = "sh") -> int:
    """The UI stands in a terminal; the id of its process."""
    note = directory / "pid"
    terminal.start(f"{shell} -c 'echo $$ >{note}; exec {FUEL2} --engine {engine} tui'", 100, 30)
    terminal.wait_for("environments", "demo", "RO")
    assert "alt=1 cursor=0" in terminal.state()
    return int(note.read_text())


@needs_tmux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_leaves_the_terminal_as_it_was(
    terminal: Terminal, engine: Path, tmp_path: Path, number: signal.Signals
) -> None:
    process = started(terminal, engine, tmp_path)
    os.kill(process, number)
    terminal.wait_for(f"LEFT WITH {128 + number}")
    assert terminal.state() == f"{PLAIN} echo icanon isig"


@needs_tmux
def test_a_signal_ends_it_from_within_a_dialog(terminal: Terminal, engine: Path, tmp_path: Path) -> None:
    process = started(terminal, engine, tmp_path)
    terminal.keys("A")
    terminal.wait_for("ARMED")
    terminal.keys("e")
    terminal.wait_for("type demo")
    os.kill(process, signal.SIGTERM)
    terminal.wait_for(f"LEFT WITH {128 + signal.SIGTERM}")
    assert terminal.state() == f"{PLAIN} echo icanon isig"


@needs_tmux
def test_it_is_suspended_and_comes_back(terminal: Terminal, engine: Path) -> None:
    terminal("new-session", "-d", "-x", "100", "-y", "30", "env PS1='READY> ' sh -i")
    terminal.wait_for("READY>")
    before = terminal.state()
    terminal.keys(f"{FUEL2} --engine {engine} tui", "Enter")
    terminal.wait_for("environments", "demo", "RO")
    terminal.keys("?")
    terminal.wait_for("Esc closes")
    terminal.keys("C-z")
    terminal.wait_for("READY>", "topped")
    assert terminal.state() == before
    terminal.keys("fg", "Enter")
    terminal.wait_for("Esc closes", "environments")
    assert "alt=1 cursor=0" in terminal.state()
    terminal.keys("Escape")
    terminal.wait_for("RO", without="Esc closes")
    terminal.keys("q")
    terminal.wait_for("READY>", without="environments ")


_FAILING = """
import sys
from fuelclient.main import main
from fuelclient.tui.app import FuelUI

def fail(self):
    password = "hunter2"
    raise RuntimeError("nobody expected it")

FuelUI.action_help = fail
sys.exit(main(["--engine", sys.argv[1], "tui"]))
"""


@needs_tmux
def test_an_error_of_the_ui_is_one_line_without_any_variables(terminal: Terminal, engine: Path, tmp_path: Path) -> None:
    script = tmp_path / "failing.py"
    script.write_text(_FAILING, encoding="utf-8")
    terminal.start(f"{sys.executable} {script} {engine}", 100, 30)
    terminal.wait_for("environments", "demo", "RO")
    terminal.keys("?")
    shown = terminal.wait_for("LEFT WITH 1")
    assert "unexpected error RuntimeError: nobody expected it" in shown
    assert "Traceback" not in shown
    assert "hunter2" not in shown
    assert terminal.state() == f"{PLAIN} echo icanon isig"


@needs_tmux
def test_the_line_that_is_shown_names_the_target(terminal: Terminal, engine: Path) -> None:
    terminal.start(f"SERVER_ADDRESS=10.20.0.2 {FUEL2} --engine {engine} --local tui", 200, 30)
    terminal.wait_for(f"$ fuel2 --engine {engine} --local env list", "environment 1 demo")
    terminal.keys("3")
    terminal.wait_for(f"$ fuel2 --engine {engine} --local graph preview --env 1")
    terminal.keys("q")
    terminal.wait_for("LEFT WITH 0")


@pytest.mark.slow
def test_a_terminal_that_goes_away_ends_it(engine: Path) -> None:
    with session(engine, "tui") as one:
        os.read(one._master, 65536)
        one.close()
        assert one.process.wait(60) == 128 + signal.SIGHUP


@pytest.mark.parametrize("away", ["stdin", "stdout", "stderr"])
def test_what_is_no_terminal_is_named(engine: Path, away: str) -> None:
    """Textual draws on stderr: with that in a file nobody would see anything, and every key would be taken."""
    master, slave = pty.openpty()
    streams = {**dict.fromkeys(("stdin", "stdout", "stderr"), slave), away: subprocess.PIPE}
    line = [str(FUEL2), "--engine", str(engine), "tui"]
    environ = os.environ | {"TERM": "xterm-256color"}
    with subprocess.Popen(
        line, stdin=streams["stdin"], stdout=streams["stdout"], stderr=streams["stderr"], text=True, env=environ
    ) as process:
        os.close(slave)
        _, said = process.communicate(timeout=60)
    told = said if away == "stderr" else os.read(master, 65536).decode()
    os.close(master)
    assert process.returncode == 2
    assert f"needs a terminal, but {away} is not one" in told
    assert "graph preview --env ID" in " ".join(told.split())

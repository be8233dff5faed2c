"""The UI in a real terminal, driven by what a terminal sends and judged by what it shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

from tui_driving import demo_engine

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, directory: Path) -> None:
        self._base = ["tmux", "-S", str(directory / "socket"), "-f", "/dev/null"]
        unset = ("TMUX", "NO_COLOR", "COLUMNS", "LINES")
        self._environ = {key: value for key, value in os.environ.items() if not key.startswith(unset)}

    def __call__(self, *words: str) -> str:
        done = subprocess.run([*self._base, *words], capture_output=True, text=True, check=True, env=self._environ)
        return done.stdout

    def start(self, command: str, width: int, height: int) -> None:
        self("new-session", "-d", "-x", str(width), "-y", str(height), f"{command}; echo LEFT WITH $?; sleep 60")

    def keys(self, *keys: str) -> None:
        self("send-keys", *keys)

    def text(self) -> str:
        return self("capture-pane", "-p")

    def wait_for(self, *words: str, without: str = "\0", seconds: float = 20.0) -> str:
        """The screen as soon as it shows all words, and not the one that it is to be without."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text()
            if all(word in shown for word in words) and without not in shown:
                return shown
            assert time.monotonic() < end, f"{words} never came:\n{shown}"
            time.sleep(0.05)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    made("kill-server")


def test_from_environments_to_graph_order_and_out(terminal: Terminal, tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    fuel2 = Path(sys.executable).with_name("fuel2")
    terminal.start(f"{fuel2} --engine {engine} tui", 140, 40)
    terminal.wait_for("environments", "demo", "RO")
    terminal.keys("Enter")
    terminal.wait_for("controller", "telemetry", "1 roles")
    terminal.keys("j", "Enter")
    shown = terminal.wait_for("role=compute", "compute-agent", "●")
    assert "volume-backend" not in shown
    terminal.keys("3")
    terminal.wait_for("remove-stale-facts", "who set what")
    terminal.keys("/", "h", "o", "s", "t", "-", "n")
    terminal.wait_for("1/55", "host-network", "override.yaml")
    terminal("resize-window", "-x", "20", "-y", "5")
    terminal.wait_for("tasks", "host-net")
    terminal("resize-window", "-x", "140", "-y", "40")
    terminal.wait_for("1/55", "host-network", "override.yaml")
    terminal.keys("Enter")
    terminal.wait_for("Enter open")
    terminal.keys("q")
    terminal.wait_for("LEFT WITH 0")


def test_keys_that_are_typed_ahead_are_not_lost(terminal: Terminal, tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    fuel2 = Path(sys.executable).with_name("fuel2")
    terminal.start(f"{fuel2} --engine {engine} tui", 140, 40)
    terminal.wait_for("environments", "demo", "RO")
    terminal.keys("Enter", "j", "Enter", "3", "/", "h", "o", "s", "t", "-", "n", "Enter", "Enter")
    terminal.wait_for("browse", "runs before", "host-network", "runs after")
    terminal.keys("8")
    terminal.wait_for("Nothing was executed on environment 1 yet.")
    terminal.keys("A")
    terminal.wait_for("ARMED", "e execute")
    terminal.keys("e")
    terminal.wait_for("type demo", "$ fuel2 --engine", "graph execute --env 1")
    terminal.keys("Escape")  # alone: with another key behind it, it would be alt
    terminal.wait_for("ARMED", without="type demo")
    terminal.keys("q")
    terminal.wait_for("LEFT WITH 0")


def test_without_a_terminal_it_says_what_to_use_instead(tmp_path: Path) -> None:
    fuel2 = Path(sys.executable).with_name("fuel2")
    line = [str(fuel2), "--engine", str(tmp_path / "engine.db"), "tui"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "fuel2 graph preview" in done.stderr
    assert done.stdout == ""

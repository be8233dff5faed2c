"""The UI in a real terminal, driven by what a terminal sends and judged by what it shows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

from tmux import Terminal
from tui_driving import demo_engine

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


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
    shown = terminal.wait_for("role:compute", "compute-agent", "●")
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
    terminal.wait_for("No graph has been executed on environment 1 yet.")
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
    assert "graph preview --env ID" in done.stderr
    assert done.stdout == ""

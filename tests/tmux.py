"""A terminal that tmux draws: what a person would see, and what state the terminal itself is in."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

_STATE = "alt=#{alternate_on} cursor=#{cursor_flag} mouse=#{mouse_any_flag}"

PLAIN = "alt=0 cursor=1 mouse=0"
"""The state of a terminal in which nothing draws: no alternate screen, a cursor, and a mouse of its own."""


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

    def state(self) -> str:
        """The state that programs change: the alternate screen, the cursor, the mouse, and whether it echoes."""
        tty = self("display-message", "-p", "#{pane_tty}").strip()
        modes = subprocess.run(["stty", "-a", "-F", tty], capture_output=True, text=True, check=True).stdout.split()
        words = " ".join(word for word in ("echo", "icanon", "isig") if word in modes)
        return f"{self('display-message', '-p', _STATE).strip()} {words}".strip()

    def wait_for(self, *words: str, without: str = "\0", seconds: float = 30.0) -> str:
        """The screen as soon as it shows all words, and not the one that it is to be without."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text()
            if all(word in shown for word in words) and without not in shown:
                return shown
            assert time.monotonic() < end, f"{words} never came:\n{shown}"
            time.sleep(0.05)

"""A terminal drawn by tmux: what a person sees, and the state of the terminal itself."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

_STATE = "alt=#{alternate_on} cursor=#{cursor_flag} mouse=#{mouse_any_flag}"

PLAIN = "alt=0 cursor=1 mouse=0"
"""The state of an idle terminal: no alternate screen, a visible cursor, the mouse not captured."""


class Terminal:
    """A separate tmux server with one window."""

    def __init__(self, directory: Path) -> None:
        self._base = ["tmux", "-S", str(directory / "socket"), "-f", "/dev/null"]

    def __call__(self, *words: str) -> str:
        # The environment is stated because readline adds LINES and COLUMNS behind Python's back, for 80x24.
        environ = dict(os.environ)
        return subprocess.run([*self._base, *words], capture_output=True, text=True, check=True, env=environ).stdout

    def start(self, command: str, width: int, height: int) -> None:
        self("new-session", "-d", "-x", str(width), "-y", str(height), f"{command}; echo LEFT WITH $?; sleep 60")

    def keys(self, *keys: str) -> None:
        self("send-keys", *keys)

    def text(self) -> str:
        return self("capture-pane", "-p")

    def state(self) -> str:
        """The state that programs change: alternate screen, cursor, mouse and echo."""
        tty = self("display-message", "-p", "#{pane_tty}").strip()
        modes = subprocess.run(["stty", "-a", "-F", tty], capture_output=True, text=True, check=True).stdout.split()
        words = " ".join(word for word in ("echo", "icanon", "isig") if word in modes)
        return f"{self('display-message', '-p', _STATE).strip()} {words}".strip()

    def wait_for(self, *words: str, without: str = "\0", seconds: float = 60.0) -> str:
        """Return the screen as soon as it shows all words and not `without`."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text()
            if all(word in shown for word in words) and without not in shown:
                return shown
            assert time.monotonic() < end, f"{words} never came:\n{shown}"
            time.sleep(0.05)

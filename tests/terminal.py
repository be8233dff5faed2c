"""`fuel2` in a real pseudo-terminal: what a person would type at it, and what it would show them."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60.0
"""Seconds that anything may take to appear: far more than it needs, since the machine may be busy."""

_SEQUENCE = re.compile(r"\x1b\[(?P<numbers>[?0-9;]*)(?P<letter>[A-Za-z])|(?P<plain>[^\x1b])", re.DOTALL)


class Screen:
    """The lines that a terminal of `width` columns has shown, as far as `fuel2` moves its cursor: up, to the beginning
    of a line, and by erasing one. What it does not know is an assertion that fails."""

    def __init__(self, width: int) -> None:
        self.width, self.row, self.column = width, 0, 0
        self.lines: list[list[str]] = [[]]
        self.cursor_shown = True
        self.coloured = False
        self.erased = 0
        self._rest = ""

    def feed(self, text: str) -> None:
        """The terminal gets `text`, which may end within a sequence."""
        text = self._rest + text
        at = 0
        while at < len(text):
            found = _SEQUENCE.match(text, at)
            if found is None:
                assert re.fullmatch(r"\x1b(\[[?0-9;]*)?", text[at:]), repr(text[at : at + 20])
                break
            at = found.end()
            if found["plain"]:
                self._put(found["plain"])
            else:
                self._control(found["numbers"], found["letter"])
        self._rest = text[at:]

    def _put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self._down()
        else:
            if self.column == self.width:
                self._down()
                self.column = 0
            line = self.lines[self.row]
            line += " " * (self.column + 1 - len(line))
            line[self.column] = char
            self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def _control(self, numbers: str, letter: str) -> None:
        if letter == "A":
            self.row = max(0, self.row - int(numbers or 1))
        elif (numbers, letter) == ("2", "K"):
            self.lines[self.row] = []
            self.erased += 1
        elif numbers == "?25":
            self.cursor_shown = letter == "h"
        else:
            assert letter == "m", (numbers, letter)
            self.coloured = self.coloured or any(30 <= int(one or 0) < 50 for one in numbers.split(";"))

    @property
    def text(self) -> str:
        """What has been shown, and not erased again."""
        return "\n".join("".join(line).rstrip() for line in self.lines)


class Session:
    """A process whose stdin and stderr are a terminal; its stdout is a pipe, unless it is the terminal too."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, width: int) -> None:
        self.process, self.screen, self._master = process, Screen(width), master
        self.received = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, width: int, height: int) -> None:
        """The window has another size from now on, and the process is told."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.screen.width = width

    def close(self) -> None:
        """The window is closed: the process gets what the kernel sends then."""
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def until(self, holds: Callable[[str], object]) -> str:
        """The text on the screen as soon as something holds of it."""
        deadline = time.monotonic() + PATIENCE
        while not holds(self.screen.text):
            assert self._read(deadline), self.screen.text
        return self.screen.text

    def until_shown(self, *words: str) -> str:
        return self.until(lambda text: all(word in text for word in words))

    def ended(self) -> tuple[int, str]:
        """The exit code, and what went to the pipe; everything was shown then."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, self.screen.text
        out = self.process.stdout.read().decode() if self.process.stdout else ""
        return self.process.wait(PATIENCE), out

    def _read(self, deadline: float) -> bool:
        """Whether something more was shown before the deadline; the end of the process is the end of it."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self._master, 65536)
        except OSError:  # Linux says so when nobody has the other end any more
            return False
        text = self._decoder.decode(part)
        self.received += text
        self.screen.feed(text)
        return bool(part)


@contextmanager
def session(
    engine: Path, *arguments: object, width: int = 100, height: int = 30, stdout: bool = True,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Session]:  # fmt: skip
    """`fuel2` on an engine file, in a terminal that it controls; it is ended with the block."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    unset = ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR")
    inherited = {key: value for key, value in os.environ.items() if key not in unset}
    line = ["setsid", "--ctty", sys.executable, "-m", "fuelclient.main", "--engine", str(engine), *map(str, arguments)]
    process = subprocess.Popen(
        line, stdin=slave, stderr=slave, stdout=slave if stdout else subprocess.PIPE,
        env={**inherited, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
             "PYTHONPATH": str(Path(__file__).resolve().parents[1]), **(environ or {})},
    )  # fmt: skip
    os.close(slave)
    running = Session(process, master, width)
    try:
        yield running
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
        running.close()

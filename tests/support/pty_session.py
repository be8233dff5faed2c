"""Run `fuel2` in a real pseudo-terminal: type, resize, close, and read what it shows."""

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
"""Seconds that anything may take to appear: far more than it needs, because the machine may be busy."""

_SEQUENCE = re.compile(r"\x1b\[(?P<numbers>[?0-9;]*)(?P<letter>[A-Za-z])|(?P<plain>[^\x1b])", re.DOTALL)


class Screen:
    """The lines that a terminal of `width` columns shows. It knows the sequences that `fuel2` sends (up, start of line,
    erase line, colours, cursor) and fails on all others."""

    def __init__(self, width: int) -> None:
        self.width, self.row, self.column = width, 0, 0
        self.lines: list[list[str]] = [[]]
        self.cursor_shown = True
        self.coloured = False
        self.erased = 0
        self._rest = ""

    def feed(self, text: str) -> None:
        """Show `text`, which may end in the middle of a sequence."""
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
        """What is shown and was not erased."""
        return "\n".join("".join(line).rstrip() for line in self.lines)


class Session:
    """A process whose stdin and stderr are a terminal; its stdout is a pipe or the same terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, width: int) -> None:
        self.process, self.screen, self._master = process, Screen(width), master
        self.received = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, width: int, height: int) -> None:
        """Change the size of the window; the process gets a signal."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.screen.width = width

    def close(self) -> None:
        """Close the window; the kernel sends the process a signal."""
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def until(self, holds: Callable[[str], object]) -> str:
        """Return the text on the screen as soon as `holds` accepts it."""
        deadline = time.monotonic() + PATIENCE
        while not holds(self.screen.text):
            assert self._read(deadline), self.screen.text
        return self.screen.text

    def until_shown(self, *words: str) -> str:
        return self.until(lambda text: all(word in text for word in words))

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and what went to the pipe."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, self.screen.text
        out = self.process.stdout.read().decode() if self.process.stdout else ""
        return self.process.wait(PATIENCE), out

    def _read(self, deadline: float) -> bool:
        """Read output, and return whether any came before the deadline or the end of the process."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self._master, 65536)
        except OSError:  # what Linux raises once the other end is closed
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
    """Run `fuel2` on an engine file in its own terminal, and kill it at the end of the block."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    line = ["setsid", "--ctty", sys.executable, "-m", "fuelclient.main", "--engine", str(engine), *map(str, arguments)]
    process = subprocess.Popen(
        line, stdin=slave, stderr=slave, stdout=slave if stdout else subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **(environ or {})},
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

"""Start processes that run Python code, find processes by their command lines, and wait for something to happen."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a process that runs `code` and can import the package. The caller waits for its end."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command_lines() -> Iterator[tuple[int, str]]:
    """Yield the id and the command line of every other process on this machine, as `ps` shows them."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue


def living(words: str) -> list[int]:
    """Return the processes whose command line begins with `words`."""
    return [number for number, line in command_lines() if line.startswith(words)]


def eventually(holds: Callable[[], object], seconds: float = 60) -> bool:
    """Wait until `holds` returns something true, and return whether it did within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.02)
    return bool(holds())

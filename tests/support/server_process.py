"""`fuel2 server run` as a process, on a free port of this machine."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60.0
"""Seconds that a server may take to start or to end: far more than it needs, because the machine may be busy."""


@dataclass(frozen=True)
class Serving:
    """A server that answers at `url`, and its log."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    def ended_by(self, number: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(directory: Path, *options: str, engine: str = "engine.db") -> Iterator[Serving]:
    """Run a server on an engine file in `directory`, and kill it afterwards.

    Unless the options say who may use it, every program may: most tests are about something else.
    """
    if "--auth" not in options:
        options = ("--no-auth", "--force", *options)
    log = directory / "server.log"
    command = [sys.executable, "-m", "fuelclient.main", "--engine", str(directory / engine)]
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*command, "server", "run", "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=errors, text=True, env=_environment(directory),
        )  # fmt: skip
    try:
        yield Serving(process, _url(process, log), log)
    finally:
        process.kill()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


def _url(process: subprocess.Popen[str], log: Path) -> str:
    """Return the address that the server prints once it listens."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
    line = process.stdout.readline() if ready else ""
    assert line.startswith("Listening on http://"), (line, log.read_text(encoding="utf-8"))
    return line.removeprefix("Listening on ").strip()


def _environment(directory: Path) -> dict[str, str]:
    """Return an environment without the user's settings; benchmarks use this module too, and have no conftest."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "SERVER_", "FUEL"))}
    return {**kept, "HOME": str(directory), "XDG_CONFIG_HOME": str(directory / "config")}

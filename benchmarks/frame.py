"""The first frame of the terminal UI: the real command in a pseudo-terminal, until that shows what was asked for."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from pathlib import Path

COLUMNS, LINES = 140, 40
_LONGEST = 60.0


def first_frames(engine: Path, wanted: str, times: int) -> tuple[float, float]:
    """The medians of the milliseconds on the clock and of those of the processor, from the start of `fuel2 tui --env 1`
    until `wanted` is on the terminal. Byte code is warm: it has a folder of its own, which one run before has filled.
    """
    with tempfile.TemporaryDirectory(prefix="fuel2-bytecode-") as compiled:
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"PYTHONPYCACHEPREFIX": compiled, "TERM": "xterm-256color"}
        result = [_frame(engine, wanted.encode(), environ) for _ in range(times + 1)][1:]
    walls, cpus = (sorted(one[place] for one in result) for place in (0, 1))
    return walls[times // 2], cpus[times // 2]


def _frame(engine: Path, wanted: bytes, environ: Mapping[str, str]) -> tuple[float, float]:
    command = [str(Path(sys.executable).with_name("fuel2")), "--engine", str(engine), "tui", "--env", "1"]
    start = time.perf_counter()
    child, terminal = pty.fork()
    if not child:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        os.execve(command[0], command, dict(environ))  # noqa: S606 (our own command, of this interpreter)
    try:
        _read_until(terminal, wanted)
        return (time.perf_counter() - start) * 1000, _processor(child)
    finally:
        os.close(terminal)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _read_until(terminal: int, wanted: bytes) -> None:
    """Read what the terminal gets. Raises `TimeoutError` when it never gets what is wanted."""
    shown, deadline = b"", time.monotonic() + _LONGEST
    while wanted not in shown:
        if not select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError(f"the terminal UI never showed {wanted.decode()!r}")
        shown += os.read(terminal, 1 << 16)


def _processor(process: int) -> float:
    """The milliseconds that all threads of a process have had of a processor so far."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e6

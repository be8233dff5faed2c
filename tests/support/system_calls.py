"""Run a command under strace, which ends it, or refuses it the disk, at one of the system calls that change files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHANGING = (
    "write", "pwrite64", "writev", "pwritev", "ftruncate", "fallocate", "fsync", "fdatasync", "rename", "renameat",
    "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "chmod",
    "fchmod", "fchmodat", "sendfile", "copy_file_range",
)  # fmt: skip
"""The system calls that change files. Those that create one by opening it are followed by one of these."""

KILLED = 128 + 9
_CALL = re.compile(r"^\d+ +(\w+)\(")
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Call:
    """The `nth` system call (from 1) of one name in a process."""

    name: str
    nth: int

    def __str__(self) -> str:
        return f"{self.name} {self.nth}"


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or 137 if it was killed, and what it said."""

    code: int
    err: str


def calls(engine: Path, *arguments: object) -> list[Call]:
    """Run `fuel2` undisturbed to a successful end, and return the calls of its own process that changed files."""
    return _listed(_fuel2(engine, arguments), engine.with_name("calls"))


def runner_calls(engine: Path, run_id: int) -> list[Call]:
    """Let the runner of a run work undisturbed, and return the calls of its own process that changed files."""
    return _listed(_runner(engine, run_id), engine.with_name("calls"))


def killed_at(call: Call, engine: Path, *arguments: object) -> Ended:
    """Run `fuel2` until just before a call, and kill it there; its children too, if they come so far."""
    return _traced(_fuel2(engine, arguments), "-f", "-o", os.devnull, "-e", _killing(call))


def killed_alone_at(call: Call, engine: Path, *arguments: object) -> Ended:
    """Run `fuel2` until just before a call, and kill it there, but none of its children."""
    return _traced(_fuel2(engine, arguments), "-o", os.devnull, "-e", _killing(call))


def runner_killed_at(call: Call, engine: Path, run_id: int) -> Ended:
    """Let the runner of a run work until just before a call, and kill it there, but none of its children."""
    return _traced(_runner(engine, run_id), "-o", os.devnull, "-e", _killing(call))


def refused_from(call: Call, error: str, engine: Path, *arguments: object) -> Ended:
    """Run `fuel2`, and let that call and all later ones of its name fail with an error, such as ENOSPC."""
    injected = f"inject={call.name}:error={error}:when={call.nth}+"
    return _traced(_fuel2(engine, arguments), "-f", "-o", os.devnull, "-e", injected)


def _fuel2(engine: Path, arguments: Sequence[object]) -> list[str]:
    return [sys.executable, "-m", "fuelclient.main", "--engine", str(engine), *map(str, arguments)]


def _runner(engine: Path, run_id: int) -> list[str]:
    return [sys.executable, "-m", "fuelclient.engine.runs.runner", str(engine), str(run_id)]


def _killing(call: Call) -> str:
    return f"inject={call.name}:signal=SIGKILL:when={call.nth}"


def _listed(command: Sequence[str], log: Path) -> list[Call]:
    done = _traced(command, "-f", "-o", str(log), "-e", f"trace={','.join(CHANGING)}")
    assert done.code == 0, done
    seen: Counter[str] = Counter()
    found = []
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    own = lines[0].split()[0]
    for line in lines:
        if (call := _CALL.match(line)) is not None and line.split()[0] == own:
            seen[call[1]] += 1
            found.append(Call(call[1], seen[call[1]]))
    log.unlink()
    return found


def _traced(command: Sequence[str], *options: str) -> Ended:
    done = subprocess.run(
        ["strace", "-qq", *options, *command],
        cwd=_ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return Ended(KILLED if done.returncode == -9 else done.returncode, done.stderr)

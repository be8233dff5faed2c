"""Virtual environments of other programs, built once from the package index and kept beside the checkout.

A directory of the cache is named after what is in it: other requirements, constraints or Pythons get another one.
Processes that need the same one wait for the first of them to build it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
CONSTRAINTS = Path(__file__).with_name("constraints")
_PATIENCE = 600.0
"""Seconds that an installation may take."""


class Absent(Exception):
    """An environment cannot be had here, for this reason."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment in `directory`, with room for more beside it."""

    directory: Path

    def script(self, name: str) -> str:
        """The path of a console script."""
        return str(self.directory / "venv" / "bin" / name)

    @property
    def python(self) -> str:
        return self.script("python")

    def files(self, pattern: str) -> list[Path]:
        """The installed files that match a pattern below site-packages."""
        return sorted((self.directory / "venv" / "lib").glob(f"python3*/site-packages/{pattern}"))


Prepare = Callable[[Environment], None]


def environment(name: str, requirements: tuple[str, ...], prepare: Prepare, recipe: str = "") -> Environment:
    """The environment `name` with `requirements`, pinned by the constraints of that name; `prepare` has been called
    with it once, after the installation. `recipe` stands for what `prepare` does, and changes when that changes.

    Raises `Absent` where it cannot be built, for instance without a network.
    """
    constraints = CONSTRAINTS / f"{name}.txt"
    about = "\n".join((sys.version, *requirements, constraints.read_text(), recipe))
    directory = CACHE / f"{name}-{hashlib.sha256(about.encode()).hexdigest()[:12]}"
    found, ready = Environment(directory), directory / "ready"
    CACHE.mkdir(exist_ok=True)
    with _alone(directory):
        if not ready.exists():
            if directory.exists():  # half of one, whose builder was killed
                shutil.rmtree(directory)
            directory.mkdir()
            _run([sys.executable, "-m", "venv", "--without-pip", str(directory / "venv")])
            # pip of this environment; byte code is left to the first start, which imports a part of the modules only
            pip = [sys.executable, "-m", "pip", "--python", found.python, "install", "--no-compile", "--retries", "1"]
            _run([*pip, "--quiet", "--disable-pip-version-check", "--constraint", str(constraints), *requirements])
            prepare(found)
            ready.touch()
    return found


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """No other process builds it."""
    with directory.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Absent(str(error)) from error
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        told = next((line for line in said if line.startswith("ERROR")), said[-1] if said else done.returncode)
        raise Absent(f"{' '.join(command[1:4])}: {told}")


def clean(**more: str) -> dict[str, str]:
    """The environment variables of this process without those that lead a client or Python elsewhere, and `more`."""
    ours = ("OS_", "FUEL", "SERVER_", "KEYSTONE_", "PYTHON", "LISTEN_PORT", "HTTP_", "HTTPS_", "ALL_PROXY")
    return {key: value for key, value in os.environ.items() if not key.upper().startswith(ours)} | more

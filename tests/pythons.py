"""List the other Pythons of this machine, one line each: the version and the path of the interpreter.

`make test-pythons` tests on them. An interpreter is listed when it is at least the oldest Python that the package
supports, works, and is not of the version that this program runs on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_OLDEST = (3, 11)
_NEWEST = 30
"""The minor version at which looking for `python3.N` on the PATH ends."""

_TELL = """
import ensurepip, sqlite3, ssl, sys, zlib
print(".".join(map(str, sys.version_info[:3])), sys.executable)
"""
"""Fails where a part of the standard library is missing; the path is that of the interpreter behind a pyenv shim."""


def pythons() -> dict[str, str]:
    """Return the path of one interpreter for each version, oldest first."""
    found: dict[str, str] = {}
    for candidate in _candidates():
        version, path = _ask(candidate)
        if version and version != ".".join(map(str, sys.version_info[:3])):
            found.setdefault(version, path)
    return dict(sorted(found.items(), key=lambda item: _numbers(item[0])))


def _candidates() -> Iterator[Path]:
    """Yield interpreters on the PATH, in the places where Pythons are usually unpacked, and those of pyenv and uv."""
    names = [f"python3.{minor}" for minor in range(_OLDEST[1], _NEWEST)]
    for directory in (*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/bin", "/usr/bin"):
        yield from (Path(directory, name) for name in names)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for root in (pyenv / "versions", Path.home() / ".local/share/uv/python", Path("/opt")):
        yield from sorted(root.glob("*/bin/python3"))


def _ask(candidate: Path) -> tuple[str, str]:
    """Return the version and path of an interpreter, both empty unless it is complete and new enough."""
    if not candidate.is_file():
        return "", ""
    asked = subprocess.run([candidate, "-c", _TELL], capture_output=True, text=True, check=False)
    version, _, path = asked.stdout.strip().partition(" ")
    return (version, path) if asked.returncode == 0 and _numbers(version) >= _OLDEST else ("", "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    for known, where in pythons().items():
        print(known, where)  # noqa: T201  # the list is what the Makefile reads

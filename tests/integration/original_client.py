"""The original client, python-fuelclient 11.0.0 of the package index, in an environment of its own.

It is made to start on today's Python by one change: `yaml.load` without a loader, which PyYAML 6 refuses, is
`yaml.safe_load`. It needs `pkg_resources`, which setuptools has until 81.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from integration.cached_environments import Absent, Environment, clean, environment

NAME = "original-client"
_REQUIREMENTS = ("setuptools<81", "python-fuelclient==11.0.0")
_RECIPE = r"\byaml\.load\b -> yaml.safe_load"
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Said:
    """How a command line of the original client ended."""

    code: int
    out: str
    err: str


@functools.cache
def installed() -> Environment:
    """The original client, ready to run; raises `Absent` where it cannot be had."""
    return environment(NAME, _REQUIREMENTS, _shim, _RECIPE)


def _shim(found: Environment) -> None:
    files = found.files("fuelclient/**/*.py")
    changed = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        safe = re.sub(r"\byaml\.load\b", "yaml.safe_load", text)
        if safe != text:
            path.write_text(safe, encoding="utf-8")
            changed += 1
    if not changed:
        raise Absent(f"{NAME}: nothing calls yaml.load, this is another version")


@dataclass(frozen=True, slots=True)
class Original:
    """The original client for the server at `url`, in the directory `home` with settings of its own."""

    url: str
    home: Path

    def __post_init__(self) -> None:
        """Its settings file exists; without one it would write its own into the home directory, and say so."""
        address = urlsplit(self.url)
        self.settings.write_text(f"SERVER_ADDRESS: {address.hostname}\nSERVER_PORT: '{address.port}'\n")

    @property
    def settings(self) -> Path:
        return self.home / "original.yaml"

    @property
    def environ(self) -> dict[str, str]:
        """What it sees. A wide terminal, so that usage is not wrapped by the size of this one."""
        return clean(HOME=str(self.home), FUELCLIENT_CUSTOM_SETTINGS=str(self.settings), COLUMNS="160")

    def __call__(self, arguments: Sequence[str], **more: str) -> Said:
        """Run one command line in `home` to its end."""
        command = [installed().script("fuel2"), *arguments]
        done = subprocess.run(
            command, cwd=self.home, env={**self.environ, **more}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=_PATIENCE, check=False,
        )  # fmt: skip
        return Said(done.returncode, done.stdout, done.stderr)

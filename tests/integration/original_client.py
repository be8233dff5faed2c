"""The original client, python-fuelclient 11.0.0 of the package index, in an environment of its own.

It is made to start on today's Python by one change: `yaml.load` without a loader, which PyYAML 6 refuses, is
`yaml.safe_load`. It needs `pkg_resources`, which setuptools has until 81.
"""

from __future__ import annotations

import atexit
import functools
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from integration.cached_environments import Absent, Environment, clean, environment

NAME = "original-client"
_REQUIREMENTS = ("setuptools<81", "python-fuelclient==11.0.0")
_RECIPE = r"\byaml\.load\b -> yaml.safe_load"
_PATIENCE = 120
"""Seconds that a command line may take."""

_FORK = """
import importlib, json, os, signal, sys
sys.argv = [sys.argv[1]]
# what each of its commands imports, but not its own modules that read settings when they are imported
for name in ("fuelclient.main", "keystoneclient.v2_0.client", "requests", "yaml", "cliff.lister", "cliff.show"):
    importlib.import_module(name)
while line := sys.stdin.readline():
    call = json.loads(line)
    if not (child := os.fork()):
        signal.alarm(call["seconds"])
        os.chdir(call["home"])
        os.environ.clear()
        os.environ.update(call["environ"])
        # it writes to /dev/stdout by name, too, and what it prints then comes after that
        for number, name in enumerate((os.devnull, call["out"], call["err"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
        sys.argv += call["arguments"]
        sys.exit(sys.modules["fuelclient.main"].main(call["arguments"]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A program that has imported the client, which takes a second, and runs each command line in a fork of itself."""


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
        process = _forking()
        assert process.stdin is not None
        assert process.stdout is not None
        with TemporaryDirectory() as directory:
            out, err = Path(directory, "out"), Path(directory, "err")
            call = {
                "arguments": list(arguments), "environ": {**self.environ, **more}, "home": str(self.home),
                "out": str(out), "err": str(err), "seconds": _PATIENCE,
            }  # fmt: skip
            print(json.dumps(call), file=process.stdin, flush=True)
            return Said(int(process.stdout.readline()), out.read_text("utf-8"), err.read_text("utf-8"))


@functools.cache
def _forking() -> subprocess.Popen[str]:
    """The program that runs the command lines of this process; it ends with this process."""
    found = installed()
    process = subprocess.Popen(
        [found.python, "-P", "-c", _FORK, found.script("fuel2")], env=clean(COLUMNS="160"), cwd=found.directory,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(process.communicate)
    return process

"""A real Keystone of the package index, with its database in SQLite and its tokens signed by keys of its own.

The database with its schema and the keys are prepared once, in the cache beside the environment; each Keystone of a
test begins with a copy, learns its own address, and serves it in a process of its own.
"""

from __future__ import annotations

import functools
import getpass
import grp
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import requests
from integration.cached_environments import Absent, Environment, clean, environment
from processes import eventually

HOST = "127.0.0.1"
PATIENCE = 120.0
PASSWORD = "admin-password"  # noqa: S105 (of a Keystone of these tests)
_CONF = """\
[DEFAULT]
log_file = {state}/keystone.log
[database]
connection = sqlite:///{state}/keystone.db
[token]
expiration = {expiration}
allow_expired_window = 0
[fernet_tokens]
key_repository = {state}/fernet-keys
[fernet_receipts]
key_repository = {state}/fernet-keys
[credential]
key_repository = {state}/credential-keys
[cache]
enabled = true
backend = dogpile.cache.memory
[identity]
password_hash_rounds = 4
"""
_SERVE = """\
import os, socket, sys
state, port = sys.argv[1], int(sys.argv[2])
os.environ["OS_KEYSTONE_CONFIG_FILES"] = os.path.join(state, "keystone.conf")
sys.argv = ["keystone"]  # Keystone reads its options from there
from keystone.wsgi.api import application
import waitress
taken = socket.socket()
taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # the test holds the port, and does not listen
taken.bind(("127.0.0.1", port))
waitress.serve(application, sockets=[taken], threads=4, ident=None)
"""


@functools.cache
def installed() -> Environment:
    """Keystone with a prepared state; raises `Absent` where it cannot be had."""
    return environment("keystone", ("keystone", "waitress"), _prepare, _CONF + _SERVE)


def _prepare(found: Environment) -> None:
    state = found.directory / "state"
    for name in ("fernet-keys", "credential-keys"):
        (state / name).mkdir(mode=0o700, parents=True)
    _configure(state, 3600)
    whose = ("--keystone-user", getpass.getuser(), "--keystone-group", grp.getgrgid(os.getegid()).gr_name)
    for command in (("db_sync",), ("fernet_setup", *whose), ("credential_setup", *whose)):
        _manage(found, state, *command)


def _configure(state: Path, expiration: int) -> None:
    (state / "keystone.conf").write_text(_CONF.format(state=state, expiration=expiration))


def _manage(found: Environment, state: Path, *command: str) -> None:
    whole = [found.script("keystone-manage"), "--config-file", str(state / "keystone.conf"), *command]
    done = subprocess.run(whole, env=_environ(), capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        raise Absent(f"keystone-manage {command[0]}: {done.stderr.strip()[-300:]}")


def _environ() -> dict[str, str]:
    return clean(PYTHONWARNINGS="ignore")


@dataclass
class Keystone:
    """A Keystone at `url` whose state is in a directory of its own; `admin` may do everything in project `admin`."""

    state: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/v3"

    def start(self) -> None:
        """It answers."""
        command = [installed().python, "-c", _SERVE, str(self.state), str(self.port)]
        with (self.state / "process.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=_environ(), stdout=log, stderr=log)
        assert eventually(self._answers, PATIENCE), (self.state / "process.log").read_text()[-2000:]

    def stop(self) -> None:
        """Nobody listens at its port any more."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.state / "process.log").read_text()[-2000:]
        try:
            return requests.get(self.url, timeout=5).status_code == 200
        except requests.exceptions.RequestException:
            return False


@contextmanager
def keystone(directory: Path, expiration: int = 3600) -> Iterator[Keystone]:
    """A Keystone that answers until the block ends, with tokens that live for so many seconds."""
    found = installed()
    state = directory / "keystone"
    shutil.copytree(found.directory / "state", state)
    _configure(state, expiration)
    with socket.socket() as holder:  # its port is nobody else's, also while it is down
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((HOST, 0))
        made = Keystone(state, int(holder.getsockname()[1]))
        urls = [word for kind in ("admin", "public", "internal") for word in (f"--bootstrap-{kind}-url", made.url)]
        _manage(
            found, state, "bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-region-id", "RegionOne", *urls
        )
        try:
            made.start()
            yield made
        finally:
            made.stop()

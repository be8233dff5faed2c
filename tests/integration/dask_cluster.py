"""A Dask scheduler and workers that are real: processes on loopback, started and ended by a test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from processes import eventually

from fuelclient.executors.dask import DaskScheduler
from fuelclient.settings import Settings, load

HOST = "127.0.0.1"
PATIENCE = 90.0
"""Seconds that a process of Dask may take to come up, on a machine that is busy."""


@dataclass
class Cluster:
    """A scheduler and its workers by name. What they have to say is in files of `root`."""

    root: Path
    scheduler: subprocess.Popen[bytes]
    address: str
    options: tuple[str, ...] = ()
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def place(self) -> DaskScheduler:
        return DaskScheduler(self.address, insecure=True)

    def start(self, *names: str) -> None:
        """Workers with these names are there, with one thread each; their commands see the name as WORKER."""
        logs = {}
        for name in names:
            log = self.root / f"worker-{name}-{len(list(self.root.glob('worker-*')))}.log"
            command = ["worker", self.address, "--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            options = ("--host", HOST, "--local-directory", str(self.root / "local"), *self.options)
            self.workers[name] = _dask(log, *command, *options, WORKER=name)
            logs[name] = log
        for name, log in logs.items():
            assert eventually(partial(_is_registered, log), PATIENCE), (name, _text(log))

    def kill(self, name: str) -> None:
        """A worker dies at once, or the scheduler, which has no name; what they have started goes on."""
        process = self.workers.pop(name) if name else self.scheduler
        process.kill()
        process.wait()

    def said(self) -> str:
        """Everything that the scheduler and the workers have logged."""
        return "\n".join(_text(path) for path in sorted(self.root.glob("*.log")))

    def close(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            process.send_signal(signal.SIGKILL)
            process.wait()


@contextmanager
def cluster(root: Path, *names: str, protocol: str = "tcp", options: Sequence[str] = ()) -> Iterator[Cluster]:
    """A cluster of such workers. Skips where the library is not installed."""
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    root.mkdir(parents=True, exist_ok=True)
    where = root / "scheduler.json"
    log = root / "scheduler.log"
    places = ("--host", f"{protocol}://{HOST}", "--port", "0", "--scheduler-file", str(where), "--no-dashboard")
    process = _dask(log, "scheduler", *places, *options)
    try:
        assert eventually(lambda: _address(where), PATIENCE), _text(log)
        made = Cluster(root, process, _address(where), tuple(options))
    except BaseException:
        process.kill()
        process.wait()
        raise
    try:
        made.start(*names)
        yield made
    finally:
        made.close()


def settings_for(scheduler: DaskScheduler) -> Settings:
    """The settings that name a scheduler."""
    names = {
        "SCHEDULER": scheduler.address, "TLS_CA_FILE": scheduler.ca_file, "TLS_CERT": scheduler.cert,
        "TLS_KEY": scheduler.key, "INSECURE": str(scheduler.insecure),
    }  # fmt: skip
    return load({}, {f"FUEL_DASK_{name}": value for name, value in names.items()})


def certificates(directory: Path) -> tuple[Path, Path, Path]:
    """An authority made here, and a certificate that it signed, with its key."""
    directory.mkdir(parents=True, exist_ok=True)
    files = [directory / name for name in ("ca.pem", "cert.pem", "key.pem")]
    ca, cert, key = files
    ca_key, request = directory / "ca.key", directory / "request.pem"
    new: list[str | Path] = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    commands: tuple[list[str | Path], ...] = (
        [*new, "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", ca_key, "-out", ca],
        [*new, "-subj", "/CN=cluster", "-keyout", key, "-out", request],
        ["openssl", "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2",
         "-out", cert],
    )  # fmt: skip
    for command in commands:
        subprocess.run(command, check=True, capture_output=True)
    return ca, cert, key


def _dask(log: Path, *words: str, **more: str) -> subprocess.Popen[bytes]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("DASK_")}
    environ |= {"DASK_CONFIG": str(log.parent / "no-configuration"), **more}
    with log.open("ab") as output:
        command = [sys.executable, "-m", "dask", *words]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environ)


def _address(path: Path) -> str:
    try:
        return str(json.loads(path.read_text())["address"])
    except (OSError, ValueError):
        return ""


def _is_registered(log: Path) -> bool:
    return "Registered to:" in _text(log)


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""

"""Following a run over a server that goes away: for a moment, or for good. And files that a server names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import pytest
from executions import Executions, shell
from refusals import refused
from server_process import PATIENCE, serving

from fuelclient.commands.env.facts import require_names
from fuelclient.errors import InvalidDocument


def _waiting(env: Executions) -> tuple[int, Path]:
    """A run that ends when there is a file."""
    go_on = env.directory / "go_on"
    env.graph(shell("waits", f"while [ ! -e {go_on} ]; do sleep 0.1; done"))
    return env.begin(executor="local").id, go_on


@contextmanager
def _watching(env: Executions, url: str, run: int, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`task watch`, or a command of other `words`, as a process that has said that the task runs, or its first line."""
    command = [sys.executable, "-m", "fuelclient.main", "--server", url, *(words or ("task", "watch")), str(run)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "SERVER_", "FUEL"))}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**kept, "HOME": str(env.directory)}
    ) as process:
        try:
            _said(process.stdout if words else process.stderr, "before" if words else "waits/node-1 running")
            yield process
        finally:
            process.kill()


def _said(stream: IO[str] | None, wanted: str) -> None:
    """A process has written a line with this."""
    assert stream is not None
    lines = []
    for line in stream:
        lines.append(line)
        if wanted in line:
            return
    raise AssertionError(f"{wanted} is not in {lines}")


def test_a_server_that_is_started_again_is_asked_again(env: Executions) -> None:
    run, go_on = _waiting(env)
    try:
        with serving(env.directory) as server, _watching(env, server.url, run) as watcher:
            server.ended_by(signal.SIGTERM)
            _said(watcher.stderr, "Asking again for")
            with serving(env.directory, "--port", str(urlsplit(server.url).port)):
                go_on.touch()
                _, rest = watcher.communicate(timeout=PATIENCE)
        assert watcher.returncode == 0, rest
        assert rest.count("waits/node-1 ready") == 1
        assert "ended: ready" in rest
    finally:
        go_on.touch()
        env.ended(run)


def test_logs_ask_a_server_again_too(env: Executions) -> None:
    go_on = env.directory / "go_on"
    env.graph(shell("waits", f"echo before; while [ ! -e {go_on} ]; do sleep 0.1; done; echo after"))
    run = env.begin(executor="local").id
    try:
        with serving(env.directory) as server, _watching(env, server.url, run, "task", "logs", "--follow") as logs:
            server.ended_by(signal.SIGTERM)
            _said(logs.stderr, "Asking again for")
            with serving(env.directory, "--port", str(urlsplit(server.url).port)):
                go_on.touch()
                out, rest = logs.communicate(timeout=PATIENCE)
        assert logs.returncode == 0, rest
        assert out.splitlines().count("after") == 3
        assert out.splitlines().count("before") == 2  # and the first, which was read already
    finally:
        go_on.touch()
        env.ended(run)


@pytest.mark.slow
def test_lost_server_ends_the_watch_and_not_the_run(env: Executions) -> None:
    run, go_on = _waiting(env)
    try:
        with serving(env.directory) as server, _watching(env, server.url, run) as watcher:
            server.ended_by(signal.SIGTERM)
            _, rest = watcher.communicate(timeout=PATIENCE)
        assert watcher.returncode == 3, rest
        assert f"The run goes on; `fuel2 --server {server.url} task watch {run}` follows it." in rest
        assert not env.backend.runs.get(run).is_final
    finally:
        go_on.touch()
        assert env.ended(run).status == "ready"


@pytest.mark.parametrize("uid", ["../../escaped", "/escaped", "..", ""])
def test_facts_of_what_is_no_name_of_a_file_are_refused(uid: str) -> None:
    """The embedded engine takes no such node; a server may say anything."""
    require_names(["cluster", "7", "null"])
    with refused(InvalidDocument, repr(uid)):
        require_names(["cluster", uid])

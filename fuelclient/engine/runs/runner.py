"""The runner: a process of its own that executes one transaction, whatever becomes of the terminal.

`python -m fuelclient.engine.runs.runner ENGINE RUN [--rerun-interrupted]`. It claims the environment, runs, and
lets go. What it has to say goes to its log file; what users read goes into the store. A process that is killed leaves
everything behind that the next one needs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fuelclient.engine.runs import processes
from fuelclient.engine.runs.execution import Running
from fuelclient.engine.runs.executors import Provider, executor_for
from fuelclient.engine.runs.paths import log_path
from fuelclient.errors import Conflict, FuelError, Unavailable
from fuelclient.executors.local import environment
from fuelclient.model.run import Run
from fuelclient.settings import CUSTOM_SETTINGS
from fuelclient.store import runners, runs
from fuelclient.store.database import Connection, Database

_PACKAGE = Path(__file__).resolve().parents[2]
"""The directory that this package is imported from."""

PATIENCE = 300.0
"""Seconds that a runner waits for the engine file when somebody else has locked it: what it started goes on meanwhile,
and a runner that gave up at once would leave it to nobody."""

_BACKGROUND = '"$@" &'


def start(engine: str, run_id: int, *, rerun_interrupted: bool = False) -> None:
    """A process of its own, in a session of its own, runs the transaction.

    It belongs to nobody, so that whoever started it may end, or go on for years. Passwords for masters that lie in
    our environment are not in its. Raises `Unavailable` when no process can be started.
    """
    log = log_path(engine, run_id)
    command = [sys.executable, "-m", "fuelclient.engine.runs.runner", os.path.realpath(engine), str(run_id)]
    command += ["--rerun-interrupted"] if rerun_interrupted else []
    paths = [str(_PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths)}
    if settings := os.environ.get(CUSTOM_SETTINGS, "").strip():
        own[CUSTOM_SETTINGS] = os.path.abspath(os.path.expanduser(settings))  # the runner works elsewhere
    try:
        log.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            subprocess.run(  # noqa: S603 - our own interpreter, our own module
                ["/bin/sh", "-c", _BACKGROUND, "sh", *command],
                check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=descriptor, stderr=descriptor,
                start_new_session=True, env={**environment(), **own},
            )  # fmt: skip
        finally:
            os.close(descriptor)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(
            f"The runner of transaction {run_id} cannot be started: {error}.",
            hint=f"Run `fuel2 task resume {run_id}` when the reason is gone.",
        ) from error


def claim(connection: Connection, parent: Run) -> None:
    """This process is the runner of the transaction's environment. `Conflict` when another one is."""
    found = runners.find(connection, parent.cluster_id)
    if found is not None and found.pid != processes.NOT_STARTED and processes.is_alive(found):
        raise Conflict(f"Process {found.pid} runs transaction {found.run_id} on the environment.")
    runners.put(connection, processes.this_process(parent))


def execute(
    database: Database,
    run_id: int,
    provider: Provider = executor_for,
    *,
    rerun_interrupted: bool = False,
) -> bool:
    """Run a transaction in this process, to its end; False when somebody has to decide about interrupted instances.

    Raises `Conflict` when another process runs it, or when it has ended.
    """
    with database.write() as connection:
        parent = runs.find(connection, run_id)
        if parent is None or parent.is_final or parent.parent_id is not None:
            raise Conflict(f"Transaction {run_id} is not there to be run.")
        claim(connection, parent)
    pid = os.getpid()
    executor = provider(database.path, parent)

    async def whole() -> bool:
        try:
            return await Running(database, parent, pid, executor, _log, rerun_interrupted).go()
        finally:
            await executor.close()

    try:
        return asyncio.run(whole())
    finally:
        with database.write() as connection:
            runners.remove(connection, parent.cluster_id, pid)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute a run; the exit code is 0 when it came to its end, whatever that was."""
    parser = argparse.ArgumentParser(prog="python -m fuelclient.engine.runs.runner", description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("run", type=int)
    parser.add_argument("--rerun-interrupted", action="store_true")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.umask(0o077)
    _forget_package()
    database = Database(options.engine, patience=PATIENCE, tell=_log)
    try:
        ended = execute(database, options.run, rerun_interrupted=options.rerun_interrupted)
    except FuelError as error:
        _log(f"{type(error).__name__}: {error}")
        return 1
    finally:
        database.close()
    return 0 if ended else 1


def _forget_package() -> None:
    """The way to our own package, which `start` put first, is no business of tasks: their Python is another one."""
    first, _, rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == str(_PACKAGE):
        os.environ["PYTHONPATH"] = rest
        if not rest:
            del os.environ["PYTHONPATH"]


def _log(line: str) -> None:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    sys.stderr.write(f"{stamp} {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())

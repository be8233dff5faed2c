"""Execute one run in its own process, the runner, which outlives the terminal.

`python -m fuelclient.engine.runs.runner ENGINE RUN [--rerun-interrupted]` claims the environment, executes the run and
releases the environment. Its own messages go to a log file; what users read goes to the store. A runner that is killed
leaves everything behind that the next one needs.
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
from fuelclient.engine.runs.execution import Execution
from fuelclient.engine.runs.executors import Provider, executor_for
from fuelclient.engine.runs.paths import log_path
from fuelclient.errors import Conflict, FuelError, Unavailable
from fuelclient.executors.local import environment
from fuelclient.model.run import Run
from fuelclient.settings import CUSTOM_SETTINGS, limit_expressions
from fuelclient.store import runners, runs
from fuelclient.store.database import Connection, Database

_PACKAGE = Path(__file__).resolve().parents[2]
"""The directory that this package is imported from."""

PATIENCE = 300.0
"""Seconds that a runner waits while another process has locked the engine file. Commands go on meanwhile: a runner that
gave up at once would leave them unattended."""

_BACKGROUND = '"$@" &'


def start(engine: str, run_id: int, rerun_interrupted: bool) -> None:
    """Start a runner in its own session. Raise `Unavailable` if no process can be started.

    It is no child of this process, which may end, or go on for years without having to collect it. Passwords for
    masters are kept out of its environment.
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
            f"The runner of run {run_id} cannot be started: {error}.",
            hint=f"Remove the cause, then run `fuel2 task resume {run_id}`.",
        ) from error


def claim(connection: Connection, parent: Run) -> None:
    """Make this process the runner of the run's environment. Raise `Conflict` if another live process is."""
    runner = runners.find(connection, parent.cluster_id)
    if runner is not None and runner.pid != processes.NOT_STARTED and processes.is_alive(runner):
        raise Conflict(f"Process {runner.pid} executes run {runner.run_id} on the environment.")
    runners.put(connection, processes.this_process(parent))


def execute(
    database: Database,
    run_id: int,
    provider: Provider = executor_for,
    *,
    rerun_interrupted: bool = False,
) -> bool:
    """Execute a run in this process; return False if a user has to decide about interrupted instances.

    Raise `Conflict` if another process executes it, or if it has ended.
    """
    with database.write() as connection:
        parent = runs.find(connection, run_id)
        if parent is None or parent.is_final or parent.parent_id is not None:
            raise Conflict(f"Run {run_id} does not exist, is a part of another run, or has ended.")
        claim(connection, parent)
    pid = os.getpid()
    limit_expressions()
    executor = provider(database.path, parent)

    async def whole() -> bool:
        try:
            return await Execution(database, parent, pid, executor, _log, rerun_interrupted).go()
        finally:
            await executor.close()

    try:
        return asyncio.run(whole())
    finally:
        with database.write() as connection:
            runners.remove(connection, parent.cluster_id, pid)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute a run; return 0 if it came to an end, whether that was a success or not."""
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
    """Remove the path of our own package, which `start` added, from `PYTHONPATH`: tasks may use another Python."""
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

"""Execute one run in its own process, the runner, which outlives the terminal.

`python -m fuelclient.engine.runs.runner ENGINE RUN [--rerun-interrupted] [--prepared FD]` claims the environment,
executes the run and releases the environment. Its own messages go to a log file; what users read goes to the store. A
runner that is killed leaves everything behind that the next one needs.
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
from contextlib import suppress
from pathlib import Path

from fuelclient.engine.runs import processes
from fuelclient.engine.runs.background import Prepared, forget_package, hand_over, launch, packed, received, unpacked
from fuelclient.engine.runs.close import close, end_commands
from fuelclient.engine.runs.execution import Execution
from fuelclient.engine.runs.jobs import Provider, executor_for
from fuelclient.engine.runs.paths import log_path, spool_path
from fuelclient.engine.runs.sweep import sweep
from fuelclient.errors import Conflict, FuelError, Unavailable
from fuelclient.expressions import limits
from fuelclient.model.run import Run
from fuelclient.settings import load
from fuelclient.store import access, runners, runs
from fuelclient.store.database import Connection, Database

_RESERVE = 2 << 20
"""The bytes that a run reserves for its own end."""

PATIENCE = 300.0
"""Seconds that a runner waits while another process has locked the engine file. Commands go on meanwhile: a runner that
gave up at once would leave them unattended."""


def start(engine: str, run_id: int, rerun_interrupted: bool, prepared: Prepared | None = None) -> None:
    """Start a runner in its own session, and give it what is `prepared`. Raise `Unavailable` if no process can be
    started."""
    arguments = [os.path.realpath(engine), str(run_id), *(["--rerun-interrupted"] if rerun_interrupted else [])]
    data = packed(prepared) if prepared else b""
    there, here = os.pipe()
    try:
        launch("fuelclient.engine.runs.runner", [*arguments, f"--prepared={there}"], log_path(engine, run_id), there)
    except (OSError, subprocess.CalledProcessError) as error:
        os.close(here)
        raise Unavailable(
            f"The runner of run {run_id} cannot be started: {error}.",
            hint=f"Remove the cause, then run `fuel2 task resume {run_id}`.",
        ) from error
    finally:
        os.close(there)
    hand_over(here, data)


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
    prepared: Prepared | None = None,
) -> bool:
    """Execute a run in this process, its first graph as `prepared`, if it is; return False if a user has to decide
    about interrupted instances.

    Raise `Conflict` if another process executes it, or if it has ended.
    """
    with database.write() as connection:
        parent = runs.find(connection, run_id)
        if parent is None or parent.is_final or parent.parent_id is not None:
            raise Conflict(f"Run {run_id} does not exist, is a part of another run, or has ended.")
        claim(connection, parent)
    pid = os.getpid()
    limits.set_seconds(load().expression_seconds)
    executor = provider(database.path, parent)

    reserve = _reserved(spool_path(database.path, parent) / "reserve")

    async def whole() -> bool:
        try:
            return await Execution(database, parent, pid, executor, _log, rerun_interrupted, prepared).go()
        finally:
            await executor.close()

    try:
        return asyncio.run(whole())
    except Unavailable:
        if not access.is_full(database.path):
            raise
        _end_on_full_disk(database, parent, provider, reserve)
        return True
    finally:
        _release(reserve)
        with database.write() as connection:
            runners.remove(connection, parent.cluster_id, pid)


def _reserved(path: Path) -> Path:
    """Take some room of the disk, so that the end of the run can be written when nothing else can."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _RESERVE)
    return path


def _release(reserve: Path) -> None:
    with suppress(OSError):
        reserve.unlink(missing_ok=True)
        reserve.parent.rmdir()  # unless a command has left its spool there


def _end_on_full_disk(database: Database, parent: Run, provider: Provider, reserve: Path) -> None:
    """End a run whose journal cannot be written any more, and its commands."""
    why = f"The disk of {database.path} is full"
    _log(f"{why}: the run ends.")
    end_commands(database, parent, provider)  # first, because a command may take the room that is released
    _release(reserve)
    killed = end_commands(database, parent, provider)
    with database.write() as connection:
        close(connection, parent, killed, why)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute a run; return 0 if it came to an end, whether that was a success or not."""
    parser = argparse.ArgumentParser(prog="python -m fuelclient.engine.runs.runner", description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("run", type=int)
    parser.add_argument("--rerun-interrupted", action="store_true")
    parser.add_argument("--prepared", type=int, metavar="FD")
    options = parser.parse_args(arguments)
    data = b"" if options.prepared is None else received(options.prepared)  # at once, because the starter waits
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.umask(0o077)
    forget_package()
    database = Database(options.engine, patience=PATIENCE, tell=_log)
    try:
        ended = execute(database, options.run, rerun_interrupted=options.rerun_interrupted, prepared=unpacked(data))
        sweep(database)
    except FuelError as error:
        _log(f"{type(error).__name__}: {error}")
        return 1
    finally:
        database.close()
    return 0 if ended else 1


def _log(line: str) -> None:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    with suppress(OSError):  # the disk of the log may be full
        sys.stderr.write(f"{stamp} {line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())

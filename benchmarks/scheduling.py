"""Print one table: how many task instances a second a run gets through when nothing takes any time.

`python -m benchmarks.scheduling [NODES ...]`; each measurement is a process of its own. Everything is real but the
executor, which answers at once: the plan of newton on generated facts, the event loop, the schedule, and a journal
that writes history and events into an engine file on disk. The budget is 5 000 instances a second. `ran` are those
that were given to the executor; the others were passed (conditions, sync points).
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.planning import SIZES, planned
from fuelclient.backends import connect
from fuelclient.engine.runs import runner
from fuelclient.engine.runs.event_loop import GraphRun, Journal
from fuelclient.executors.job import Job, Log, Outcome
from fuelclient.insight.forecast import simulate
from fuelclient.model.release import Release
from fuelclient.model.run import CHILD, PARENT, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.plan.plan import Plan
from fuelclient.plan.schedule import Schedule
from fuelclient.settings import load
from fuelclient.store import history, runs
from fuelclient.store.database import Database

_READY = Outcome(InstanceStatus.READY, 0)


class Instant:
    """An executor for which everything is done already."""

    def check(self, job: Job) -> str:  # noqa: ARG002 (what executors have to take)
        return ""

    async def run(self, job: Job, log: Log) -> Outcome:  # noqa: ARG002
        return _READY

    async def recover(self, job: Job) -> Outcome | None:  # noqa: ARG002
        return _READY

    async def kill(self, job: Job) -> None:
        """Nothing runs for long enough."""

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 0) -> bytes:  # noqa: ARG002
        return b""

    async def close(self) -> None:
        """There is nothing to let go of."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(asyncio.run(_measured(options.nodes[0])))
        return
    table(options.nodes)


def table(sizes: Sequence[int] = SIZES) -> None:
    """Print what a run of nothing costs on so many nodes."""
    print(f"{'nodes':>6}{'instances':>10}{'ran':>8}{'simulated s':>13}{'run s':>8}{'cpu s':>8}{'instances/s':>13}"
          f"{'ran/s':>8}{'file MB':>9}{'peak MB':>9}")  # fmt: skip
    for count in sizes:
        command = [sys.executable, "-m", "benchmarks.scheduling", str(count), "--one"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        print(f"{count:>6}{done.stdout.rstrip()}", flush=True)


async def _measured(count: int) -> str:
    made = planned(count)
    before = time.perf_counter()
    simulate(made.work, [0] * made.work.size)
    simulated = time.perf_counter() - before
    with tempfile.TemporaryDirectory(prefix="fuel2-bench-", dir=Path.home()) as directory:
        engine = Path(directory) / "engine.db"
        with closing(_with_environment(engine)) as database:
            child, run = _begun(database, made)
            started, worked = time.perf_counter(), time.process_time()
            await run.go()
            wall, cpu = time.perf_counter() - started, time.process_time() - worked
            ran = _require_whole(database, made, child)
            size = sum(path.stat().st_size for path in Path(directory).glob("engine.db*")) / 1e6
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (f"{made.work.size:>10}{ran:>8}{simulated:>13.2f}{wall:>8.2f}{cpu:>8.2f}{made.work.size / wall:>13.0f}"
            f"{ran / wall:>8.0f}{size:>9.1f}{memory:>9.0f}")  # fmt: skip


def _with_environment(engine: Path) -> Database:
    with closing(connect(load({"ENGINE": str(engine)}))) as backend:
        backend.releases.create([Release(0, "bench", "bench-1")])
        backend.clusters.create("bench", 1)
    return Database(str(engine))


def _begun(database: Database, made: Plan) -> tuple[int, GraphRun]:
    """The id and the run of the plan that was begun in the store, as `engine.running` begins one."""
    request = RunRequest(1)
    with database.write() as connection:
        running = RunStatus.RUNNING
        parent = Run(0, "bench", 1, PARENT, running, request)
        parent = replace(parent, id=runs.insert(connection, parent))
        child = Run(0, "bench-1", 1, CHILD, running, request, made.graph_type, parent.id)
        child = replace(child, id=runs.insert(connection, child))
        places = (made.at(vertex) for vertex in range(made.work.size))
        history.insert(connection, child.id, ((task.id, uid, task.task.type) for task, uid in places))
        runner.claim(connection, parent)
    instant = Instant()

    def make(vertex: int, attempt: int) -> Job:
        task, uid = made.at(vertex)
        parameters = made.rendered[vertex]["parameters"]
        return Job(child.id, str(uid), f"node-{uid}", task.id, task.task.type, parameters, attempt=attempt)

    return child.id, GraphRun(
        work=made.work, schedule=Schedule(made.work), journal=Journal(database, child),
        make=make, executor=instant, log=lambda line: print(line, file=sys.stderr),
    )  # fmt: skip


def _require_whole(database: Database, made: Plan, child: int) -> int:
    """How many instances ran; `RuntimeError` when the history does not have the end of each."""
    with database.read() as connection:
        rows = [status for _, status in history.statuses(connection, child)]
    if len(rows) != made.work.size or not all(status.is_final for status in rows):
        raise RuntimeError("the history does not have the end of every instance")
    return sum(status is InstanceStatus.READY for status in rows)


if __name__ == "__main__":
    main()

"""What a runner keeps of instances that have ended."""

from __future__ import annotations

import gc
from contextlib import closing
from pathlib import Path

from executions import executions, shell

from fuelclient.engine.runs.background import Prepared
from fuelclient.engine.runs.runner import execute
from fuelclient.engine.runs.runs import Runs
from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Job, Log, Outcome
from fuelclient.executors.transport import Options
from fuelclient.model.run import Run, RunRequest
from fuelclient.store.database import Database

TASKS = 20
NODES = 3


def test_an_instance_that_has_ended_leaves_no_job(tmp_path: Path) -> None:
    """A run may have a million of them."""
    living = list[int]()

    class Counting(MachineExecutor):
        async def run(self, job: Job, log: Log) -> Outcome:
            living.append(sum(type(one) is Job for one in gc.get_objects()))
            return await super().run(job, log)

    def provider(_engine: str, _parent: Run) -> MachineExecutor:
        return Counting(Options(str(tmp_path / "spool")))

    def start(engine: str, run_id: int, _rerun: bool, prepared: Prepared | None) -> None:
        with closing(Database(engine)) as database:
            execute(database, run_id, provider, prepared=prepared)

    env = executions(tmp_path)
    env.graph(*(shell(f"task-{number}", requires=[f"task-{number - 1}"][:number]) for number in range(TASKS)))
    with closing(env.backend), closing(Database(str(env.engine))) as database:
        Runs(database, start=start).begin(RunRequest(1, ("default",), executor="noop"))

    assert len(living) == TASKS * NODES
    assert max(living) < TASKS

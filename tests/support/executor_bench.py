"""Run single jobs on a local executor with its own spool, and record what it logs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Executor, Job, Outcome, Target
from fuelclient.executors.transport import Options

T = TypeVar("T")


def job_of(type: str, task: str = "task", **parameters: Any) -> Job:
    """Return a job of run 1 on node 1, which is this machine."""
    return Job(1, "1", "node-1", task, type, parameters)


@dataclass
class Bench:
    """A local executor with its spool in `root`, and the lines it logged."""

    root: Path
    commands: Mapping[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    grace: float = 1

    @property
    def options(self) -> Options:
        return Options(spool=str(self.root / "spool"), commands=self.commands, grace=self.grace)

    def executor(self) -> MachineExecutor:
        return MachineExecutor(self.options)

    def spool(self, job: Job) -> Path:
        return self.root / "spool" / str(job.run) / job.node / job.task

    def run(self, job: Job, executor: Executor | None = None) -> Outcome:
        """Run a job to its end."""
        return asyncio.run((executor or self.executor()).run(job, self.lines.append))

    def recover(self, job: Job) -> Outcome | None:
        """Return what another executor finds out about a job."""
        return asyncio.run(self.executor().recover(job))


def together(*works: Awaitable[T]) -> list[T]:
    """Await all of `works` at the same time, and return their results."""

    async def gathered() -> list[T]:
        return list(await asyncio.gather(*works))

    return asyncio.run(gathered())


def on(job: Job, target: Target) -> Job:
    return replace(job, target=target)

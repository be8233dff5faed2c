"""Running jobs in tests: an executor with a spool of its own, and everything it says."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from fuelclient.executors.base import Executor, Job, Outcome, Target
from fuelclient.executors.local import LocalExecutor
from fuelclient.executors.reach import Ways

T = TypeVar("T")


def job_of(type: str, task: str = "task", **parameters: Any) -> Job:
    """A job of transaction 1 on node 1 of this machine."""
    return Job(1, "1", "node-1", task, type, parameters)


@dataclass
class Bench:
    """A local executor whose spool is in `root`, and the lines it has logged."""

    root: Path
    commands: Mapping[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    grace: float = 1

    @property
    def ways(self) -> Ways:
        return Ways(spool=str(self.root / "spool"), commands=self.commands, grace=self.grace)

    def executor(self) -> LocalExecutor:
        return LocalExecutor(self.ways)

    def spool(self, job: Job) -> Path:
        return self.root / "spool" / str(job.run) / job.node / job.task

    def run(self, job: Job, executor: Executor | None = None) -> Outcome:
        """Run one job to its end."""
        return asyncio.run((executor or self.executor()).run(job, self.lines.append))

    def recover(self, job: Job) -> Outcome | None:
        """What another executor finds out about a job."""
        return asyncio.run(self.executor().recover(job))


def together(*works: Awaitable[T]) -> list[T]:
    """The results of works that go on at the same time."""

    async def gathered() -> list[T]:
        return list(await asyncio.gather(*works))

    return asyncio.run(gathered())


def on(job: Job, target: Target) -> Job:
    return replace(job, target=target)


def command_lines() -> Iterator[tuple[int, str]]:
    """The command lines of all processes of this machine, as `ps` shows them."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue


def living(words: str) -> list[int]:
    """The processes whose command line begins with `words`."""
    return [number for number, line in command_lines() if line.startswith(words)]


def eventually(holds: Callable[[], object], seconds: float = 20) -> bool:
    """Whether `holds` gives something true within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.02)
    return bool(holds())

"""The kinds of executors that keep the contract: local, ssh, dask, and one that a distribution of others adds.

Each runs its commands on this machine, so a test sees the files that they write. A test skips where a kind's server
cannot be had.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import sshd
import stranger
from integration.dask_cluster import Cluster, cluster, settings_for
from processes import eventually

from fuelclient.executors.executor import MachineExecutor
from fuelclient.executors.job import Job, Outcome, Target
from fuelclient.executors.transport import Options

T = TypeVar("T")
WORKER = "node-1"


@dataclass
class Place:
    """A machine of one kind, executors that reach it, and what they log. Tests write below `root`."""

    root: Path
    options: Options
    target: Target
    spools: Path
    lines: list[str] = field(default_factory=list)

    def job(self, type: str, task: str = "task", **parameters: Any) -> Job:
        """A job of run 1 on node 1."""
        return Job(1, "1", "node-1", task, type, parameters, self.target)

    def spool(self, job: Job) -> Path:
        return self.spools / str(job.run) / job.node / job.task

    def with_executor(self, work: Callable[[MachineExecutor], Awaitable[T]]) -> T:
        """What some work with an executor of its own gives, which is closed then."""

        async def whole() -> T:
            executor = MachineExecutor(self.options)
            try:
                return await work(executor)
            finally:
                await executor.close()

        return asyncio.run(whole())

    def run(self, *jobs: Job) -> list[Outcome]:
        """Run jobs at the same time through one executor."""

        async def together(executor: MachineExecutor) -> list[Outcome]:
            return list(await asyncio.gather(*(executor.run(job, self.lines.append) for job in jobs)))

        return self.with_executor(together)

    def recover(self, job: Job) -> Outcome | None:
        """What another executor finds out about a job."""
        return self.with_executor(lambda executor: executor.recover(job))

    def leave(self, job: Job, begun: Path) -> None:
        """Begin a job, and go away as soon as its command has made the file `begun`."""

        async def gone(executor: MachineExecutor) -> None:
            running = asyncio.ensure_future(executor.run(job, self.lines.append))
            assert await asyncio.to_thread(eventually, begun.exists, 60), self.lines
            running.cancel()
            await asyncio.wait({running})

        self.with_executor(gone)

    def forget(self) -> str:
        """Remove the spools of the run; why they are still there."""
        return self.with_executor(lambda executor: executor.forget(self.target, self.options.remote_spool))[1]


@pytest.fixture(scope="package")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sshd.Site, Target]]:
    if sshd.SSHD is None:
        pytest.skip("sshd is not installed (Debian: openssh-server)")
    pytest.importorskip("asyncssh", reason="the extra ssh is not installed")
    site = sshd.Site.at(tmp_path_factory.mktemp("ssh"))
    node = site.daemon()
    yield site, site.target(node)
    node.stop()


@pytest.fixture(scope="package")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask"), WORKER) as made:
        yield made


@pytest.fixture(params=["local", "ssh", "dask", stranger.KIND])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A machine of each kind."""
    options = Options(str(tmp_path / "spool"), str(tmp_path / "remote"), grace=1, connect_timeout=60)
    match request.param:
        case "local":
            yield Place(tmp_path, options, Target(), tmp_path / "spool")
        case "ssh":
            site, target = request.getfixturevalue("daemon")
            options = replace(site.options(), spool=options.spool, remote_spool=options.remote_spool)
            yield Place(tmp_path, options, target, tmp_path / "remote")
        case "dask":
            made: Cluster = request.getfixturevalue("workers")
            options = replace(options, settings=lambda: settings_for(made.place))
            yield Place(tmp_path, options, Target("dask", place=WORKER), tmp_path / "remote")
        case kind:
            home = tmp_path / "home"
            home.mkdir()
            with monkeypatch.context() as patch:
                stranger.install(tmp_path / "installed", patch)
                yield Place(tmp_path, options, Target(kind, place=str(home)), home / ".spools" / "remote")
            stranger.forget()

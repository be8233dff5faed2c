"""What executors take and give: a job, the target it is for, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fuelclient import redact
from fuelclient.model.node import ExecutorKind
from fuelclient.model.status import InstanceStatus

Log = Callable[[str], None]
"""Takes one line of narration at a time; secrets are already scrubbed from it."""

MASTER = "master"
"""The uid of the machine that runs the engine."""

MOST_TOLD = 1000
"""How many characters of a command's output a message carries; the spool has the rest."""


@dataclass(frozen=True, slots=True)
class Ssh:
    """How a node is reached over SSH. What is empty is decided by the user's own SSH configuration.

    `jump` is a chain of hosts, `[user@]host[:port]`, separated by commas.
    """

    user: str = ""
    port: int = 0
    key: str = ""
    jump: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A machine that commands reach: this one, one with an address, or the one of a Dask worker, by its name.

    `scripts` are directories of plugins that have to be there before a task runs: pairs of where they are on this
    machine and where they belong on the target.
    """

    kind: ExecutorKind = ExecutorKind.LOCAL
    ip: str = ""
    ssh: Ssh = Ssh()
    scripts: tuple[tuple[str, str], ...] = ()
    worker: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A task instance that is to be run: everything an executor has to know.

    `parameters` are rendered for the node. `attempt` counts, from 1, how often this instance was begun within its
    transaction: a rerun of an interrupted one has the next number, and then nothing of the one before counts.
    `peers` are the targets by uid, for tasks that name other nodes. `secrets` are texts that must never be shown,
    besides those that stand under secret names in the parameters.
    """

    run: int
    node: str
    name: str
    task: str
    type: str
    parameters: Mapping[str, Any] = field(repr=False)
    target: Target = Target()
    attempt: int = 1
    noop: bool = False
    debug: bool = False
    peers: Mapping[str, Target] = field(default_factory=dict, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def label(self) -> str:
        """The instance as people write it: `task/node`."""
        return f"{self.task}/{self.node}"

    @property
    def key(self) -> tuple[int, str, str]:
        """What tells the job from all others."""
        return (self.run, self.node, self.task)

    def known_secrets(self) -> frozenset[str]:
        """All texts that must not be shown."""
        return self.secrets | redact.secrets_of(self.parameters)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: `ready`, `error` or `skipped`.

    `rc` is the exit code of the last command, where there was one. `message` says in a few lines what went wrong or
    why nothing was done; `summary` has what is worth keeping in the history. Both are free of known secrets. `reason`
    is `interrupted` when somebody had it ended: that says nothing of the task.
    """

    status: InstanceStatus
    rc: int | None = None
    message: str = ""
    summary: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


class Executor(Protocol):
    """What runs jobs. A job that fails is an outcome, never an exception."""

    def check(self, job: Job) -> str:
        """Why this executor can never run `job`, or an empty string; asked before anything starts."""

    async def run(self, job: Job, log: Log) -> Outcome:
        """Run `job` to its end, its retries included."""

    async def recover(self, job: Job) -> Outcome | None:
        """What became of a job that ran when its runner died.

        A result that is there is taken, a process that still runs is waited for, retries that are left are made, and
        a job that never began is run now. None when a command began and nobody can know how it ended.
        """

    async def kill(self, job: Job) -> None:
        """End the job's process group; its `run` then returns an error."""

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        """Part of what the job's commands wrote to `out` or `err`."""

    async def close(self) -> None:
        """Let go of all connections; what runs goes on."""

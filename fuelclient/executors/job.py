"""Jobs, their targets, steps and outcomes: what executors take and return, and what handlers make of a job."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fuelclient import redact
from fuelclient.graph.parameters import is_remote
from fuelclient.model.status import InstanceStatus, Reason

Log = Callable[[str], None]
"""Takes one line at a time, in which secrets are masked already."""

LOCAL = "local"
"""The kind of executor for the machine of the engine, where everything runs that belongs to the master."""

MASTER = "master"
"""The uid of the machine that runs the engine."""


@dataclass(frozen=True, slots=True)
class Target:
    """A machine that commands run on.

    `place` is what a kind of executor takes from a node to reach it, beside the address (see `Connector.place`).
    `scripts` are the directories of plugins that a task needs there: pairs of the path on this machine and the path on
    the target.
    """

    kind: str = LOCAL
    ip: str = ""
    place: Hashable = None
    scripts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A task instance to run.

    `parameters` are rendered for the node. `attempt` counts from 1 how often the instance was begun in its run. An
    interrupted instance that is run again has the next number, and results of earlier attempts do not count for it.
    `peers` are the targets by uid, for tasks that name other nodes. `secrets` are texts that must never be shown,
    beside the values of parameters with secret names.
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
        """`task/node`, as messages name the instance."""
        return f"{self.task}/{self.node}"

    @property
    def key(self) -> tuple[int, str, str]:
        return (self.run, self.node, self.task)

    def known_secrets(self) -> frozenset[str]:
        return self.secrets | redact.secrets_of(self.parameters)

    def masked(self, log: Log) -> Log:
        """Wrap a log: the instance is put before each line, and secrets are masked."""
        secrets = self.known_secrets()
        return lambda line: log(redact.scrubbed(f"{self.label}: {line}", secrets))

    def skipped(self, reason: str = "") -> Outcome:
        return self._ended(InstanceStatus.SKIPPED, reason)

    def failed(self, message: str, code: int | None = None) -> Outcome:
        return self._ended(InstanceStatus.ERROR, message, code)

    def interrupted(self, message: str) -> Outcome:
        return self._ended(InstanceStatus.ERROR, message, reason=Reason.INTERRUPTED)

    def _ended(self, status: InstanceStatus, message: str, code: int | None = None, reason: str = "") -> Outcome:
        return Outcome(status, code, redact.scrubbed(message, self.known_secrets()), reason=reason)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: `ready`, `error` or `skipped`.

    `rc` is the exit code of the last command, if one ran. `message` gives in a few lines the error, or why nothing was
    done; `summary` is stored in the history. Secrets are masked in both. `reason` is `interrupted` if the job was
    stopped, so that its status is no result of the task.
    """

    status: InstanceStatus
    rc: int | None = None
    message: str = ""
    summary: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


class Executor(Protocol):
    """Runs jobs. A job that fails is an outcome, never an exception."""

    def check(self, job: Job) -> str:
        """Find the reason why `job` can never run; empty if it can. Called by plans, before anything starts."""

    async def run(self, job: Job, log: Log) -> Outcome:
        """Run `job` to its end, its retries included."""

    async def recover(self, job: Job) -> Outcome | None:
        """Continue a job that ran when its runner died.

        A stored result is taken, a process that still runs is waited for, the remaining retries are made, and a job
        that never began is run now. None if a command began and its result is lost.
        """

    async def kill(self, job: Job) -> None:
        """End all processes of the job; its `run` then returns an error."""

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        """Read a part of what the job's commands wrote to `out` or `err`."""

    async def close(self) -> None:
        """Close all connections; commands that run go on."""


SUCCESS = frozenset({0})


@dataclass(frozen=True, slots=True)
class File:
    """A file of this machine, read when the recipe is carried out."""

    path: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A file or directory of this machine, sent as a tar archive.

    With `inside`, the archive has the entries of the directory, else the directory itself by its name.
    """

    path: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file called `name` beside the script when it runs."""

    name: str
    content: bytes | File | Tree = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A bash script with its attachments, for one machine.

    `script` runs in the directory of the spool, where its attachments are. It may hold secrets, so it is never part of
    a command line. `ok` are the exit codes of success. `where` is the uid of the machine; empty is the job's own.
    """

    script: str = field(repr=False)
    attachments: tuple[Attachment, ...] = ()
    ok: frozenset[int] = SUCCESS
    where: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Do nothing, for a reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reboot:
    """Restart the machine."""


@dataclass(frozen=True, slots=True)
class Sync:
    """Make `dst` of the target like `src` of this machine. If one of them is an address of an rsync server, the other
    is a path of the target, which copies by itself."""

    src: str
    dst: str

    @property
    def by_target(self) -> bool:
        return is_remote(self.src) or is_remote(self.dst)


Step = Recipe | Sync | Reboot | Nothing
"""What a job consists of."""

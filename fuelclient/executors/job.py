"""The types that executors and handlers share: jobs, targets, steps and outcomes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fuelclient import redact
from fuelclient.graph.parameters import is_remote
from fuelclient.model.status import InstanceStatus, Reason

Log = Callable[[str], None]
"""Writes one line, in which secrets are masked already."""

LOCAL = "local"
"""The kind of executor for the machine of the engine, which usually also runs the master's tasks."""

MASTER = "master"
"""The uid of the machine that runs the engine."""


@dataclass(frozen=True, slots=True)
class Target:
    """A machine that commands run on.

    `place` has what a kind of executor needs, besides the address, to reach the machine (see `Connector.place`).
    `scripts` are the script directories of plugins that a task needs: pairs of the path on this machine and the path
    on the target.
    """

    kind: str = LOCAL
    ip: str = ""
    place: Hashable = None
    scripts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A task instance to run.

    `parameters` are rendered for the node. `attempt` is the number, from 1, of the instance's start in its run. An
    interrupted instance that is run again gets the next number, and ignores the results of earlier attempts. `peers`
    are targets by uid, for tasks that name other nodes. `secrets` are texts that must never be shown, beside the values
    of parameters with secret names.
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
        """Return a log that writes the name of the instance before each line, and masks secrets."""
        return lambda line: log(redact.scrubbed(f"{self.label}: {line}", self.known_secrets()))

    def skipped(self, reason: str = "") -> Outcome:
        return self._outcome(InstanceStatus.SKIPPED, reason)

    def failed(self, message: str, code: int | None = None) -> Outcome:
        return self._outcome(InstanceStatus.ERROR, message, code)

    def interrupted(self, message: str) -> Outcome:
        return self._outcome(InstanceStatus.ERROR, message, reason=Reason.INTERRUPTED)

    def _outcome(self, status: InstanceStatus, message: str, code: int | None = None, reason: str = "") -> Outcome:
        return Outcome(status, code, redact.scrubbed(message, self.known_secrets()), reason=reason)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: `ready`, `error` or `skipped`.

    `rc` is the exit code of the last command, if one ran. `message` is the error, or why nothing was done, in a few
    lines; `summary` is stored in the history. Both have masked secrets. `reason` is `interrupted` if the job was
    stopped, so that its status is not a result of the task.
    """

    status: InstanceStatus
    rc: int | None = None
    message: str = ""
    summary: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


class Executor(Protocol):
    """Runs jobs. A job that fails is an outcome, never an exception."""

    def check(self, job: Job) -> str:
        """Return the reason why `job` can never run, or an empty string. Plans call it before anything starts."""

    async def run(self, job: Job, log: Log) -> Outcome:
        """Run `job` to its end, its retries included."""

    async def recover(self, job: Job) -> Outcome | None:
        """Continue a job that ran when its runner died.

        Use a stored result, or wait for a process that still runs; make the remaining retries; run a job that never
        began. Return None if a command began and its result is lost.
        """

    async def kill(self, job: Job) -> None:
        """End all processes of the job; its `run` then returns an error."""

    async def read(self, job: Job, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        """Read a part of what the job's commands wrote to `out` or `err`."""

    async def close(self) -> None:
        """Close all connections. Running commands go on."""


SUCCESS = frozenset({0})


@dataclass(frozen=True, slots=True)
class File:
    """A file of this machine, read when the recipe is carried out."""

    path: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A file or directory of this machine, sent as a tar archive.

    With `inside`, the archive contains the entries of the directory, otherwise the directory itself.
    """

    path: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file called `name` in the directory where the script runs."""

    name: str
    content: bytes | File | Tree = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A bash script with its attachments, for one machine.

    `script` runs in the directory of the spool, which contains its attachments. It may contain secrets, so it is never
    part of a command line. `ok` are the exit codes of success. `where` is the uid of a machine (empty: the job's).
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
    """Make `dst` on the target equal to `src` on this machine. If one of them is an address of an rsync server, the
    other one is a path on the target, which copies by itself."""

    src: str
    dst: str

    @property
    def by_target(self) -> bool:
        return is_remote(self.src) or is_remote(self.dst)


Step = Recipe | Sync | Reboot | Nothing
"""A step of a job."""

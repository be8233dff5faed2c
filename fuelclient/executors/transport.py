"""The interface of transports, which send scripts and files to machines, and their errors; the options of executors,
and the timeouts and retries of tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from fuelclient import settings
from fuelclient.errors import Unavailable
from fuelclient.graph.parameters import number
from fuelclient.model.diagnosis import Shared
from fuelclient.model.task import TaskType


class TransportError(Unavailable):
    """A machine cannot be used now. The error is `final` if no retry can help, such as a wrong host key.

    `problem` is the message without the name of the machine; `shared` describes a fix for many machines at once.
    """

    def __init__(
        self, message: str, *, final: bool = False, hint: str = "", problem: str = "", shared: Shared | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.final, self.problem, self.shared = final, problem or message, shared


class Unreachable(TransportError):
    """Nothing could be started on a machine."""


class ConnectionBroken(TransportError):
    """The connection to a machine broke while it was used. Commands that were started may go on."""


class CallExpired(Exception):
    """A call has reached its time limit, and its script goes on. Each call occupies one of the limited connections of a
    Dask scheduler to its workers."""


@dataclass(frozen=True, slots=True)
class Completed:
    rc: int
    out: bytes
    err: bytes

    @property
    def error(self) -> str:
        """Return the last line of the error output, or else the exit code."""
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.rc}"


def reason_of(error: BaseException) -> str:
    """Return the text of an error of a connection, from its library or the system."""
    reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return str(reason).rstrip(".")


class Transport(Protocol):
    """A connection to one machine. All methods raise `TransportError`."""

    @property
    def place(self) -> str:
        """The name of the machine in messages."""

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        """Run a POSIX shell script to its end, with `arguments` as its $1, $2 and so on.

        All users of that machine can see the script and its arguments, so secrets have to be in `stdin`. Cancelling the
        call ends the script, but no process that the script has started in a new session.
        """

    async def put(self, path: str, content: bytes | Path) -> None:
        """Write a file that only its owner can read, into a directory that exists."""

    async def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of all executors of a run.

    `spool` is the root of the run's spools on this machine, `remote_spool` the one on nodes. `commands` are the
    configured handler commands by task type. `nodes` is the parent of nodes that are directories of this machine.
    `grace` is the number of seconds between SIGTERM and SIGKILL, `output_megabytes` the kept size of each output. Empty
    SSH files stand for the user's own. `settings` reads the settings, if a kind needs one of them.
    """

    spool: str
    remote_spool: str = "/var/tmp/fuel2"  # noqa: S108 - it survives a restart; the spool checks who owns it
    commands: Mapping[str, str] = field(default_factory=dict)
    nodes: str = ""
    grace: float = 5
    known_hosts: str = ""
    ssh_config: str = ""
    connect_timeout: float = 20
    output_megabytes: int = 16
    settings: Callable[[], settings.Settings] = settings.load


@dataclass(frozen=True, slots=True)
class Ssh:
    """The SSH parameters of a node. The user's own SSH configuration provides empty ones.

    `jump` is a chain of hosts, `[user@]host[:port]`, separated by commas.
    """

    user: str = ""
    port: int = 0
    key: str = ""
    jump: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a task: `timeout` seconds for all tries together, `retries` more tries after failures, `repeats` more
    tries after successes, and `interval` seconds before each of these.

    As in Astute, failures and successes are counted separately, and neither resets the other count.
    """

    timeout: float
    retries: int
    interval: float = 2
    repeats: int = 0


DEFAULTS: Mapping[str, Limits] = MappingProxyType(
    {
        TaskType.PUPPET: Limits(5400, 2),
        TaskType.SHELL: Limits(300, 2),
        TaskType.MASTER_SHELL: Limits(300, 2),
        TaskType.SYNC: Limits(300, 10),
        TaskType.UPLOAD_FILE: Limits(60, 3),
        TaskType.UPLOAD_FILES: Limits(300, 0),
        TaskType.COPY_FILES: Limits(300, 0),
        TaskType.REBOOT: Limits(900, 0),
        TaskType.ERASE_NODE: Limits(900, 0),
        TaskType.MOVE_TO_BOOTSTRAP: Limits(900, 0),
        TaskType.COBBLER_SYNC: Limits(300, 0),
    }
)
"""The default limits by task type.

`interval` is the documented pause between retries, which Astute accepts but ignores.
Source: Astute `config.rb`; the last three types have no timeout there.
"""


def limits_of(type: str, parameters: Mapping[str, Any]) -> Limits:
    """Read the limits of a task; numbers may be written as strings.

    Raise `ValueError` if one is not a number, or negative.

    >>> limits_of("shell", {"retries": "0", "timeout": 7})
    Limits(timeout=7, retries=0, interval=2, repeats=0)
    """
    default = DEFAULTS.get(type, Limits(300, 0))

    def given(name: str, otherwise: float) -> float:
        value = number(parameters, name)
        return otherwise if value is None else value

    timeout, retries = given("timeout", default.timeout), int(given("retries", default.retries))
    interval, repeats = given("interval", default.interval), int(given("succeed_retries", default.repeats))
    # Astute wraps shell tasks in a manifest, and does not pass `succeed_retries` on
    return Limits(timeout, retries, interval, repeats if type == TaskType.PUPPET else 0)

"""How a machine is reached: transports, which carry scripts and files to it, and their errors. The options of
executors, and the timeouts and retries of tasks."""

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
    """A machine cannot be used now. It is `final` if trying again is no use: a host key or a key is wrong.

    `problem` is the message without the name of the machine, and `shared` fixes it on many machines at once.
    """

    def __init__(
        self, message: str, *, final: bool = False, hint: str = "", problem: str = "", shared: Shared | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.final, self.problem, self.shared = final, problem or message, shared


class Unreachable(TransportError):
    """Nothing can begin on a machine."""


class ConnectionBroken(TransportError):
    """The connection to a machine broke while it was used; what was started there may go on."""


class Held(Exception):
    """A script goes on, and its call has lasted as long as it may: a Dask scheduler has a limited number of connections
    to its workers, and each call holds one."""


@dataclass(frozen=True, slots=True)
class Completed:
    rc: int
    out: bytes
    err: bytes

    @property
    def error(self) -> str:
        """The last line of its error output, or its exit code."""
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.rc}"


def reason_of(error: BaseException) -> str:
    """The text of a failed connection's error, from its library or the system."""
    reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return str(reason).rstrip(".")


class Transport(Protocol):
    """A connection to one machine. All methods raise `TransportError`."""

    @property
    def place(self) -> str:
        """The machine, as messages call it."""

    async def call(self, script: str, arguments: Sequence[str] = (), stdin: bytes = b"") -> Completed:
        """Run a POSIX shell script to its end, with `arguments` as its $1, $2 and so on.

        The process list of that machine shows the script and its arguments to everyone, so secrets go through `stdin`.
        Cancelling the call ends the script, but nothing that the script has put into a session of its own.
        """

    async def put(self, path: str, content: bytes | Path) -> None:
        """Write a file that only its owner can read, into a directory that exists."""

    async def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class Options:
    """What all executors of a run are made with.

    `spool` is the root of the run's spools on this machine, `remote_spool` the one on nodes. `commands` are the
    configured handler commands by task type. `nodes` is the parent of nodes that are directories of this machine.
    `grace` are the seconds that a command has to end by itself, `output_megabytes` what is kept of each output. The SSH
    files are the user's own where they are empty. `settings` reads the settings, when a kind needs one of them.
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
    """How a node is reached over SSH. The user's own SSH configuration decides what is empty here.

    `jump` is a chain of hosts, `[user@]host[:port]`, separated by commas.
    """

    user: str = ""
    port: int = 0
    key: str = ""
    jump: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """`timeout` seconds for all tries together, `retries` more tries after failures, `repeats` more tries after
    successes, and `interval` seconds before each of them.

    As in Astute, failures and successes are counted apart, and neither resets the count of the other.
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
"""The limits of a task that has none of its own.

`interval` is the documented pause between retries, which Astute accepts and never makes.
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
    # Astute wraps shell tasks in a manifest without passing the last one on
    return Limits(timeout, retries, interval, repeats if type == TaskType.PUPPET else 0)

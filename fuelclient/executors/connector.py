"""The base class of kinds of executors, which define how tasks reach machines and what they may do there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

from fuelclient.executors import examination
from fuelclient.executors.handlers import sync
from fuelclient.executors.job import Job, Recipe, Sync, Target
from fuelclient.executors.spool import Spool
from fuelclient.executors.transport import Options, Transport

if TYPE_CHECKING:
    from fuelclient.model.diagnosis import Diagnosis
    from fuelclient.model.node import Node


class Connector(ABC):
    """One kind of executor during one run: how tasks reach nodes.

    To add a kind, derive a class and name it in the entry-point group `fuelclient.executors`. Everything else (spools,
    retries, timeouts, noop runs, kills, recovery, logs) is the same for all kinds. The defaults are safe:
    machines are not restarted, and trees are sent as archives.
    """

    runs: ClassVar[bool] = True
    """Whether tasks run. If not, no machine is reached, and a run with only this kind counts as a noop run."""

    needs_address: ClassVar[bool] = False
    """Whether a node without an address is refused. A noop run does not reach such a node."""

    stands_for_master: ClassVar[bool] = False
    """Whether this kind also runs the master's tasks if all nodes of a run have it. That target has no `place`."""

    leaves_spools: ClassVar[bool] = True
    """Whether spools stay on nodes, from which they are removed together with the run."""

    no_reboot: ClassVar[str] = "its executor restarts no machines; name a command for reboot in HANDLER_COMMANDS"
    """The reason why tasks of the type `reboot` never restart machines; empty if they may."""

    examined: ClassVar[bool] = False
    """Whether its machines are examined before a run begins. `fuel2 node check` examines machines of all kinds."""

    spools: ClassVar[type[Spool]] = Spool
    """The class of the spools on its machines."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @classmethod
    def place(cls, node: Node) -> Hashable:  # noqa: ARG003 - a hook
        """Return the value of `Target.place`: what is needed, besides the address, to identify and reach the machine of
        a node. It must not raise; `refusal` reports problems of a node."""
        return None

    def refusal(self, target: Target) -> str:  # noqa: ARG002 - a hook
        """Return the reason why a machine can never be reached, or an empty string. It is called for the plan of a run,
        and before each task."""
        return ""

    @classmethod
    def left_out(cls, task_type: str) -> str:  # noqa: ARG003 - a hook
        """Return the reason why tasks of a type are skipped, or an empty string."""
        return ""

    def prepared(self, job: Job) -> Job:
        """Adapt a job to this kind, for example its paths."""
        return job

    @abstractmethod
    def transport(self, target: Target) -> Transport:
        """Create the transport to a machine, without connecting yet. It is called once for each machine."""

    def root(self, target: Target, proposed: str) -> str:  # noqa: ARG002 - a hook
        """Choose the directory of a run's spools on a machine. It has to survive a restart of the machine, and must not
        be shared with another run; `proposed` is below /var/tmp and named after the run."""
        return proposed

    async def examine(self, target: Target, transport: Transport, programs: Collection[str]) -> Sequence[Diagnosis]:
        """Return the problems that would stop these programs from running on a machine, without the names of its nodes.

        Nothing may be changed on the machine. Raise what transports raise.
        """
        if not self.runs:
            return ()
        return await examination.find_problems(transport, self.root(target, self.options.remote_spool), programs)

    async def sync(self, step: Sync, target: Target, transport: Transport) -> Recipe:  # noqa: ARG002 - a hook
        """Create the recipe that makes a directory of a machine equal to one of this machine."""
        return sync.as_archive(step)

    async def close(self) -> None:  # noqa: B027 - a hook
        """Close resources that the machines of this kind share, after their transports have been closed."""

"""What a kind of executor is: how tasks reach machines, and what may be done there."""

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
    """How tasks reach nodes: one kind of executor, during one run.

    To add a kind, derive a class and name it in the entry-point group `fuelclient.executors`. Everything else (spools,
    retries, timeouts, noop runs, kills, recovery, logs) is the same for all kinds. The defaults are safe:
    machines are not restarted, and trees are sent as archives.
    """

    runs: ClassVar[bool] = True
    """Whether tasks run. Where they do not, no machine is reached, and a whole run of them counts as a noop run."""

    needs_address: ClassVar[bool] = False
    """Whether a node without an address is refused. A noop run does not look at it."""

    stands_for_master: ClassVar[bool] = False
    """Whether the master's tasks run by this kind, too, where all nodes of a run have it. Its target has no `place`."""

    leaves_spools: ClassVar[bool] = True
    """Whether spools are left on nodes, where they are removed together with the run."""

    no_reboot: ClassVar[str] = "its executor restarts no machines; name a command for reboot in HANDLER_COMMANDS"
    """Why machines are never restarted by a task of the type `reboot`; empty if they may be."""

    examined: ClassVar[bool] = False
    """Whether its machines are examined before a run begins; `fuel2 node check` examines those of all kinds."""

    spools: ClassVar[type[Spool]] = Spool
    """The class of the spools on its machines."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @classmethod
    def place(cls, node: Node) -> Hashable:  # noqa: ARG003 - a hook
        """Make the value of `Target.place`: what identifies the machine of a node besides its address, and how it is
        reached. It must not raise; `refusal` reports what is wrong with a node."""
        return None

    def refusal(self, target: Target) -> str:  # noqa: ARG002 - a hook
        """Give the reason why a machine can never be reached; empty if it can. Called for the plan of a run, and before
        each task."""
        return ""

    def left_out(self, job: Job) -> str:  # noqa: ARG002 - a hook
        """Give the reason why a job is skipped; empty if it runs."""
        return ""

    def prepared(self, job: Job) -> Job:
        """Adapt a job to this kind: its paths, for example."""
        return job

    @abstractmethod
    def transport(self, target: Target) -> Transport:
        """Make the transport to a machine, without connecting to it yet. Called once for each machine."""

    def root(self, target: Target, proposed: str) -> str:  # noqa: ARG002 - a hook
        """Choose the directory of a run's spools on a machine, which has to survive a restart of it. No two runs may
        share one; `proposed` is below /var/tmp and named after the run."""
        return proposed

    async def examine(self, target: Target, transport: Transport, programs: Collection[str]) -> Sequence[Diagnosis]:
        """Find the problems that would stop tasks that call these programs on a machine.

        Nothing may be changed there. Names of nodes are added later. Raise what transports raise.
        """
        if not self.runs:
            return ()
        return await examination.examined(transport, self.root(target, self.options.remote_spool), programs)

    async def sync(self, step: Sync, target: Target, transport: Transport) -> Recipe:  # noqa: ARG002 - a hook
        """Make the recipe for a directory of a machine that has to be like one of this machine."""
        return sync.as_archive(step)

    async def close(self) -> None:  # noqa: B027 - a hook
        """Close what the machines of this kind share; their transports are closed already."""

"""Floor 3: the embedded engine, whose use cases read from the store, compute with pure functions, and write."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from fuelclient.errors import FuelError
from fuelclient.store.database import Database

if TYPE_CHECKING:
    from fuelclient.engine.inventory.clusters import Clusters
    from fuelclient.engine.inventory.copies import Copies
    from fuelclient.engine.inventory.facts import Facts
    from fuelclient.engine.inventory.graphs import Graphs
    from fuelclient.engine.inventory.networks import Networks
    from fuelclient.engine.inventory.nodes import Nodes
    from fuelclient.engine.inventory.releases import Releases
    from fuelclient.engine.inventory.roles import Roles, Tags
    from fuelclient.engine.inventory.sequences import Sequences
    from fuelclient.engine.packages.plugins import Plugins
    from fuelclient.engine.runs.runs import Runs


class Engine:
    """All use cases over one engine file, which is opened, or created, at its first use.

    A facet is imported when it is first asked for: a command needs one or two of them, and importing all takes longer
    than most commands do.
    """

    def __init__(self, path: str) -> None:
        self._database = Database(path)
        self.path = path

    @cached_property
    def releases(self) -> Releases:
        from fuelclient.engine.inventory.releases import Releases

        return Releases(self._database)

    @cached_property
    def clusters(self) -> Clusters:
        from fuelclient.engine.inventory.clusters import Clusters

        return Clusters(self._database)

    @cached_property
    def nodes(self) -> Nodes:
        from fuelclient.engine.inventory.nodes import Nodes

        return Nodes(self._database)

    @cached_property
    def networks(self) -> Networks:
        from fuelclient.engine.inventory.networks import Networks

        return Networks(self._database)

    @cached_property
    def roles(self) -> Roles:
        from fuelclient.engine.inventory.roles import Roles

        return Roles(self._database)

    @cached_property
    def tags(self) -> Tags:
        from fuelclient.engine.inventory.roles import Tags

        return Tags(self._database)

    @cached_property
    def plugins(self) -> Plugins:
        from fuelclient.engine.packages.plugins import Plugins

        return Plugins(self._database)

    @cached_property
    def graphs(self) -> Graphs:
        from fuelclient.engine.inventory.graphs import Graphs

        return Graphs(self._database)

    @cached_property
    def facts(self) -> Facts:
        from fuelclient.engine.inventory.facts import Facts

        return Facts(self._database)

    @cached_property
    def sequences(self) -> Sequences:
        from fuelclient.engine.inventory.sequences import Sequences

        return Sequences(self._database)

    @cached_property
    def runs(self) -> Runs:
        from fuelclient.engine.runs.runs import Runs

        return Runs(self._database)

    @cached_property
    def copies(self) -> Copies:
        from fuelclient.engine.inventory.copies import Copies

        return Copies(self._database)

    def together(self) -> AbstractContextManager[None]:
        """Store all that the block writes, or nothing."""
        return self._database.together()

    def reading(self) -> AbstractContextManager[None]:
        """Read all that the block reads at one moment, until it writes."""
        return self._database.reading()

    def sweep(self) -> None:
        """Start removing, in the background, files of deleted runs that were left behind, if any are due."""
        from subprocess import SubprocessError

        from fuelclient.engine.runs.processes import now
        from fuelclient.store.leftovers import is_due

        with suppress(FuelError, OSError, SubprocessError):  # the next command that writes tries it again
            with self._database.read() as connection:
                due = is_due(connection, now())
            if due:
                from fuelclient.engine.runs import sweep

                sweep.start(self.path)

    def close(self) -> None:
        """Close the engine file."""
        self._database.close()


__all__ = ["Engine"]

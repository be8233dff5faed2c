"""The embedded engine, whose use cases read from the store, compute with pure functions, and write."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from fuelclient.engine.runs.operations import Operations


def _facet(path: str) -> Any:
    """An attribute of `Engine`: the facet whose class is at `path` below this package."""
    module, _, name = path.rpartition(".")

    def made(engine: Engine) -> Any:
        return getattr(import_module(f"{__name__}.{module}"), name)(engine._database)

    return cached_property(made)


class Engine:
    """All use cases over one engine file, which is opened, or created, at its first use.

    A facet is imported at its first use: a command needs one or two of them, and importing all takes longer than most
    commands do.
    """

    releases: Releases = _facet("inventory.releases.Releases")
    clusters: Clusters = _facet("inventory.clusters.Clusters")
    nodes: Nodes = _facet("inventory.nodes.Nodes")
    networks: Networks = _facet("inventory.networks.Networks")
    roles: Roles = _facet("inventory.roles.Roles")
    tags: Tags = _facet("inventory.roles.Tags")
    plugins: Plugins = _facet("packages.plugins.Plugins")
    graphs: Graphs = _facet("inventory.graphs.Graphs")
    facts: Facts = _facet("inventory.facts.Facts")
    sequences: Sequences = _facet("inventory.sequences.Sequences")
    runs: Operations = _facet("runs.runs.Runs")
    copies: Copies = _facet("inventory.copies.Copies")

    def __init__(self, path: str) -> None:
        self._database = Database(path)
        self.path = path

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
        self._database.close()

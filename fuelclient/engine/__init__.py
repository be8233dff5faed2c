"""The embedded engine: its operations read the store, compute with pure functions, and store the results."""

from __future__ import annotations

from collections.abc import Hashable
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
    """Make a cached property of `Engine` that imports the facet class at `path` below this package and creates it."""
    module, _, name = path.rpartition(".")

    def create_facet(engine: Engine) -> Any:
        return getattr(import_module(f"{__name__}.{module}"), name)(engine._database)

    return cached_property(create_facet)


class Engine:
    """All operations on one engine file, which is opened, or created, at its first use.

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
        """Make all writes of the block one transaction."""
        return self._database.together()

    def reading(self) -> AbstractContextManager[None]:
        """Give all reads of the block the same state of the engine file, until the block writes."""
        return self._database.reading()

    def graphs_state(self) -> Hashable | None:
        """Return None if a plugin is linked: its author changes its graphs without the engine."""
        from fuelclient.store import plugins

        with self._database.read() as connection:
            return None if plugins.has_linked(connection) else self._database.state(connection)

    def sweep(self) -> None:
        """Start a background process that removes the remaining files of deleted runs, if any are due."""
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

"""Floor 3: use cases of the embedded engine: read a snapshot, think with pure functions, write."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fuelclient.engine.clusters import Clusters
from fuelclient.engine.facts import Facts
from fuelclient.engine.graphs import Graphs
from fuelclient.engine.nodes import Nodes
from fuelclient.engine.plugins import Plugins
from fuelclient.engine.releases import Releases
from fuelclient.engine.roles import Roles
from fuelclient.engine.sequences import Sequences
from fuelclient.engine.tags import Tags
from fuelclient.store.database import Database

if TYPE_CHECKING:
    from fuelclient.engine.transactions import Transactions


class Engine:
    """All use cases over one engine file, which is opened, and made where it is absent, at the first use."""

    def __init__(self, path: str) -> None:
        self._database = Database(path)
        self.path = path
        self.releases = Releases(self._database)
        self.clusters = Clusters(self._database)
        self.nodes = Nodes(self._database)
        self.roles = Roles(self._database)
        self.tags = Tags(self._database)
        self.plugins = Plugins(self._database)
        self.graphs = Graphs(self._database)
        self.facts = Facts(self._database)
        self.sequences = Sequences(self._database)

    @cached_property
    def transactions(self) -> Transactions:
        """Executions. What they need is imported when somebody asks for them: most commands do not."""
        from fuelclient.engine.transactions import Transactions

        return Transactions(self._database)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


__all__ = ["Engine"]

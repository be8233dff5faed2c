"""The local backend: the facets of the embedded engine."""

from __future__ import annotations

from fuelclient.backends import base
from fuelclient.backends.capabilities import OWN_ENGINE, Capabilities
from fuelclient.engine import Engine
from fuelclient.model.version import SPOKEN, FuelVersion


class LocalBackend:
    """A backend over one engine file; see `base.Backend`. Its facets are imported when they are first asked for."""

    def __init__(self, path: str) -> None:
        self._engine = Engine(path)
        self.target = path

    @property
    def releases(self) -> base.Releases:
        return self._engine.releases

    @property
    def clusters(self) -> base.Clusters:
        return self._engine.clusters

    @property
    def nodes(self) -> base.Nodes:
        return self._engine.nodes

    @property
    def roles(self) -> base.Roles:
        return self._engine.roles

    @property
    def tags(self) -> base.Tags:
        return self._engine.tags

    @property
    def plugins(self) -> base.Plugins:
        return self._engine.plugins

    @property
    def graphs(self) -> base.Graphs:
        return self._engine.graphs

    @property
    def facts(self) -> base.Facts:
        return self._engine.facts

    @property
    def sequences(self) -> base.Sequences:
        return self._engine.sequences

    @property
    def runs(self) -> base.Runs:
        return self._engine.runs

    @property
    def capabilities(self) -> Capabilities:
        return OWN_ENGINE

    def version(self) -> FuelVersion:
        """What the engine speaks: the API that its server has."""
        return SPOKEN

    def close(self) -> None:
        """Let go of the engine file."""
        self._engine.close()

"""A Fuel master as a backend: Nailgun's REST API, with Keystone tokens.

The facets are those of `backends.base`; `backends.http` sends their requests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fuelclient.backends.http.backend import OverHttp

if TYPE_CHECKING:
    from fuelclient.backends.nailgun.clusters import Clusters
    from fuelclient.backends.nailgun.facts import Facts
    from fuelclient.backends.nailgun.graphs import Graphs
    from fuelclient.backends.nailgun.inventory import Networks, Nodes, Releases, Roles, Sequences, Tags
    from fuelclient.backends.nailgun.plugins import Plugins
    from fuelclient.backends.nailgun.runs import Runs
    from fuelclient.backends.nailgun.services import Services

_IN_INVENTORY = ("networks", "nodes", "releases", "roles", "sequences", "tags")
"""The facets in the module `inventory`; every other facet has a module of the same name."""


class NailgunBackend(OverHttp):
    """A backend over one Fuel master. A facet is imported at its first use: a command needs one or two."""

    releases: Releases
    nodes: Nodes
    clusters: Clusters
    networks: Networks
    roles: Roles
    tags: Tags
    plugins: Plugins
    graphs: Graphs
    facts: Facts
    sequences: Sequences
    runs: Runs
    services: Services

    def __getattr__(self, name: str) -> Any:
        if (facet := NailgunBackend.__annotations__.get(name)) is None:
            raise AttributeError(name)
        module = import_module(f"{__name__}.{'inventory' if name in _IN_INVENTORY else name}")
        setattr(self, name, getattr(module, facet)(self))
        return getattr(self, name)

"""A Fuel master as a backend: Nailgun's REST API, with tokens of Keystone.

There is a module for each facet of `backends.base`; `backends.http` sends their requests.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fuelclient.backends.http.backend import OverHttp

if TYPE_CHECKING:
    from fuelclient.backends.nailgun.clusters import Clusters
    from fuelclient.backends.nailgun.facts import Facts
    from fuelclient.backends.nailgun.graphs import Graphs
    from fuelclient.backends.nailgun.networks import Networks
    from fuelclient.backends.nailgun.nodes import Nodes
    from fuelclient.backends.nailgun.plugins import Plugins
    from fuelclient.backends.nailgun.releases import Releases
    from fuelclient.backends.nailgun.roles import Roles, Tags
    from fuelclient.backends.nailgun.runs import Runs
    from fuelclient.backends.nailgun.sequences import Sequences
    from fuelclient.backends.nailgun.services import Services


class NailgunBackend(OverHttp):
    """A backend over one Fuel master. A facet is imported when it is first asked for: a command needs one or two."""

    @cached_property
    def releases(self) -> Releases:
        from fuelclient.backends.nailgun.releases import Releases

        return Releases(self._session)

    @cached_property
    def nodes(self) -> Nodes:
        from fuelclient.backends.nailgun.nodes import Nodes

        return Nodes(self._session)

    @cached_property
    def clusters(self) -> Clusters:
        from fuelclient.backends.nailgun.clusters import Clusters

        return Clusters(self._session, self.nodes)

    @cached_property
    def networks(self) -> Networks:
        from fuelclient.backends.nailgun.networks import Networks

        return Networks(self._session)

    @cached_property
    def roles(self) -> Roles:
        from fuelclient.backends.nailgun.roles import Roles

        return Roles(self._session)

    @cached_property
    def tags(self) -> Tags:
        from fuelclient.backends.nailgun.roles import Tags

        return Tags(self._session)

    @cached_property
    def plugins(self) -> Plugins:
        from fuelclient.backends.nailgun.plugins import Plugins

        return Plugins(self._session, self.clusters)

    @cached_property
    def graphs(self) -> Graphs:
        from fuelclient.backends.nailgun.graphs import Graphs

        return Graphs(self._session, self)

    @cached_property
    def facts(self) -> Facts:
        from fuelclient.backends.nailgun.facts import Facts

        return Facts(self._session)

    @cached_property
    def sequences(self) -> Sequences:
        from fuelclient.backends.nailgun.sequences import Sequences

        return Sequences(self._session)

    @cached_property
    def runs(self) -> Runs:
        from fuelclient.backends.nailgun.runs import Runs

        return Runs(self._session, self.facts)

    @cached_property
    def services(self) -> Services:
        from fuelclient.backends.nailgun.services import Services

        return Services(self._session)

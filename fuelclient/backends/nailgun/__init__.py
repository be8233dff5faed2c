"""A Fuel master as a backend: Nailgun's REST API, with tokens of Keystone.

There is a module for each facet of `backends.base`. `session` sends requests, `auth` gets tokens, `response` reads
answers, `errors` makes errors of them, and `transport` ends every request in time. Nothing is connected before its
first use.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from fuelclient.backends.nailgun.session import Session
from fuelclient.errors import Unsupported
from fuelclient.model.version import FuelVersion
from fuelclient.serializers.answer import Answer
from fuelclient.settings.master import Master

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

    from fuelclient.backends.capabilities import Capabilities
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


class NailgunBackend:
    """A backend over one master; see `base.Backend`. `adapter` replaces the transport.

    A facet is imported when it is first asked for: a command needs one or two of them.
    """

    def __init__(self, master: Master, *, adapter: BaseAdapter | None = None) -> None:
        self._session = Session(master, adapter=adapter)
        self.target = master.url

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

    @property
    def copies(self) -> NoReturn:
        """Raise `Unsupported`: a master makes its environments itself."""
        raise Unsupported(f"{self.target} takes no copy of an environment.", hint="Copy it to an engine file.")

    @property
    def capabilities(self) -> Capabilities:
        return self._session.capabilities

    def version(self) -> FuelVersion:
        """Return the versions that the master states."""
        answer = Answer(self._session.version, "version")
        return FuelVersion(
            answer.text("api"), answer.truth("auth_required"), answer.texts("feature_groups"),
            answer.text("openstack_version"), answer.text("release"),
        )  # fmt: skip

    def together(self) -> AbstractContextManager[None]:
        """Raise `Unsupported`: a master stores what each request brings by itself."""
        raise Unsupported(
            f"{self.target} stores each request by itself, so this cannot be all or nothing there.",
            hint="Use an engine file: --engine FILE, without --server.",
        )

    def sweep(self) -> None:
        """Do nothing: a master keeps no files here, and our server's runs clean up after themselves."""

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

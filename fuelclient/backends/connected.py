"""The backend for a server's address; its first use finds out whether it is a Fuel master or a server of ours."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from requests.adapters import BaseAdapter

from fuelclient.backends.base import Backend
from fuelclient.backends.http.backend import Connection
from fuelclient.backends.http.session import Session
from fuelclient.settings.master import Master


class _Connected(Connection):
    """A backend that asks for the server's version at its first use: a command that never uses it sends nothing."""

    @cached_property
    def _backend(self) -> Backend:
        if self.session.is_fuelclient_server:
            from fuelclient.backends.remote import RemoteBackend

            return cast("Backend", RemoteBackend(self.session))
        from fuelclient.backends.nailgun import NailgunBackend

        return NailgunBackend(self.session)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._backend, name)


def connected(master: Master, *, adapter: BaseAdapter | None = None) -> Backend:
    """Make a backend over a server: a `RemoteBackend` for one of this package, or a `NailgunBackend`.

    Nothing is sent before the first use. `adapter` replaces the transport.
    """
    return cast("Backend", _Connected(Session(master, adapter=adapter)))

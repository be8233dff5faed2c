"""What all backends over HTTP have in common."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fuelclient.backends.base import FuelVersion
from fuelclient.backends.http.session import Session
from fuelclient.errors import Unsupported
from fuelclient.serializers.answer import Answer
from fuelclient.support import unsupported


class Connection:
    """The methods that are the same for every kind of server; see `base.Backend`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.target = session.master.url

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()

    def graphs_state(self) -> None:
        """Return None: only the server knows."""

    def sweep(self) -> None:
        """Do nothing: a server's runs clean up after themselves."""

    def close(self) -> None:
        self.session.close()


class OverHttp(Connection):
    """A backend that uses one server: a Fuel master, or the server of this package; see `base.Backend`."""

    @property
    def copies(self) -> Any:
        return unsupported(f"{self.target} takes no copy of an environment.", hint="Copy it to an engine file.")

    def version(self) -> FuelVersion:
        return Answer(self.session.version, "version").into(FuelVersion)

    def together(self) -> AbstractContextManager[None]:
        """Raise `Unsupported`: a server stores each request separately."""
        raise Unsupported(
            f"{self.target} stores each request by itself, so this cannot be all or nothing there.",
            hint="Use an engine file: --engine FILE, without --server.",
        )

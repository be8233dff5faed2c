"""No authentication: whoever reaches the server may do everything, so that only this machine must reach it.

A web page in a browser of this machine reaches it as well. Such requests name an origin, or a host that resolves to
this machine for the moment; both are refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from fuelclient.errors import Unauthorised, UsageError
from fuelclient.server.refusals import Refused
from fuelclient.server.tracing import Wsgi


class Loopback:
    """The policy of a server without authentication."""

    required = False

    def wrap(self, app: Wsgi) -> Wsgi:
        """Nothing stands before the application."""
        return app

    def check(self, environ: Mapping[str, str], *, is_open: bool) -> None:  # noqa: ARG002 (all paths are alike)
        """Nothing happens for a request of a program of this machine; `Refused` (403) for one of a web page."""
        host = environ.get("HTTP_HOST", "")
        if host and not is_loopback(_name(host)):
            raise _refused(f"This server answers on this machine only, not as {host!r}.")
        origin = environ.get("HTTP_ORIGIN", "")
        if origin and _netloc(origin) != host:
            raise _refused("This server answers no web pages.")


def is_loopback(name: str) -> bool:
    """Whether a name or an address means this machine.

    >>> [is_loopback(name) for name in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def require_loopback(host: str) -> None:
    """Nothing happens when `host` means this machine; `UsageError` otherwise."""
    if not is_loopback(host):
        raise UsageError(
            f"Without authentication the server listens on this machine only, not on {host}.",
            hint="Use --host 127.0.0.1, or --auth keystone.",
        )


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str | None:
    """Host and port of an Origin header; None for one that is no URL, which is nobody's."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _refused(message: str) -> Refused:
    return Refused(403, message, Unauthorised(message, hint="Use 127.0.0.1 or localhost, and no browser."))

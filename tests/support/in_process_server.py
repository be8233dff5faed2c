"""Our server in this process, and a client that reaches it without a socket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

from openapi_answers import documented
from requests.adapters import HTTPAdapter
from werkzeug.serving import WSGIRequestHandler, make_server
from wsgi_transport import WsgiAdapter

from fuelclient.backends.base import Backend
from fuelclient.backends.http.session import Session
from fuelclient.backends.remote import RemoteBackend
from fuelclient.server.access import LocalToken, Policy
from fuelclient.server.app import application
from fuelclient.settings.master import Credentials, Master


class _Installing:
    """The plugins of a server, except that packages are installed on the server's machine."""

    def __init__(self, remote: Any, here: Any) -> None:
        self._remote, self.install = remote, here.install

    def __getattr__(self, name: str) -> Any:
        return getattr(self._remote, name)


def served(
    make: Callable[[], Backend], policy: Policy | None = None, credentials: Credentials | None = None
) -> Iterator[Backend]:
    """Yield a client of a server whose backends come from `make`.

    With a `policy` the server checks tokens, and the client gets them from the Keystone that `credentials` name.
    """
    app = documented(application(make, auth=policy))
    master = Master("http://127.0.0.1:8000", credentials or Credentials())
    session = Session(master, adapter=WsgiAdapter(app.wsgi_app))
    if credentials is not None:
        session._http.mount(credentials.auth_url, HTTPAdapter())  # Keystone is not in this process
    yield from _client(app, session, make())


def served_on_a_socket(make: Callable[[], Backend]) -> Iterator[Backend]:
    """Yield a client, with the token, of a server that listens on a port of this machine."""
    policy = LocalToken()
    app = application(make, auth=policy)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    master = Master(f"http://127.0.0.1:{server.server_port}", Credentials(token=policy.token))
    yield from _client(app, Session(master), make())
    server.shutdown()
    server.server_close()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as with the server that users run

    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing: the application does."""


def _client(app: Any, session: Session, here: Backend) -> Iterator[Backend]:
    client: Any = RemoteBackend(session)
    client.plugins = _Installing(client.plugins, here.plugins)
    yield cast(Backend, client)
    client.close()
    here.close()
    app.extensions["fuelclient"].close()

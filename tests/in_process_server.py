"""Our server in this process, and a client that reaches it without a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from openapi_answers import documented
from requests.adapters import HTTPAdapter
from wsgi_transport import WsgiAdapter

from fuelclient.backends.base import Backend
from fuelclient.backends.nailgun import NailgunBackend
from fuelclient.backends.nailgun.plugins import Plugins
from fuelclient.model.package import Selection
from fuelclient.model.plugin import Installed
from fuelclient.server.access import Policy
from fuelclient.server.app import application
from fuelclient.settings.master import Credentials, Master


class PluginsOfAnAdministrator(Plugins):
    """Plugins over HTTP, except that packages are installed on the server's machine."""

    master: Backend

    def install(self, path: str, *, force: bool = False, link: bool = False) -> Installed:
        return self.master.plugins.install(path, force=force, link=link)

    def selection(self, plugin_id: int, release_id: int) -> Selection:
        return self.master.plugins.selection(plugin_id, release_id)


def served(
    make: Callable[[], Backend], policy: Policy | None = None, credentials: Credentials | None = None
) -> Iterator[Backend]:
    """Yield a client of a server whose backends come from `make`.

    With a `policy` the server checks tokens, and the client gets them from the Keystone that `credentials` name.
    """
    app = documented(application(make, auth=policy))
    master = Master("http://127.0.0.1:8000", credentials or Credentials())
    client = NailgunBackend(master, adapter=WsgiAdapter(app.wsgi_app))
    if credentials is not None:
        client._session._http.mount(credentials.auth_url, HTTPAdapter())  # Keystone is not in this process
    plugins = PluginsOfAnAdministrator(client._session, client.clusters)
    plugins.master = make()
    client.plugins = plugins
    yield client
    client.close()
    plugins.master.close()
    app.extensions["fuelclient"].close()

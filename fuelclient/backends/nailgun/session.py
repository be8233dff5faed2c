"""One conversation with a master: requests with a token, in time, and errors of ours.

No token leaves for another host: redirects are followed only to the same origin, and only when nothing is written.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import BaseAdapter

from fuelclient import __version__
from fuelclient.backends.capabilities import FUEL_MASTER, OWN_ENGINE, Capabilities
from fuelclient.backends.nailgun.errors import About, Answer, refused, unreachable
from fuelclient.backends.nailgun.transport import BodyTooLarge, BoundedAdapter, TotalTimeout
from fuelclient.errors import NotFound, Unauthorised, Unavailable
from fuelclient.settings.master import Master

if TYPE_CHECKING:
    from fuelclient.backends.nailgun.auth import Keystone

LOG = logging.getLogger("fuelclient.http")

API = "/api/v1/"
"""Where Nailgun's resources begin."""

OURS = "fuelclient"
"""How the name of a server of ours begins in its version, where no Nailgun has one."""

_BUSY = frozenset((429, 502, 503, 504))
_MOVED = frozenset((301, 302, 303, 307, 308))
_REDIRECTS = 3
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_NOTHING = object()


class Session:
    """A conversation with `master`. `adapter` replaces the transport, `sleep` what waits between two tries."""

    def __init__(
        self, master: Master, *, adapter: BaseAdapter | None = None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.master = master
        self._http = http_session(master, adapter)
        self._sleep = sleep
        self._lock = threading.Lock()
        self._version: Mapping[str, Any] | None = None
        self._keystone: Keystone | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What this master can do; a server of ours can do everything that the engine can."""
        is_own = str(self.version.get("server", "")).startswith(OURS)
        return OWN_ENGINE if is_own else FUEL_MASTER

    @property
    def version(self) -> Mapping[str, Any]:
        """What the master says of itself; asked once."""
        self._authentication()
        if not self._version:  # it says that only to those whom it knows
            data = self.get("version")
            self._version = data if isinstance(data, Mapping) else {}
        return self._version

    def close(self) -> None:
        """Connections are closed."""
        self._http.close()

    def get(self, path: str, about: About | None = None, **query: Any) -> Any:
        """The JSON of a resource; tried again while the master is busy or the connection breaks."""
        return self._checked("GET", path, about, query, _NOTHING)

    def post(self, path: str, body: Any = _NOTHING, about: About | None = None, **query: Any) -> Any:
        """The JSON of the answer; without `body` the request has none."""
        return self._checked("POST", path, about, query, body)

    def put(self, path: str, body: Any = _NOTHING, about: About | None = None, **query: Any) -> Any:
        """The JSON of the answer."""
        return self._checked("PUT", path, about, query, body)

    def patch(self, path: str, body: Any, about: About | None = None, **query: Any) -> Any:
        """The JSON of the answer."""
        return self._checked("PATCH", path, about, query, body)

    def delete(self, path: str, about: About | None = None, **query: Any) -> Any:
        """The JSON of the answer; None where there is none, as usual."""
        return self._checked("DELETE", path, about, query, _NOTHING)

    def _checked(self, method: str, path: str, about: About | None, query: Mapping[str, Any], body: Any) -> Any:
        answer = self._authenticated(method, self._url(path, query), body)
        if answer.status >= 400:
            who = self._keystone.explained() if self._keystone and answer.status in (401, 403) else ""
            raise refused(answer, about, who)
        return None if answer.status == 204 else answer.data()

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        stated = {key: _text(value) for key, value in query.items() if value is not None}
        text = f"?{urllib.parse.urlencode(stated)}" if stated else ""
        return f"{self.master.url}{API}{path}{text}"

    def _authenticated(self, method: str, url: str, body: Any) -> Answer:
        """An answer with a token that is good; a token that ran out is replaced once."""
        keystone = self._authentication()
        answer = self._patiently(method, url, body, keystone.token() if keystone else "")
        if answer.status == 401 and keystone is not None and keystone.renew():
            answer = self._patiently(method, url, body, keystone.token())
        return answer

    def _authentication(self) -> Keystone | None:
        """Who gives tokens; None where the master wants none. It is asked once."""
        with self._lock:
            if self._version is None:
                answer = self._patiently("GET", f"{self.master.url}{API}version", _NOTHING, "")
                version = _version_of(answer)
                if version.get("auth_required") or answer.status == 401:
                    if not self.master.credentials.stated:
                        raise Unauthorised(
                            f"{self.master.url} wants to know who asks.",
                            hint="Set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME, or give --os-username and so on.",
                        )
                    from fuelclient.backends.nailgun.auth import Keystone  # not needed where nobody is asked

                    self._keystone = Keystone(self.master, self._http)
                self._version = version
        return self._keystone

    def _patiently(self, method: str, url: str, body: Any, token: str) -> Answer:
        """An answer, after a pause and another try where that may help: the master is busy, or the connection broke
        within a request that changes nothing."""
        pause, began = _FIRST_PAUSE, time.monotonic()
        for left in range(self.master.retries if method == "GET" else 0, -1, -1):
            late = time.monotonic() - began > self.master.total_timeout
            try:
                answer = self._exchange(method, url, body, token)
            except requests.exceptions.RequestException as error:
                if not left or late or not _may_pass(error):
                    raise unreachable(error, url, self.master.timeout) from error
                LOG.debug("%s %s broke, another try follows", method, url)
            else:
                if answer.status not in _BUSY or not left or late:
                    return answer
                LOG.debug("%s %s is busy (%d), another try follows", method, url, answer.status)
            self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("the last try returns or raises")

    def _exchange(self, method: str, url: str, body: Any, token: str) -> Answer:
        """One request and its answer; redirects of reads are followed within the origin of `url`."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token:
            headers["X-Auth-Token"] = token
        options: dict[str, Any] = {} if body is _NOTHING else {"json": body}
        for _ in range(_REDIRECTS + 1):
            response = self._http.request(
                method, url, headers=headers, timeout=self.master.timeout, allow_redirects=False,
                verify=verification(self.master), proxies=self._proxies(url), **options,
            )  # fmt: skip
            LOG.debug("%s %s -> %d, %d bytes", method, url, response.status_code, len(response.content))
            if response.status_code not in _MOVED:
                kind = response.headers.get("Content-Type", "")
                return Answer(method, url, response.status_code, kind, response.content)
            url = _next(method, url, response.headers.get("Location", ""))
        raise Unavailable(f"{url} is redirected again and again.", hint="Check --server or SERVER_ADDRESS.")

    def _proxies(self, url: str) -> dict[str, str]:
        return proxies_for(self.master, url)


def _version_of(answer: Answer) -> Mapping[str, Any]:
    """What a master says of itself; nothing where it says that only to those whom it knows."""
    if answer.status == 401:
        return {}
    if answer.status >= 400:
        raise refused(answer, None)
    data = answer.data()
    if not isinstance(data, Mapping) or not data:
        raise Unavailable(f"{answer.url} answered no version: this is no Fuel master.", hint="Check --server.")
    return data


class _Session(requests.Session):
    """requests, which parses where a redirect leads even if it shall not follow it, and fails on what is no URL."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Nowhere: redirects are followed by `Session`, or by nobody."""


def http_session(master: Master, adapter: BaseAdapter | None = None) -> requests.Session:
    """A session of requests whose exchanges end in time. It reads no passwords from ~/.netrc."""
    session = _Session()
    session.auth = _without_netrc
    session.headers["User-Agent"] = f"fuelclient/{__version__}"
    transport = adapter or BoundedAdapter(master.total_timeout, master.body_limit)
    session.mount("http://", transport)
    session.mount("https://", transport)
    if master.insecure:
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # it was asked for
    return session


def verification(master: Master) -> bool | str:
    """Which certificates are accepted, as requests has it. Raises `NotFound` for a CA file that is not there."""
    if master.insecure or not master.ca_file:
        return not master.insecure
    if not os.path.exists(master.ca_file):
        raise NotFound("file", master.ca_file, hint="Correct --os-cacert or OS_CACERT, which name it.")
    return master.ca_file


def proxies_for(master: Master, url: str) -> dict[str, str]:
    """The proxies of the settings for a URL, stated as empty for a host that NO_PROXY names; where the settings name
    none, requests takes the environment's."""
    if not master.proxy:
        return {}
    used = "" if requests.utils.should_bypass_proxies(url, no_proxy=None) else master.proxy
    return {"http": used, "https": used}


def _without_netrc(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Nothing is added; without it requests would send a password of ~/.netrc beside our token."""
    return request


def _text(value: Any) -> str:
    """A value of a query as Nailgun reads it.

    >>> _text(True), _text((1, 2)), _text("a")
    ('1', '1,2', 'a')
    """
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(map(str, value))
    return str(value)


def _may_pass(error: requests.exceptions.RequestException) -> bool:
    """Whether another try may help: not where time is over, nobody listens, or the certificate is a stranger's."""
    lasting = (
        TotalTimeout, BodyTooLarge, requests.exceptions.Timeout, requests.exceptions.SSLError,
        requests.exceptions.ProxyError, requests.exceptions.InvalidURL,
    )  # fmt: skip
    if isinstance(error, lasting):
        return False
    return not ("NewConnectionError" in repr(error) or "NameResolutionError" in repr(error))


def _next(method: str, url: str, location: str) -> str:
    """Where a redirect leads, which must be the same origin, and no request that writes."""
    try:
        target = urllib.parse.urljoin(url, location)
        is_same = bool(location) and _origin(target) == _origin(url)
    except ValueError as error:
        raise Unavailable(
            f"{url} redirects to what is no address.", hint="Check --server or SERVER_ADDRESS."
        ) from error
    if not is_same:
        raise Unavailable(
            f"{url} redirects to another host ({_shown(target)}), which gets no token and no request.",
            hint="If that is the master, name it with --server.",
        )
    if method != "GET":
        raise Unavailable(f"{url} redirects a {method}.", hint="Name the address it leads to with --server.")
    return target


def _shown(url: str) -> str:
    """Scheme and host of a URL."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)

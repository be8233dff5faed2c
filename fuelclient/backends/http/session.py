"""Send requests to a master, with a token and time limits, and raise errors of ours.

No token goes to another host: redirects are followed only to the same origin, and only for requests that read.
"""

from __future__ import annotations

import logging
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from functools import partialmethod
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import BaseAdapter

from fuelclient.backends.http import MESSAGE_TYPE
from fuelclient.backends.http.answers import About, Response, is_unconnected, refused, unreachable
from fuelclient.backends.http.transport import BodyTooLarge, TotalTimeout, http_session, proxies_for, verification
from fuelclient.errors import Unauthorised, Unavailable
from fuelclient.redact import MASK
from fuelclient.settings.master import Master

if TYPE_CHECKING:
    from fuelclient.backends.http.auth import Keystone, ServerToken

LOG = logging.getLogger("fuelclient.http")

API = "/api/v1/"
"""The path of Nailgun's resources."""

OURS = "fuelclient"
"""The beginning of the `server` in the version of our own server; Nailgun has no such field."""

_BUSY = frozenset((429, 502, 503, 504))
_MOVED = frozenset((301, 302, 303, 307, 308))
_REDIRECTS = 3
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_NOTHING = object()
_LASTING = (
    TotalTimeout, BodyTooLarge, requests.exceptions.Timeout, requests.exceptions.SSLError,
    requests.exceptions.ProxyError, requests.exceptions.InvalidURL,
)  # fmt: skip
"""Failures after which another try would not help, as without a listener."""

_NO_PROXIES = {"http": "", "https": ""}


class Session:
    """Requests to one master. `adapter` replaces the transport, `sleep` the pause between two tries."""

    def __init__(
        self, master: Master, *, adapter: BaseAdapter | None = None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.master = master
        self._http = http_session(master, adapter)
        self._sleep = sleep
        self._lock = threading.Lock()
        self._version: Mapping[str, Any] | None = None
        self._keystone: Keystone | ServerToken | None = None
        self._is_direct = False

    @property
    def version(self) -> Mapping[str, Any]:
        """The answer to a request for the master's version, which is sent once."""
        self._authentication()
        if not self._version:  # it only answers users with a token
            data = self.get("version")
            self._version = data if isinstance(data, Mapping) else {}
        return self._version

    @property
    def is_ours(self) -> bool:
        return str(self.version.get("server", "")).startswith(OURS)

    def close(self) -> None:
        self._http.close()

    def send(self, method: str, path: str, about: About | None = None, body: Any = _NOTHING, **query: Any) -> Any:
        """Return the JSON of the answer. GET is tried again while the master is busy or the connection breaks.

        A path that begins with a slash is one of the master itself, any other one is below `API`. Parameters of the
        query that are None are left out.
        """
        answer = self._authenticated(method, self._url(path, query), body, about)
        if answer.status >= 400:
            raise refused(answer, about, self._who(answer))
        return None if answer.status == 204 else answer.data()

    get = partialmethod(send, "GET")
    post = partialmethod(send, "POST")
    put = partialmethod(send, "PUT")
    patch = partialmethod(send, "PATCH")
    delete = partialmethod(send, "DELETE")

    def message(self, path: str, body: bytes, about: About, *, reads: bool) -> Response:
        """Send a message to a server of ours; its answer may be a refusal in the same form.

        One that reads may be sent again. Any other refusal is raised, such as that of the credentials.
        """
        answer = self._authenticated("POST", self._url(path, {}), body, about, reads=reads)
        if answer.status >= 400 and answer.content_type != MESSAGE_TYPE:
            raise refused(answer, about, self._who(answer), has_roles=True)
        return answer

    def _who(self, answer: Response) -> str:
        return self._keystone.explained() if self._keystone and answer.status in (401, 403) else ""

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        given = {key: _text(value) for key, value in query.items() if value is not None}
        text = f"?{urllib.parse.urlencode(given)}" if given else ""
        return f"{self.master.url}{path if path.startswith('/') else API + path}{text}"

    def _authenticated(self, method: str, url: str, body: Any, about: About | None, *, reads: bool = False) -> Response:
        """Send a request with a token; an expired token is replaced once."""
        keystone = self._authentication()
        reads = reads or method == "GET"
        answer = self._patiently(method, url, body, keystone.token() if keystone else "", about, reads=reads)
        if answer.status == 401 and keystone is not None and keystone.renew():
            answer = self._patiently(method, url, body, keystone.token(), about, reads=reads)
        return answer

    def _authentication(self) -> Keystone | ServerToken | None:
        """The source of tokens, or None if the master needs none, which is found out once."""
        with self._lock:
            if self._version is None:
                answer = self._patiently("GET", f"{self.master.url}{API}version", _NOTHING, "")
                version = _version_of(answer)
                if version.get("auth_required") or answer.status == 401:
                    self._keystone = self._tokens(version)
                self._version = version
        return self._keystone

    def _tokens(self, version: Mapping[str, Any]) -> Keystone | ServerToken:
        is_own = version.get("auth") == "token" and version.get("server")  # a server that left its token for its user
        if is_own and not self.master.credentials.token:
            from fuelclient.backends.http.auth import ServerToken

            token = ServerToken(self.master.url)
            self._is_direct = True
            return token
        if not self.master.credentials.stated:
            raise Unauthorised(
                f"{self.master.url} needs credentials.",
                hint="Set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME, or give --os-username and so on.",
            )
        from fuelclient.backends.http.auth import Keystone  # some masters need no token

        return Keystone(self.master, self._http)

    def _patiently(
        self, method: str, url: str, body: Any, token: str, about: About | None = None, *, reads: bool = True
    ) -> Response:
        """Try again after a pause if a request that reads broke off, or the master is busy."""
        pause, began = _FIRST_PAUSE, time.monotonic()
        for left in range(self.master.retries if reads else 0, -1, -1):
            late = time.monotonic() - began > self.master.total_timeout
            try:
                answer = self._exchange(method, url, body, token)
            except requests.exceptions.RequestException as error:
                if not left or late or isinstance(error, _LASTING) or is_unconnected(error):
                    raise unreachable(error, url, self.master.timeout, about) from error
                LOG.debug("%s %s broke, another try follows", method, url)
            else:
                if answer.status not in _BUSY or not left or late:
                    return answer
                LOG.debug("%s %s is busy (%d), another try follows", method, url, answer.status)
            self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("the last try returns or raises")

    def _exchange(self, method: str, url: str, body: Any, token: str) -> Response:
        """Send a request; follow redirects of reads within the origin of `url`."""
        kind = MESSAGE_TYPE if isinstance(body, bytes) else "application/json"
        headers = {"Accept": kind, "Content-Type": kind}
        if token:
            headers["X-Auth-Token"] = token
        options: dict[str, Any] = {} if body is _NOTHING else {"data" if isinstance(body, bytes) else "json": body}
        proxies = _NO_PROXIES if self._is_direct else proxies_for(self.master, url)
        for _ in range(_REDIRECTS + 1):
            response = self._http.request(
                method, url, headers=headers, timeout=(self.master.timeout, None), allow_redirects=False,
                verify=verification(self.master), proxies=proxies, **options,
            )  # fmt: skip
            LOG.debug("%s %s -> %d, %d bytes", method, url, response.status_code, len(response.content))
            if response.status_code not in _MOVED:
                content_type = response.headers.get("Content-Type", "")
                # A master, or a proxy before it, may repeat the headers of a request in its answer.
                is_text = bool(token) and content_type != MESSAGE_TYPE  # whose texts have their lengths before them
                content = response.content.replace(token.encode(), MASK.encode()) if is_text else response.content
                return Response(method, url, response.status_code, content_type, content)
            location = response.headers.get("Location", "")
            url = _next(method, url, location.replace(token, MASK) if token else location)
        raise Unavailable(f"{url} is redirected again and again.", hint="Check --server or SERVER_ADDRESS.")


def _version_of(answer: Response) -> Mapping[str, Any]:
    """The version in an answer; empty if the master only gives it to users with a token."""
    if answer.status == 401:
        return {}
    if answer.status >= 400:
        raise refused(answer, None)
    data = answer.data()
    if not isinstance(data, Mapping) or not data:
        raise Unavailable(f"{answer.url} has no version: this is not a Fuel master.", hint="Check --server.")
    return data


def _text(value: Any) -> str:
    """A value of a query in Nailgun's form.

    >>> _text(True), _text((1, 2)), _text("a")
    ('1', '1,2', 'a')
    """
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(map(str, value))
    return str(value)


def _next(method: str, url: str, location: str) -> str:
    """The target of a redirect. Raise `Unavailable` for another origin, or for a request that writes."""
    try:
        target = urllib.parse.urljoin(url, location)
        is_same = bool(location) and _origin(target) == _origin(url)
    except ValueError as error:
        raise Unavailable(
            f"{url} redirects to an invalid address.", hint="Check --server or SERVER_ADDRESS."
        ) from error
    if not is_same:
        parts = urllib.parse.urlsplit(target)
        shown = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")  # without a password
        raise Unavailable(
            f"{url} redirects to another host ({shown}), which is not followed.",
            hint="If that is the master, name it with --server.",
        )
    if method != "GET":
        raise Unavailable(f"{url} redirects a {method} request.", hint="Name the address it leads to with --server.")
    return target


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)

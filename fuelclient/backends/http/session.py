"""Send requests to a server, with a token and time limits, and raise `FuelError`s for failures.

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
from fuelclient.backends.http.answers import CHECK_ADDRESS, About, Response, is_unconnected, refused, unreachable
from fuelclient.backends.http.transport import BodyTooLarge, TotalTimeout, http_session, proxies_for, verification
from fuelclient.errors import Unauthorised, Unavailable
from fuelclient.redact import MASK
from fuelclient.settings.master import Master

if TYPE_CHECKING:
    from fuelclient.backends.http.auth import Keystone, ServerToken

LOG = logging.getLogger("fuelclient.http")

API = "/api/v1/"
"""The path of Nailgun's resources."""

_SERVER_PREFIX = "fuelclient"
"""How the field `server` of the version begins on a server of this package; Nailgun has no such field."""

_BUSY_STATUSES = frozenset((429, 502, 503, 504))
_REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))
_MAX_REDIRECTS = 3
_FIRST_PAUSE_SECONDS = 0.2
_MAX_PAUSE_SECONDS = 5.0
_NO_BODY = object()
_PERMANENT_FAILURES = (
    TotalTimeout, BodyTooLarge, requests.exceptions.Timeout, requests.exceptions.SSLError,
    requests.exceptions.ProxyError, requests.exceptions.InvalidURL,
)  # fmt: skip
"""Failures after which a retry would not help; `is_unconnected` detects one more."""

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
        self._token_source: Keystone | ServerToken | None = None
        self._is_direct = False

    @property
    def version(self) -> Mapping[str, Any]:
        """The server's version, which is requested once."""
        self._authentication()
        if not self._version:  # the first answer required a token
            data = self.get("version")
            self._version = data if isinstance(data, Mapping) else {}
        return self._version

    @property
    def is_fuelclient_server(self) -> bool:
        return str(self.version.get("server", "")).startswith(_SERVER_PREFIX)

    def close(self) -> None:
        self._http.close()

    def send(self, method: str, path: str, about: About | None = None, body: Any = _NO_BODY, **query: Any) -> Any:
        """Return the JSON of the answer. GET is tried again while the master is busy or the connection breaks.

        A path that begins with a slash is relative to the root of the master, any other one to `API`. Parameters of
        the query that are None are left out.
        """
        answer = self._authenticated(method, self._url(path, query), body, about)
        if answer.status >= 400:
            raise refused(answer, about, self._credentials_hint(answer))
        return None if answer.status == 204 else answer.data()

    get = partialmethod(send, "GET")
    post = partialmethod(send, "POST")
    put = partialmethod(send, "PUT")
    patch = partialmethod(send, "PATCH")
    delete = partialmethod(send, "DELETE")

    def message(self, path: str, body: bytes, about: About, *, reads: bool) -> Response:
        """Send a message to a server of this package. It is sent again after failures only if it `reads`.

        A refusal in the form of a message is returned; any other refusal, such as of the credentials, is raised.
        """
        answer = self._authenticated("POST", self._url(path, {}), body, about, reads=reads)
        if answer.status >= 400 and answer.content_type != MESSAGE_TYPE:
            raise refused(answer, about, self._credentials_hint(answer), has_roles=True)
        return answer

    def _credentials_hint(self, answer: Response) -> str:
        if self._token_source is None or answer.status not in (401, 403):
            return ""
        if self.master.credentials.token and self._version and self._version.get("auth") == "token":
            return (
                "The token in OS_TOKEN was used; without it, fuel2 finds the one that the server wrote for you. "
                "`fuel2 config show --origin` shows where it is set."
            )
        return self._token_source.explanation()

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        given = {key: _text(value) for key, value in query.items() if value is not None}
        text = f"?{urllib.parse.urlencode(given)}" if given else ""
        return f"{self.master.url}{path if path.startswith('/') else API + path}{text}"

    def _authenticated(self, method: str, url: str, body: Any, about: About | None, *, reads: bool = False) -> Response:
        """Send a request with a token; renew an expired token once."""
        token_source = self._authentication()
        reads = reads or method == "GET"
        answer = self._send_with_retries(
            method, url, body, token_source.token() if token_source else "", about, reads=reads
        )
        if answer.status == 401 and token_source is not None and token_source.renew():
            answer = self._send_with_retries(method, url, body, token_source.token(), about, reads=reads)
        return answer

    def _authentication(self) -> Keystone | ServerToken | None:
        """The source of tokens, or None if the server needs none; the first call finds this out."""
        with self._lock:
            if self._version is None:
                answer = self._send_with_retries("GET", f"{self.master.url}{API}version", _NO_BODY, "")
                version = _version_of(answer)
                if version.get("auth_required") or answer.status == 401:
                    self._token_source = self._find_token_source(version)
                self._version = version
        return self._token_source

    def _find_token_source(self, version: Mapping[str, Any]) -> Keystone | ServerToken:
        is_own = version.get("auth") == "token" and version.get("server")  # it wrote its token to a file
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

    def _send_with_retries(
        self, method: str, url: str, body: Any, token: str, about: About | None = None, *, reads: bool = True
    ) -> Response:
        """If the request `reads`, try again after a pause if it broke off or the server is busy."""
        pause, began = _FIRST_PAUSE_SECONDS, time.monotonic()
        for tries_left in range(self.master.retries if reads else 0, -1, -1):
            is_late = time.monotonic() - began > self.master.total_timeout
            try:
                answer = self._exchange(method, url, body, token)
            except requests.exceptions.RequestException as error:
                if not tries_left or is_late or isinstance(error, _PERMANENT_FAILURES) or is_unconnected(error):
                    raise unreachable(error, url, self.master.timeout, about) from error
                LOG.debug("%s %s broke, another try follows", method, url)
            else:
                if answer.status not in _BUSY_STATUSES or not tries_left or is_late:
                    return answer
                LOG.debug("%s %s is busy (%d), another try follows", method, url, answer.status)
            self._sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)
        raise AssertionError("the last try returns or raises")

    def _exchange(self, method: str, url: str, body: Any, token: str) -> Response:
        """Send a request; follow redirects of reads within the origin of `url`."""
        media_type = MESSAGE_TYPE if isinstance(body, bytes) else "application/json"
        headers = {"Accept": media_type, "Content-Type": media_type}
        if token:
            headers["X-Auth-Token"] = token
        options: dict[str, Any] = {} if body is _NO_BODY else {"data" if isinstance(body, bytes) else "json": body}
        proxies = _NO_PROXIES if self._is_direct else proxies_for(self.master, url)
        for _ in range(_MAX_REDIRECTS + 1):
            response = self._http.request(
                method, url, headers=headers, timeout=(self.master.timeout, None), allow_redirects=False,
                verify=verification(self.master), proxies=proxies, **options,
            )  # fmt: skip
            LOG.debug("%s %s -> %d, %d bytes", method, url, response.status_code, len(response.content))
            if response.status_code not in _REDIRECT_STATUSES:
                content_type = response.headers.get("Content-Type", "")
                # A master, or a proxy before it, may repeat the headers of a request in its answer.
                may_mask = bool(token) and content_type != MESSAGE_TYPE  # its strings are length-prefixed
                content = response.content.replace(token.encode(), MASK.encode()) if may_mask else response.content
                return Response(method, url, response.status_code, content_type, content)
            location = response.headers.get("Location", "")
            url = _next(method, url, location.replace(token, MASK) if token else location)
        raise Unavailable(f"{url} is redirected again and again.", hint="Check --server or SERVER_ADDRESS.")


def _version_of(answer: Response) -> Mapping[str, Any]:
    """The version in an answer; empty if the master only gives it to users with a token."""
    if answer.status == 401:
        return {}
    if answer.status >= 400 and answer.status != 404:
        raise refused(answer, None)
    data = None if answer.status == 404 else answer.data()
    if not isinstance(data, Mapping) or not data:
        path = urllib.parse.urlsplit(answer.url).path.removesuffix(f"{API}version")
        hint = f"Leave {path} out of --server or SERVER_ADDRESS." if path else CHECK_ADDRESS
        raise Unavailable(f"{answer.url} has no version: this is not a Fuel master.", hint=hint)
    return data


def _text(value: Any) -> str:
    """A value of a query in the form that Nailgun reads.

    >>> _text(True), _text((1, 2)), _text("a")
    ('1', '1,2', 'a')
    """
    if isinstance(value, bool):
        return str(int(value))
    return ",".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else str(value)


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

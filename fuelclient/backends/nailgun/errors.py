"""Make errors of ours, which name the URL and what to do, from a master's answers and from failed requests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests

from fuelclient.backends.nailgun.transport import BodyTooLarge, TotalTimeout
from fuelclient.errors import (
    Conflict,
    FuelError,
    InvalidDocument,
    NotFound,
    Unauthorised,
    Unavailable,
    Unsupported,
    UsageError,
)
from fuelclient.serializers.finding import error_from

_CHECK_ADDRESS = "Check --server or SERVER_ADDRESS, and the proxies in between."
_SHOWN = 200


_NOUNS = {
    "Cluster": "environment", "Release": "release", "Plugin": "plugin", "Node": "node", "NodeCollection": "node",
    "Transaction": "run", "Task": "run", "DeploymentSequence": "sequence",
}  # fmt: skip
"""Our nouns for Nailgun's classes."""


@dataclass(frozen=True, slots=True)
class About:
    """What a request is about, for its errors: what does not exist (404), or is wrong (400).

    `within` is the noun and the key of what it belongs to, which may be what does not exist.
    """

    noun: str
    key: object
    within: tuple[str, object] | None = None
    invalid: type[InvalidDocument] | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer of a master."""

    method: str
    url: str
    status: int
    content_type: str
    body: bytes

    def data(self) -> Any:
        """Return the JSON of the answer; None if a request that writes got an empty one. Raise `Unavailable`."""
        if not self.body.strip() and self.method != "GET":
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            received = (
                "nothing" if not self.body.strip() else "HTML" if self._is_html() else "something other than JSON"
            )
            raise Unavailable(
                f"{self.url} answered {received}: it is not a Fuel master, or a proxy changes its answers.",
                hint=_CHECK_ADDRESS,
            ) from error

    def message(self) -> str:
        """Return the message of the answer on one line: Nailgun's `message`, or the beginning of a plain text."""
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError):
            text = "" if self._is_html() else self.body.decode("utf-8", "replace")
        else:
            inner = data.get("message", data.get("error", "")) if isinstance(data, Mapping) else data
            text = str(inner.get("message", "")) if isinstance(inner, Mapping) else str(inner or "")
        line = " ".join(text.split())
        return line if len(line) <= _SHOWN * 5 else f"{line[: _SHOWN * 5]} ..."

    def error(self) -> FuelError | None:
        """Return the error in the answer of a server of ours."""
        try:
            return error_from(json.loads(self.body))
        except (ValueError, RecursionError, FuelError):
            return None

    def _is_html(self) -> bool:
        return "html" in self.content_type or self.body.lstrip()[:1] == b"<"


def refused(answer: Response, about: About | None, who: str = "") -> FuelError:
    """Return the error for an answer of 400 or more; `who` says which user made the request."""
    said = answer.message()
    error = answer.error()
    if error is not None and answer.status not in (401, 403):
        return error
    if answer.status == 404:
        return _missing(answer, about, said)
    if answer.status in (401, 403):
        verb = "does not accept the credentials" if answer.status == 401 else "does not allow this"
        hint = who or "Set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME."
        return Unauthorised(f"{answer.url} {verb}{_colon(said)}.", hint=hint)
    if answer.status in (405, 501):
        return Unsupported(f"This master has no {answer.method} {answer.url}{_colon(said)}.", hint="It may be older.")
    message = _sentence(said or f"{answer.url} answered {answer.status}")
    if answer.status == 409:
        return Conflict(message)
    if answer.status < 500:
        return UsageError(message) if about is None or about.invalid is None else about.invalid(message)
    hint = "Try again later, and look at its logs." if answer.status in (502, 503, 504) else "Look at its logs."
    return Unavailable(f"{answer.url} answered {answer.status}{_colon(said)}.", hint=hint)


def _missing(answer: Response, about: About | None, said: str) -> FuelError:
    if about is None or not said or "Page not found" in said:
        return Unsupported(f"{answer.url} does not exist on this master{_colon(said)}.", hint=_CHECK_ADDRESS)
    named = re.fullmatch(r"(\w+) not found", said)
    if named and about.within and _NOUNS.get(named[1]) == about.within[0]:
        return NotFound(*about.within)
    return NotFound(about.noun, about.key, hint="" if named else _sentence(said))


def unreachable(error: requests.exceptions.RequestException, url: str, timeout: float) -> Unavailable:
    """Return the error for a request that got no answer."""
    if isinstance(error, BodyTooLarge):
        return Unavailable(f"{url}: {error}.", hint=_CHECK_ADDRESS)
    if isinstance(error, TotalTimeout):
        return Unavailable(f"{url}: {error}.", hint="Raise FUEL_HTTP_TOTAL_TIMEOUT if it is only slow.")
    if isinstance(error, requests.exceptions.SSLError):
        hint = "Name its certificate authority with --os-cacert."
        return Unavailable(f"{url}: its certificate cannot be checked{_colon(_cause(error))}.", hint=hint)
    if isinstance(error, requests.exceptions.ProxyError):
        return Unavailable(f"{url}: the proxy cannot be used{_colon(_cause(error))}.", hint="Check HTTP_PROXY.")
    if isinstance(error, requests.exceptions.Timeout):
        message = f"{url} sent nothing for {timeout:g} seconds."
        return Unavailable(message, hint="Raise HTTP_TIMEOUT if it is only slow.")
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return Unavailable(f"{url} broke off in the middle of its answer{_colon(_cause(error))}.", hint="Try again.")
    return Unavailable(f"{url} cannot be reached{_colon(_cause(error))}.", hint=_CHECK_ADDRESS)


def _cause(error: BaseException) -> str:
    """Return the innermost reason of an error of requests, without the Python around it."""
    inner: BaseException = error
    while True:
        around = (getattr(inner, "reason", None), *inner.args, inner.__cause__)
        cause = next((reason for reason in around if isinstance(reason, BaseException)), None)
        if cause is None:
            break
        inner = cause
    text = getattr(inner, "strerror", None) or str(inner)
    return re.sub(r"\(_ssl\.c:\d+\)", "", " ".join(str(text).split())).strip(" .")[:_SHOWN]


def _colon(said: str) -> str:
    """Return a message after a colon; nothing for an empty one.

    >>> _colon("Role is missing."), _colon("")
    (': Role is missing', '')
    """
    return f": {said.rstrip(' .')}" if said else ""


def _sentence(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said}."

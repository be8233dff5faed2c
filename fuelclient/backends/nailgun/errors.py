"""Errors of a master: from an answer, or from none, to one of ours that says which URL and what to do."""

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

_CHECK_ADDRESS = "Check --server or SERVER_ADDRESS, and what stands between here and there."
_SHOWN = 200


_NOUNS = {
    "Cluster": "environment", "Release": "release", "Plugin": "plugin", "Node": "node", "NodeCollection": "node",
    "Transaction": "transaction", "Task": "transaction", "DeploymentSequence": "sequence",
}  # fmt: skip
"""What Nailgun's classes are called here."""


@dataclass(frozen=True, slots=True)
class About:
    """What a request is about: what is missing when the answer is 404, and what is wrong when it is 400.

    `within` is the noun and the key of what it belongs to, which may be missing instead.
    """

    noun: str
    key: object
    within: tuple[str, object] | None = None
    invalid: type[InvalidDocument] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a master, whole; `body` is what it sent."""

    method: str
    url: str
    status: int
    content_type: str
    body: bytes

    def data(self) -> Any:
        """The JSON of the answer, None for an empty one to a request that wrote. Raises `Unavailable` where it is
        something else."""
        if not self.body.strip() and self.method != "GET":
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            kind = "nothing" if not self.body.strip() else "HTML" if self._is_html() else "something that is no JSON"
            raise Unavailable(
                f"{self.url} answered {kind}: this is no Fuel master, or something between breaks it.",
                hint=_CHECK_ADDRESS,
            ) from error

    def message(self) -> str:
        """What the answer says in words, on one line: Nailgun's `message`, or the beginning of a plain text."""
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError):
            text = "" if self._is_html() else self.body.decode("utf-8", "replace")
        else:
            inner = data.get("message", data.get("error", "")) if isinstance(data, Mapping) else data
            text = str(inner.get("message", "")) if isinstance(inner, Mapping) else str(inner or "")
        line = " ".join(text.split())
        return line if len(line) <= _SHOWN * 5 else f"{line[: _SHOWN * 5]} ..."

    def told(self) -> FuelError | None:
        """The error of ours that the answer carries, as servers of ours send it."""
        try:
            return error_from(json.loads(self.body))
        except (ValueError, RecursionError, FuelError):
            return None

    def _is_html(self) -> bool:
        return "html" in self.content_type or self.body.lstrip()[:1] == b"<"


def refused(answer: Answer, about: About | None, who: str = "") -> FuelError:
    """The error that an answer of 400 or more stands for; `who` says as whom the request was made."""
    said = answer.message()
    told = answer.told()
    if told is not None and answer.status not in (401, 403):
        return told
    if answer.status == 404:
        return _missing(answer, about, said)
    if answer.status in (401, 403):
        verb = "does not know who asks" if answer.status == 401 else "does not allow this"
        hint = who or "Set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME."
        return Unauthorised(f"{answer.url} {verb}{_colon(said)}.", hint=hint)
    if answer.status in (405, 501):
        return Unsupported(f"This master has no {answer.method} {answer.url}{_colon(said)}.", hint="It may be older.")
    if answer.status == 409:
        return Conflict(_sentence(said or f"{answer.url} answered 409 Conflict"))
    if answer.status < 500:
        return _wrong(answer, about, said)
    hint = "Try again later, and look at its logs." if answer.status in (502, 503, 504) else "Look at its logs."
    return Unavailable(f"{answer.url} answered {answer.status}{_colon(said)}.", hint=hint)


def _missing(answer: Answer, about: About | None, said: str) -> FuelError:
    if about is None or not said or "Page not found" in said:
        return Unsupported(f"{answer.url} does not exist on this master{_colon(said)}.", hint=_CHECK_ADDRESS)
    named = re.fullmatch(r"(\w+) not found", said)
    if named and about.within and _NOUNS.get(named[1]) == about.within[0]:
        return NotFound(*about.within)
    return NotFound(about.noun, about.key, hint="" if named else _sentence(said))


def _wrong(answer: Answer, about: About | None, said: str) -> FuelError:
    message = _sentence(said or f"{answer.url} answered {answer.status}")
    if about is not None and about.invalid is not None:
        return about.invalid(message)
    return UsageError(message)


def unreachable(error: requests.exceptions.RequestException, url: str, timeout: float) -> Unavailable:
    """The error for an exchange that gave no answer."""
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
        said = f"{url} said nothing for {timeout:g} seconds."
        return Unavailable(said, hint="Raise HTTP_TIMEOUT if it is only slow.")
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return Unavailable(f"{url} broke off within its answer{_colon(_cause(error))}.", hint="Try again.")
    return Unavailable(f"{url} cannot be reached{_colon(_cause(error))}.", hint=_CHECK_ADDRESS)


def _cause(error: BaseException) -> str:
    """The innermost reason of an error of requests, without the Python around it."""
    inner: BaseException = error
    while True:
        around = (getattr(inner, "reason", None), *inner.args, inner.__cause__)
        below = next((one for one in around if isinstance(one, BaseException)), None)
        if below is None:
            break
        inner = below
    text = getattr(inner, "strerror", None) or str(inner)
    return re.sub(r"\(_ssl\.c:\d+\)", "", " ".join(str(text).split())).strip(" .")[:_SHOWN]


def _colon(said: str) -> str:
    """What somebody said, after a colon, where it is anything.

    >>> _colon("Role is missing."), _colon("")
    (': Role is missing', '')
    """
    return f": {said.rstrip(' .')}" if said else ""


def _sentence(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said}."

"""Read the answers of a server, and make errors for refusals and for requests without an answer.

The errors name the URL and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from requests import exceptions

from fuelclient import errors
from fuelclient.backends.http.transport import BodyTooLarge, TotalTimeout

CHECK_ADDRESS = "Check --server or SERVER_ADDRESS, and the proxies in between."

_MAX_MESSAGE_CHARACTERS = 1000
_TEXT_KEYS = ("message", "error", "errors", "title")
"""The keys under which a body may have its message."""
_TRACEBACK = "Traceback (most recent call last)"
_SCHEMA = re.compile(r"\n\s*(Failed validating|On instance)\b")
"""Where the message of a JSON schema begins to quote the schema."""


@dataclass(frozen=True, slots=True)
class Response:
    method: str
    url: str
    status: int
    content_type: str
    body: bytes

    def data(self) -> Any:
        """The JSON of the answer; None for an empty answer to a write. Raise `Unavailable` for anything else."""
        if not self.body.strip() and self.method != "GET":
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            received = "HTML" if self._is_html() else "something other than JSON" if self.body.strip() else "nothing"
            raise errors.Unavailable(
                f"{self.url} answered {received}: it is not a Fuel master, or a proxy changes its answers.",
                hint=CHECK_ADDRESS,
            ) from error

    def message(self) -> str:
        """The message on one line: Nailgun's `message`, or the beginning of a plain text.

        Nailgun sends JSON and plain texts as HTML, so the content type is ignored. Only the exception of a Python
        traceback is kept, and a JSON schema that the message quotes is left out.
        """
        text = "" if self._is_html() else _message_in(self.body.decode("utf-8", "replace"))
        if _TRACEBACK in text:
            after = text.rpartition(_TRACEBACK)[2].splitlines()[1:]
            text = next((line for line in after if line.strip() and not line.startswith(" ")), "")
        line = " ".join(_SCHEMA.split(text)[0].split())
        return line if len(line) <= _MAX_MESSAGE_CHARACTERS else f"{line[:_MAX_MESSAGE_CHARACTERS]} ..."

    @property
    def is_plain(self) -> bool:
        """Whether the body is neither JSON nor HTML. Nailgun sends such a text to forbid a request for now."""
        try:
            json.loads(self.body)
        except (ValueError, RecursionError):
            return bool(self.body.strip()) and not self._is_html()
        return False

    def _is_html(self) -> bool:
        return self.body.lstrip()[:1] == b"<"


def _message_in(text: str) -> str:
    r"""The message in a body; Nailgun sometimes puts JSON with a message into a message.

    >>> _message_in('{"message": "{\\"message\\": \\"Graph x is not defined\\"}"}')
    'Graph x is not defined'
    >>> _message_in("not found"), _message_in("None")
    ('not found', '')

    A list of strings is joined; other JSON is kept.

    >>> _message_in('["first", "second"]'), _message_in('{"message": "{\\"id\\": 5}"}')
    ('first; second', '{"id": 5}')
    >>> _message_in('{"message": "", "errors": []}')
    ''
    """
    try:
        data = json.loads(text)
        while isinstance(data, Mapping) and (inner := next((data[key] for key in _TEXT_KEYS if data.get(key)), None)):
            data = inner
        if isinstance(data, str):
            return _message_in(data) if data.startswith("{") else data
        if isinstance(data, list) and all(isinstance(item, str) for item in data):
            return "; ".join(data)
        nothing = not data or (isinstance(data, Mapping) and not any(data.values()))
        return "" if nothing else json.dumps(data, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "" if text.strip() == "None" else text


_MAX_CAUSE_CHARACTERS = 200
_BUSY_STATUSES = (502, 503, 504)


_NOUNS = {
    "Cluster": "environment", "Release": "release", "Plugin": "plugin", "Node": "node", "NodeCollection": "node",
    "Transaction": "run", "Task": "run", "DeploymentSequence": "sequence",
}  # fmt: skip
"""Our nouns for Nailgun's classes."""

_MISSING = re.compile(r"(?:Object ')?(?P<class>\w+)(?:' with UID=(?P<key>\S+) is not found in DB| not found)")
"""Nailgun's sentence about an object that does not exist."""

_UNKNOWN = {"release": "Invalid release ID", "node": "were not found"}
"""Parts of Nailgun's sentences, with status 400, about things that do not exist, by our nouns."""

_STATE = re.compile(r"(can't|cannot|you cannot) |.*(\balready\b|should be in the status|not deployable)", re.IGNORECASE)
"""Nailgun's sentences, with status 400, when the current state forbids a request."""


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a request, for the errors if it does not exist (404) or is invalid (400).

    `within` is the noun and the key of its owner, which may be missing instead. `unsure` is the hint for a request
    that writes and gets no answer: what the master may have done, and how to find out.
    """

    noun: str
    key: object
    within: tuple[str, object] | None = None
    invalid: type[errors.InvalidDocument] | None = None
    unsure: str = ""


def may_have_begun(cluster_id: int) -> str:
    return f"The run may have begun all the same: 'fuel2 task list --env {cluster_id}' lists it last."


def refused(answer: Response, about: About | None, who: str = "", *, has_roles: bool = False) -> errors.FuelError:
    """The error for an answer of 400 or more; `who` describes the user of the request.

    Nailgun has no user roles: its 403 means that the current state forbids the request. A 403 of a server that
    `has_roles` is about the user.
    """
    text = answer.message()
    if answer.status == 404:
        return _missing(answer, about, text)
    if answer.status == 403 and text and not has_roles and answer.method != "GET":
        return errors.Conflict(_sentence(text))
    if answer.status in (401, 403):
        verb = "does not accept the credentials" if answer.status == 401 else "does not allow this"
        hint = who or "Set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME."
        return errors.Unauthorised(f"{answer.url} {verb}{_colon(text)}.", hint=hint)
    if answer.status in (405, 501):
        return errors.Unsupported(
            f"This master has no {answer.method} {answer.url}{_colon(text)}.", hint="The master may be too old."
        )
    message = _sentence(text or f"{answer.url} answered {answer.status}")
    if answer.status == 409 or (answer.status == 400 and (answer.is_plain or _STATE.match(text))):
        return errors.Conflict(message)
    if answer.status < 500:
        if about is not None and _UNKNOWN.get(about.noun, text + "?") in text:
            return errors.NotFound(about.noun, about.key, hint=message)
        return errors.UsageError(message) if about is None or about.invalid is None else about.invalid(message)
    hint = "Try again later, and look at its logs." if answer.status in _BUSY_STATUSES else "Look at its logs."
    if about is not None and about.unsure and answer.status in _BUSY_STATUSES:
        hint = about.unsure
    return errors.Unavailable(f"{answer.url} answered {answer.status}{_colon(text)}.", hint=hint)


def _missing(answer: Response, about: About | None, text: str) -> errors.FuelError:
    if about is None or text in ("", "not found") or "Page not found" in text:
        return errors.Unsupported(f"{answer.url} does not exist on this master{_colon(text)}.", hint=CHECK_ADDRESS)
    matched = _MISSING.fullmatch(text)
    noun = _NOUNS.get(matched["class"]) if matched else None
    if about.within and noun == about.within[0]:
        return errors.NotFound(*about.within)
    if matched and matched["key"] and noun:
        return errors.NotFound(noun, matched["key"])
    return errors.NotFound(about.noun, about.key, hint="" if matched else _sentence(text))


_FAILURES: tuple[tuple[Any, str, str], ...] = (
    (BodyTooLarge, "{url}: {error}", CHECK_ADDRESS),
    (TotalTimeout, "{url}: {error}", "Raise FUEL_HTTP_TOTAL_TIMEOUT if it is only slow."),
    (
        exceptions.SSLError,
        "{url}: its certificate cannot be checked{cause}",
        "Name its certificate authority with --os-cacert.",
    ),
    (exceptions.ProxyError, "{url}: the proxy cannot be used{cause}", "Check HTTP_PROXY."),
    (
        exceptions.Timeout,
        "No connection to {url} could be made within {timeout:g} seconds",
        "Check --server or SERVER_ADDRESS, or raise HTTP_TIMEOUT.",
    ),
    (
        (exceptions.ChunkedEncodingError, exceptions.ContentDecodingError),
        "{url} broke off in the middle of its answer{cause}",
        "Try again.",
    ),
    (exceptions.RequestException, "{url} cannot be reached{cause}", CHECK_ADDRESS),
)
"""The message and the hint for a request without an answer, by the first type that the error matches."""

_NEVER_SENT = (exceptions.ConnectTimeout, exceptions.SSLError, exceptions.ProxyError, exceptions.InvalidURL)


def unreachable(
    error: exceptions.RequestException, url: str, timeout: float, about: About | None = None
) -> errors.Unavailable:
    """The error for a request without an answer, with what the master may have done all the same."""
    sentence, hint = next((sentence, hint) for types, sentence, hint in _FAILURES if isinstance(error, types))
    if "WRONG_VERSION_NUMBER" in repr(error):
        sentence, hint = "{url} speaks no HTTPS", "Use http:// in --server or SERVER_ADDRESS."
    if "BadStatusLine(" in repr(error):
        sentence, hint = "{url} answered, but speaks no HTTP{cause}", "Check the port in --server or SERVER_ADDRESS."
    message = sentence.format(url=url, error=error, timeout=timeout, cause=_colon(_cause(error)))
    if about is not None and about.unsure and not isinstance(error, _NEVER_SENT) and not is_unconnected(error):
        hint = f"{about.unsure} {hint}"
    return errors.Unavailable(f"{message}.", hint=hint)


def is_unconnected(error: exceptions.RequestException) -> bool:
    """Whether no connection was made at all: the port is closed, or the name is unknown."""
    return "NewConnectionError" in repr(error) or "NameResolutionError" in repr(error)


def _cause(error: BaseException) -> str:
    """The text of the innermost cause of an error of `requests`, without Python details."""
    inner: BaseException = error
    while True:
        causes = (getattr(inner, "reason", None), *inner.args, inner.__cause__)
        cause = next((reason for reason in causes if isinstance(reason, BaseException)), None)
        if cause is None:
            break
        inner = cause
    text = str(getattr(inner, "strerror", None) or inner)
    return re.sub(r"\(_ssl\.c:\d+\)", "", " ".join(text.split())).strip(" .")[:_MAX_CAUSE_CHARACTERS]


def _colon(text: str) -> str:
    """A message after a colon; an empty one stays empty.

    >>> _colon("Role is missing."), _colon("")
    (': Role is missing', '')
    """
    return f": {text.rstrip(' .')}" if text else ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."

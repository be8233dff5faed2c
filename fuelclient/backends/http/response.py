"""The answers of a server: their JSON, and their messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.errors import Unavailable

CHECK_ADDRESS = "Check --server or SERVER_ADDRESS, and the proxies in between."

_LONGEST = 1000
_NAMED = ("message", "error", "errors", "title")
"""Where a body has its message."""
_TRACEBACK = "Traceback (most recent call last)"
_SCHEMA = re.compile(r"\n\s*(Failed validating|On instance)\b")
"""Where the message of a JSON schema begins to quote the schema."""


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
                hint=CHECK_ADDRESS,
            ) from error

    def message(self) -> str:
        """Return the message of the answer on one line: Nailgun's `message`, or the beginning of a plain text.

        Nailgun calls its JSON and its plain texts HTML, so only the body counts. Of a Python traceback, only the
        exception is returned, and of the message of a JSON schema not the schema.
        """
        text = "" if self._is_html() else _said(self.body.decode("utf-8", "replace"))
        if _TRACEBACK in text:
            after = text.rpartition(_TRACEBACK)[2].splitlines()[1:]
            text = next((line for line in after if line.strip() and not line.startswith(" ")), "")
        line = " ".join(_SCHEMA.split(text)[0].split())
        return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."

    @property
    def is_plain(self) -> bool:
        """Whether the body is a text rather than JSON or HTML: Nailgun refuses so what the state of things forbids."""
        try:
            json.loads(self.body)
        except (ValueError, RecursionError):
            return bool(self.body.strip()) and not self._is_html()
        return False

    def _is_html(self) -> bool:
        return self.body.lstrip()[:1] == b"<"


def _said(text: str) -> str:
    r"""Return the message in a body; Nailgun sometimes puts JSON with a message into a message.

    >>> _said('{"message": "{\\"message\\": \\"Graph x is not defined\\"}"}'), _said("not found"), _said("None")
    ('Graph x is not defined', 'not found', '')

    Other JSON is said as it is.

    >>> _said('["first", "second"]'), _said('{"message": "{\\"id\\": 5}"}'), _said('{"message": "", "errors": []}')
    ('first; second', '{"id": 5}', '')
    """
    try:
        data = json.loads(text)
        while isinstance(data, Mapping) and (named := next((data[key] for key in _NAMED if data.get(key)), None)):
            data = named
        if isinstance(data, str):
            return _said(data) if data.startswith("{") else data
        if isinstance(data, list) and all(isinstance(item, str) for item in data):
            return "; ".join(data)
        nothing = not data or (isinstance(data, Mapping) and not any(data.values()))
        return "" if nothing else json.dumps(data, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "" if text.strip() == "None" else text

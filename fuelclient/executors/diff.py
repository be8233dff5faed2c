"""Differences between a file as it is and as a task wants it, fit to be shown."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass

from fuelclient.redact import masked_text

MOST_LINES = 2000
"""Lines of a difference that are kept; a whole new file is no news after that."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds; `there` and `readable` say why it may hold nothing."""

    data: bytes = b""
    there: bool = True
    readable: bool = True


def difference(path: str, before: Content, after: Content, secrets: Collection[str] = ()) -> str:
    """The unified diff from `before` to `after`, without secrets; empty when they are the same.

    >>> print(difference("/etc/motd", Content(b"old\\n"), Content(b"new\\n")), end="")
    --- /etc/motd
    +++ /etc/motd
    @@ -1 +1 @@
    -old
    +new
    """
    if not after.readable or not after.there:
        return "its source cannot be read"
    if not before.readable:
        return "what is there now cannot be read"
    if before.there and before.data == after.data:
        return ""
    try:
        old, new = before.data.decode(), after.data.decode()
    except UnicodeError:
        old = new = "\0"
    if "\0" in old + new:
        return f"binary: {len(before.data)} bytes become {len(after.data)}"
    lines = _lines(path, before.there, masked_text(old, secrets), masked_text(new, secrets))
    if not lines:
        return (
            "an empty file\n" if not before.there else "they differ only in secrets, or in the end of the last line\n"
        )
    cut = [f"... {len(lines) - MOST_LINES} more lines\n"] if len(lines) > MOST_LINES else []
    return "".join([*lines[:MOST_LINES], *cut])


def _lines(path: str, there: bool, old: str, new: str) -> list[str]:
    name = path if there else "/dev/null"
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, path, lineterm="")
    return [f"{line}\n" for line in lines]

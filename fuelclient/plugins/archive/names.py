"""Names of members: relative, without `..`, and such that they can be shown and stored anywhere."""

from __future__ import annotations

from fuelclient.plugins.archive.limits import MAX_DEPTH, MAX_NAME, MAX_PART, Unusable

_SHOWN = 120


def quoted(name: str) -> str:
    r"""`name` for a message: in quotes, on one line, nothing in it that a terminal would obey.

    >>> print(quoted("a b"), quoted("a\x1b[2J"))
    'a b' 'a\x1b[2J'
    """
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a member's path, without the `.` and the doubled slashes that mean nothing.

    Raises `Unusable` for an absolute path, one with `..`, one that is too long or too deep, and one with
    characters that are no text: they would end up on terminals and in checksum files.

    >>> parts_of("./a//b/")
    ('a', 'b')
    """
    if name.startswith("/"):
        raise Unusable(f"member {quoted(name)} has an absolute path")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise Unusable(f"member {quoted(name)} leaves the package with `..`")
    _require_text(name)
    too_long = len(name.encode()) > MAX_NAME or any(len(part.encode()) > MAX_PART for part in parts)
    if too_long or len(parts) > MAX_DEPTH:
        limits = f"{MAX_NAME} bytes, {MAX_PART} for each of {MAX_DEPTH} parts"
        raise Unusable(f"member {quoted(name)} has too long a path (more than {limits})")
    return parts


def _require_text(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Unusable(f"the name of member {quoted(name)} is not UTF-8") from None
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        raise Unusable(f"the name of member {quoted(name)} has control characters in it")

"""Limit what a package archive may contain: how much, under which names, and with which symbolic links.

Reading (`plugins.archive`) and writing (`plugins.pack`) follow the same rules. The largest Fuel plugins carry a few
hundred megabytes of repositories; most have a few dozen files. The limits keep a hostile archive from filling the
memory or the disk, or from keeping the machine busy for hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MAX_NAME = 1024
"""The most bytes of a member's path. With the target directory in front, it stays below what Linux accepts (4096)."""

MAX_PART = 255
"""The most bytes of one part of a path: what every file system accepts."""

MAX_DEPTH = 64
"""The most parts of a path. Removing a tree needs one open directory per level."""

TOO_LARGE = "Fuel plugins are smaller; put large files on a server of their own."
"""The hint for a package that is over a limit."""

_MAX_SHOWN_LENGTH = 120
_MAX_HOPS = 40
"""The most links that one path may go through, as in the Linux kernel."""

_MAX_STEPS = 400_000
"""The most parts of paths that are followed for one package: 20 for each of the 20 000 members it may have."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most an archive may hold: bytes in all, members (including implied directories), bytes per member."""

    total: int = 256 * 2**20
    members: int = 20_000
    member: int = 64 * 2**20

    @property
    def stream(self) -> int:
        """Bytes that decompression may yield: the contents, 2 KiB per member, and 1 MiB of padding at the end."""
        return self.total + self.members * 2048 + 2**20


LIMITS = Limits()


class Unusable(Exception):
    """An archive or a package tree cannot be used. The message lacks the name of the file, which callers add."""

    def __init__(self, message: str, hint: str = "Download the package again, or rebuild it.") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def size_of(count: int) -> str:
    """Format a number of bytes.

    >>> size_of(64 * 2**20), size_of(1500)
    ('64 MiB', '1500 bytes')
    """
    mebibytes, rest = divmod(count, 2**20)
    return f"{mebibytes} MiB" if mebibytes and not rest else f"{count} bytes"


def quoted(name: str) -> str:
    r"""Write `name` for a message: in quotes, on one line, without control characters.

    >>> print(quoted("a b"), quoted("a\x1b[2J"))
    'a b' 'a\x1b[2J'
    """
    return repr(name if len(name) <= _MAX_SHOWN_LENGTH else f"{name[:_MAX_SHOWN_LENGTH]}...")


def parts_of(name: str) -> tuple[str, ...]:
    """Split a member's path, without `.` and doubled slashes.

    Raise `Unusable` if the path is absolute, contains `..`, is too long or too deep, or contains characters that are
    not printable text: names end up on terminals and in checksum files.

    >>> parts_of("./a//b/")
    ('a', 'b')
    """
    if name.startswith("/"):
        raise Unusable(f"member {quoted(name)} has an absolute path")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise Unusable(f"member {quoted(name)} leaves the package with `..`")
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        raise Unusable(f"the name of member {quoted(name)} is not UTF-8") from None
    if any(ord(character) < 32 or ord(character) == 127 for character in name):
        raise Unusable(f"the name of member {quoted(name)} contains control characters")
    too_long = len(encoded) > MAX_NAME or any(len(part.encode()) > MAX_PART for part in parts)
    if too_long or len(parts) > MAX_DEPTH:
        limits = f"{MAX_NAME} bytes in all, {MAX_PART} per part, {MAX_DEPTH} parts"
        raise Unusable(f"the path of member {quoted(name)} is too long (allowed: {limits})")
    return parts


def require_inside(links: Mapping[str, str]) -> None:
    """Raise `Unusable` for the first of `links` that leaves the package, is absolute, or turns in a circle.

    `links` maps paths to targets; paths are relative to the package. Comparing texts is not enough: `x -> down/..`
    goes up from wherever `down` leads. So each link is followed through the others, without a look at the disk. A
    dangling link is fine as long as it stays inside.

    >>> require_inside({"a/here": "../b/file"})
    >>> require_inside({"a/b/up": "../..", "x": "a/b/up/.."})
    Traceback (most recent call last):
        ...
    fuelclient.plugins.archive.limits.Unusable: symbolic link 'x' -> 'a/b/up/..' leaves the package
    """
    steps_left = _MAX_STEPS
    for path, target in links.items():
        if target.startswith("/") or "\0" in target or not target or len(target.encode(errors="replace")) > MAX_NAME:
            raise _bad_link(path, target)
        directory = path.split("/")[:-1]
        parts_ahead = target.split("/")[::-1]
        hops = 0
        while parts_ahead:
            steps_left -= 1
            part = parts_ahead.pop()
            if part == ".." and not directory:
                raise _bad_link(path, target)
            if part == "..":
                directory.pop()
            elif part not in ("", "."):
                directory.append(part)
                if (next_target := links.get("/".join(directory))) is None:
                    continue
                hops += 1
                if hops > _MAX_HOPS or steps_left < 0 or next_target.startswith("/"):
                    raise _bad_link(path, target, "turns in a circle, or goes through too many other links")
                directory.pop()
                parts_ahead.extend(next_target.split("/")[::-1])


def _bad_link(path: str, target: str, what: str = "leaves the package") -> Unusable:
    message = f"symbolic link {quoted(path)} -> {quoted(target)} {what}"
    return Unusable(message, "Links in a package must stay inside it.")

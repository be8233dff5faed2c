"""Symbolic links of a package: each has to stay inside, whatever other links its way goes through."""

from __future__ import annotations

from collections.abc import Mapping

from fuelclient.plugins.archive.limits import MAX_NAME, Unusable
from fuelclient.plugins.archive.names import quoted

_HOPS = 40
"""Links that one way may go through, as in the Linux kernel."""

_STEPS = 400_000
"""Parts of ways that are followed for one package: 20 for each of the 20 000 members that it may have."""


def require_inside(links: Mapping[str, str]) -> None:
    """Nothing happens when every link of `links` (path -> target, paths relative to the package) stays inside.

    Comparing texts is not enough: `x -> down/..` goes up from wherever `down` leads to. So each link is followed
    through the others, without looking at the disk. One that leads to nothing is fine as long as it stays
    inside. Raises `Unusable` for the first that does not, that is absolute, or that turns in a circle.

    >>> require_inside({"a/here": "../b/file"})
    >>> require_inside({"a/b/up": "../..", "x": "a/b/up/.."})
    Traceback (most recent call last):
        ...
    fuelclient.plugins.archive.limits.Unusable: symbolic link 'x' -> 'a/b/up/..' leaves the package
    """
    left = _STEPS
    for path, target in links.items():
        if target.startswith("/") or "\0" in target or not target or len(target.encode(errors="replace")) > MAX_NAME:
            raise _leaves(path, target)
        left = _follow(path, target, links, left)


def _follow(path: str, target: str, links: Mapping[str, str], left: int) -> int:
    """What is left of `left` steps after the way of one link was followed to its end."""
    here = path.split("/")[:-1]
    ahead = target.split("/")[::-1]
    hops = 0
    while ahead:
        left -= 1
        part = ahead.pop()
        if part == ".." and not here:
            raise _leaves(path, target)
        if part == "..":
            here.pop()
        elif part not in ("", "."):
            here.append(part)
            onward = links.get("/".join(here))
            if onward is None:
                continue
            hops += 1
            if hops > _HOPS or left < 0 or onward.startswith("/"):
                raise _leaves(path, target, "turns in a circle, or goes through too many others")
            here.pop()
            ahead.extend(onward.split("/")[::-1])
    return left


def _leaves(path: str, target: str, what: str = "leaves the package") -> Unusable:
    return Unusable(
        f"symbolic link {quoted(path)} -> {quoted(target)} {what}", "Links of a package have to stay inside it."
    )

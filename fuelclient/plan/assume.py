"""Assumed nodes: `controller=3,compute+cinder=2` as nodes of a preview.

::

    SPEC  := roles=COUNT {, roles=COUNT}
    roles := role {+ role}

A role may be written `primary-ROLE` with the count 1: that node is the primary of the role's tags.
"""

from __future__ import annotations

from fuelclient.errors import NotFound, UsageError
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot

_HINT = "Write it like --assume controller=3,compute+cinder=2."
_MOST = 100_000
_MOST_DIGITS = 100


def assumed_nodes(spec: str, snapshot: Snapshot) -> list[Node]:
    """Nodes numbered from 1 in the order of `spec`.

    Raises `UsageError` for a spec that cannot be read and `NotFound` for a role that neither the release nor an
    enabled plugin brings.
    """
    nodes: list[Node] = []
    taken: set[str] = set()
    for part in spec.split(","):
        roles, count = _part(part.strip(), spec)
        primary = tuple(role for role in roles if role not in snapshot.roles and role.startswith("primary-"))
        plain = tuple(role.removeprefix("primary-") if role in primary else role for role in roles)
        for written, role in zip(roles, plain, strict=True):
            if role not in snapshot.roles:
                raise NotFound("role", written, known=list(snapshot.roles))
        tags = tuple(
            tag
            for role in primary
            for tag in snapshot.roles[role.removeprefix("primary-")].tags
            if tag in snapshot.primary_tags
        )
        if primary and (count != 1 or not tags or taken & set(tags)):
            what = "there is one primary at most" if tags else "that role has no primary"
            raise UsageError(f"--assume: {part.strip()!r}: {what}.", hint=_HINT)
        if len(nodes) + count > _MOST:
            raise UsageError(f"--assume: more than {_MOST} nodes.", hint=_HINT)
        taken.update(tags)
        for _ in range(count):
            number = len(nodes) + 1
            nodes.append(Node(number, f"node-{number}", pending_roles=plain, primary_tags=tags))
    return nodes


def _part(part: str, spec: str) -> tuple[tuple[str, ...], int]:
    roles_text, equals, count_text = part.partition("=")
    roles = tuple(dict.fromkeys(role.strip() for role in roles_text.split("+")))
    if not equals or not all(roles) or not count_text.strip().isdecimal():
        raise UsageError(f"--assume: cannot read {part!r} in {spec!r}.", hint=_HINT)
    if len(count_text) > _MOST_DIGITS:
        raise UsageError(f"--assume: more than {_MOST} nodes.", hint=_HINT)
    return roles, int(count_text)

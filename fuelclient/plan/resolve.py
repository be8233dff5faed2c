"""Roles to nodes.

Source: Nailgun `TagResolver`. `*` is every node that carries a tag, never the master; `master` is the master;
everything else is a tag or a pattern over tags. A lone `*` in a list means `*` too (upstream's storage unwraps
it); beside other names it is an ordinary name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fuelclient.graph.match import matcher
from fuelclient.plan.fleet import MASTER, FleetNode

EVERY = "*"


class Resolver:
    """Resolves role specifications to indices of `nodes`, and remembers the answers."""

    def __init__(self, nodes: Sequence[FleetNode]) -> None:
        self._nodes = nodes
        self._carriers: dict[str, list[int]] = {}
        for index, node in enumerate(nodes):
            for tag in node.tags:
                self._carriers.setdefault(tag, []).append(index)
        self._answers: dict[tuple[str, ...], tuple[int, ...]] = {}

    def resolve(self, roles: Sequence[str] | str) -> tuple[int, ...]:
        """The nodes that `roles` mean, in the order of the fleet; a broken pattern means none.

        >>> fleet = [FleetNode(None), FleetNode("master"), FleetNode(1, ("db", "web")), FleetNode(2, ("db2",))]
        >>> Resolver(fleet).resolve(["/db/", "master"])
        (1, 2, 3)
        """
        words = (roles,) if isinstance(roles, str) else tuple(roles)
        if words not in self._answers:
            self._answers[words] = self._resolve(words)
        return self._answers[words]

    def uid(self, index: int) -> int | str | None:
        """The id of the node at `index`: a number, "master", or None for the sync points."""
        return self._nodes[index].uid

    def _resolve(self, words: tuple[str, ...]) -> tuple[int, ...]:
        if words == (EVERY,):
            return tuple(index for index, node in enumerate(self._nodes) if node.tags)
        found: set[int] = set()
        for word in words:
            if word == MASTER:
                found.update(index for index, node in enumerate(self._nodes) if node.uid == MASTER)
            else:
                found.update(index for tag in self._means(word) for index in self._carriers[tag])
        return tuple(sorted(found))

    def _means(self, word: str) -> list[str]:
        if word in self._carriers:
            return [word]
        try:
            return list(filter(matcher(word), self._carriers))
        except re.error:
            return []


Choice = Callable[[Sequence[int]], int]
"""How `policy: any` picks one of several nodes, given by their indices."""


def lowest(candidates: Sequence[int]) -> int:
    """The first in the order of the fleet: the lowest id. (Nailgun picks an arbitrary one.)"""
    return candidates[0]

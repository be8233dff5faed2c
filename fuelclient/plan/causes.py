"""Causes: why instances were never reached, found when a run is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuelclient.graph.dag import order
from fuelclient.model.status import Reason
from fuelclient.plan.work import Work

NOTHING = -1
"""In the place of an instance: none."""


def causes(
    work: Work, failed: Sequence[int], lost: Sequence[int], never_ran: Sequence[int], brake: int
) -> Iterator[tuple[int, Reason, int]]:
    """For each instance of `never_ran`: the reason, and the failed instance to blame (or `NOTHING`).

    `lost[v]` is true of what waits for a failure, and of barriers behind one. A failed dependency is told rather
    than a failed node, of several causes the one with the lowest number: the answer depends on what ended how,
    not on what ended first, so that a resumed run gives the same one. `brake` is who is blamed for the end of
    the run.
    """
    root, through_dependency = _roots(work, failed, lost) if failed else ([], [])
    for vertex in never_ran:
        if not failed or root[vertex] == NOTHING:
            yield vertex, Reason.STOPPED, brake
        elif through_dependency[vertex]:
            yield vertex, Reason.DEP_FAILED, root[vertex]
        else:
            yield vertex, Reason.NODE_FAILED, root[vertex]


def _roots(work: Work, failed: Sequence[int], lost: Sequence[int]) -> tuple[list[int], bytearray]:
    """The failure behind every lost instance, and whether it came through a dependency, in O(V + E)."""
    root = [NOTHING] * len(work.successors)
    through_dependency = bytearray(len(work.successors))
    ended_by = {work.node_of[vertex]: vertex for vertex in failed}
    for vertex in failed:
        root[vertex] = vertex
    for vertex in order(work.successors, work.size).topological:
        if root[vertex] == NOTHING:
            if not lost[vertex]:
                continue
            root[vertex] = ended_by[work.node_of[vertex]]
        for after in work.successors[vertex]:
            if lost[after]:
                known = root[after]
                root[after] = root[vertex] if known == NOTHING else min(known, root[vertex])
                through_dependency[after] = 1
    return root, through_dependency

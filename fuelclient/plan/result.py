"""The result of the run of one graph: the groups with more failed nodes than they tolerate, the verdict, the failures
because of which instances never ran, and a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fuelclient.graph.dag import order
from fuelclient.grouping import grouped
from fuelclient.model.finding import listed
from fuelclient.model.status import Reason, Verdict
from fuelclient.plan.fleet import SYNC
from fuelclient.plan.place import FaultTolerance
from fuelclient.plan.work import InstanceKind, Work

NOTHING = -1
"""The number for no instance."""

NOTHING_TO_DO = "There was nothing to do."
"""The message of a graph that has no task for any node."""

_MAX_NAMES = 10

NO_GROUP = ""
"""The name of the group of all nodes that are in no other group. It tolerates nothing."""


@dataclass(frozen=True, slots=True)
class ExceededGroup:
    """A group with more failed nodes than it tolerates. `failed` are indices of nodes, ascending."""

    group: str
    tolerated: int
    failed: tuple[int, ...]


def with_other_nodes(groups: Iterable[FaultTolerance], nodes: int) -> tuple[FaultTolerance, ...]:
    """`groups`, and a group that tolerates nothing with those of `nodes` nodes that are in no other group.

    A graph without groups therefore ends at its first failed node, as in Fuel. The master counts as a node.

    >>> with_other_nodes([FaultTolerance("db", (1, 2), 1)], 4)[1:]
    (FaultTolerance(group='', nodes=(3,), tolerated=0),)
    """
    given = tuple(groups)
    covered = {node for group in given for node in group.nodes}
    alone = tuple(node for node in range(nodes) if node not in covered and node != SYNC)
    return (*given, FaultTolerance(NO_GROUP, alone, 0)) if alone else given


class FailedNodes:
    """The failed nodes of each group.

    A node fails, once, if a task fails on it. Unlike in Astute, it does not fail if tasks never ran on it because of a
    failure elsewhere.
    """

    def __init__(self, groups: Sequence[FaultTolerance]) -> None:
        self._groups = groups
        self._failed: list[set[int]] = [set() for _ in groups]
        self._groups_of = grouped((node, index) for index, group in enumerate(groups) for node in group.nodes)
        self.is_too_many = False

    def add(self, node: int) -> None:
        for index in self._groups_of.get(node, ()):
            self._failed[index].add(node)
            self.is_too_many |= len(self._failed[index]) > self._groups[index].tolerated

    @property
    def exceeded(self) -> tuple[ExceededGroup, ...]:
        """The groups with too many failed nodes, in their order."""
        return tuple(
            ExceededGroup(group.group, group.tolerated, tuple(sorted(failed)))
            for group, failed in zip(self._groups, self._failed, strict=True)
            if len(failed) > group.tolerated
        )


def causes(
    work: Work, failed: Sequence[int], lost: Sequence[int], never_ran: Sequence[int], fatal_vertex: int
) -> Iterator[tuple[int, Reason, int]]:
    """Yield each instance of `never_ran` with the reason and the failed instance to blame (or `NOTHING`).

    `lost[v]` is true for instances that wait for a failure, and for barriers behind one. `fatal_vertex` is to blame for
    the end of the run. A failed dependency is preferred to a failed node, then the lowest number. So the result depends
    on how instances ended, not on when, and is the same for a resumed run.
    """
    root, through_dependency = _root_failures(work, failed, lost) if failed else ([], [])
    for vertex in never_ran:
        if not failed or root[vertex] == NOTHING:
            yield vertex, Reason.STOPPED, fatal_vertex
        elif through_dependency[vertex]:
            yield vertex, Reason.DEP_FAILED, root[vertex]
        else:
            yield vertex, Reason.NODE_FAILED, root[vertex]


def _root_failures(work: Work, failed: Sequence[int], lost: Sequence[int]) -> tuple[list[int], bytearray]:
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


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run. The tuples, except `exceeded`, have numbers of task instances, ascending.

    `failed` ended their nodes; `tolerated` are those of them whose nodes are in no exceeded group. `ignored` failed
    too, but their tasks do not fail on an error. `never_ran` were not reached. `interrupted` were ended because the
    user stopped the run. `stopped` is the reason of the stop, or empty.
    """

    verdict: Verdict
    failed: tuple[int, ...]
    tolerated: tuple[int, ...]
    ignored: tuple[int, ...]
    never_ran: tuple[int, ...]
    exceeded: tuple[ExceededGroup, ...]
    stopped: str
    message: str
    interrupted: tuple[int, ...] = ()


def result_of(
    work: Work,
    *,
    failed: Sequence[int],
    ignored: Sequence[int],
    never_ran: Sequence[int],
    exceeded: Sequence[ExceededGroup],
    stopped: str,
    interrupted: Sequence[int] = (),
) -> Result:
    """The result of a run that has ended.

    With an exceeded group, it is an error even if the user also stopped the run, and even if no critical node failed
    (which upstream calls a success).
    """
    fatal = {node for group in exceeded for node in group.failed}
    tolerated = tuple(vertex for vertex in failed if work.node_of[vertex] not in fatal)
    verdict = Verdict.ERROR if exceeded else Verdict.STOPPED if stopped else Verdict.READY
    sentences = [
        f"{stopped[:1].upper()}{stopped[1:]}." if stopped else "",
        _sentence(work, "Interrupted", interrupted),
        _sentence(work, "Failed", [vertex for vertex in failed if work.node_of[vertex] in fatal]),
        *(_exceeded_sentence(work, group) for group in exceeded),
        _sentence(work, "Tolerated failures", tolerated),
        _sentence(work, "Ignored failures", ignored),
        _sentence(work, "Not run", never_ran),
    ]
    subject = f"All {work.size} task instances" if work.size != 1 else "The only task instance"
    ended = NOTHING_TO_DO if all(kind is InstanceKind.SYNC for kind in work.kinds) else f"{subject} ended."
    message = " ".join(filter(None, sentences)) or ended
    return Result(
        verdict, tuple(failed), tolerated, tuple(ignored), tuple(never_ran), tuple(exceeded), stopped, message,
        tuple(interrupted),
    )  # fmt: skip


def _sentence(work: Work, what: str, vertices: Sequence[int]) -> str:
    names = [work.name(vertex) for vertex in vertices]
    return f"{what}: {listed(names, _MAX_NAMES)}." if vertices else ""


def _exceeded_sentence(work: Work, group: ExceededGroup) -> str:
    count = len(group.failed)
    names = listed([f"node {work.nodes[node]}" for node in group.failed], _MAX_NAMES)
    if group.group == NO_GROUP:
        return f"N{names[1:]} {'has' if count == 1 else 'have'} zero fault tolerance."
    limit = f"{group.tolerated} failed node{'s' if group.tolerated != 1 else ''}"
    return f"Group {group.group} tolerates {limit}, and {count} failed: {names}."

"""A run as a picture: the task instances and their order in the language of Graphviz, coloured by what became of them.

The names of the vertices and the colours are those of the picture that Astute draws of a dry run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.plan.place import SYNC
from fuelclient.plan.schedule import Change
from fuelclient.plan.work import InstanceKind, Work, followers

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        InstanceStatus.PENDING: "white",
        InstanceStatus.RUNNING: "blue",
        InstanceStatus.READY: "green",
        InstanceStatus.ERROR: "red",
        InstanceStatus.SKIPPED: "violet",
    }
)
"""The colour of each status; those below say more."""

STARTABLE, LOST = "yellow", "orange"
"""The colours of what waits for nothing but a place, and of what never runs because something failed."""

_LOST = frozenset({Reason.DEP_FAILED, Reason.NODE_FAILED})


def dot(work: Work, history: Iterable[Change] = ()) -> str:
    """The picture of a run; `history` has the newest change of each instance that is not pending, in any order.

    Barriers are dissolved, so the text grows with the pairs of instances that follow one another: it is meant for runs
    that somebody can look at. Names are always quoted.

    >>> from fuelclient.plan.work import NO_KEY
    >>> one = Work(("a",), ("", "n1"), [0], [1], [InstanceKind.REAL], [True], [NO_KEY], (), [[]])
    >>> print(dot(one, [Change(0, InstanceStatus.READY)]), end="")
    digraph {
      "Task[a/n1]" [label="a/n1", style=filled, fillcolor=green];
    }
    """
    newest = {change.vertex: change for change in history}
    names = [_name(work, vertex) for vertex in range(work.size)]
    after = [sorted(set(followers(work, vertex))) for vertex in range(work.size)]
    waits = _waiting(work, newest, after)
    lines = [
        f"  {_quoted(f'Task[{name}]')} [label={_quoted(name)}, style=filled, "
        f"fillcolor={_colour(newest.get(vertex), vertex in waits)}];"
        for vertex, name in enumerate(names)
    ]
    lines += [
        f"  {_quoted(f'Task[{names[vertex]}]')} -> {_quoted(f'Task[{names[other]}]')};"
        for vertex in range(work.size)
        for other in after[vertex]
    ]
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _name(work: Work, vertex: int) -> str:
    node = work.node_of[vertex]
    return f"{work.tasks[work.task_of[vertex]]}/{'null' if node == SYNC else work.nodes[node]}"


def _colour(change: Change | None, waits: bool) -> str:
    if change is None:
        return COLOURS[InstanceStatus.PENDING] if waits else STARTABLE
    return LOST if change.reason in _LOST else COLOURS[change.status]


def _waiting(work: Work, newest: Mapping[int, Change], after: list[list[int]]) -> set[int]:
    """The instances that something which precedes them holds up: it has not ended, or it failed, which holds up
    everything but a sync point."""
    held: set[int] = set()
    for vertex, following in enumerate(after):
        change = newest.get(vertex)
        if change is None or not change.status.is_final:
            held.update(following)
        elif change.status is InstanceStatus.ERROR or change.reason in _LOST:
            held.update(other for other in following if work.kinds[other] is not InstanceKind.SYNC)
    return held


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""The timeline of a run: when each instance ran, what it waited for, and the critical path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fuelclient.graph.dag import neighbours
from fuelclient.grouping import grouped
from fuelclient.insight.progress import elapsed, parse_time, status_word
from fuelclient.model.run import NOWHERE, HistoryRow, NodeKey, instance_name
from fuelclient.plan.expand import Expansion

Instance = tuple[str, NodeKey]
"""A task and its node."""

Predecessors = Mapping[int, Mapping[Instance, Iterable[Instance]]]
"""The direct predecessors of each instance, by the id of the run of its graph."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An instance that ran; times are seconds since the run began.

    At `ready` the last of its predecessors had ended; at `idle` its node became free. `critical` bars follow each
    other up to the end of the run.
    """

    row: HistoryRow
    ready: float
    idle: float
    begin: float
    end: float
    critical: bool = False

    @property
    def name(self) -> str:
        return instance_name(self.row.task, self.row.node)

    @property
    def word(self) -> str:
        return status_word(self.row.status, self.row.reason)

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Timeline:
    """The instances that ran, by their beginning, and the seconds of the run up to now or its end."""

    bars: tuple[Bar, ...]
    seconds: float

    @property
    def critical(self) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.bars if bar.critical)

    @property
    def nodes(self) -> dict[NodeKey, list[Bar]]:
        """The bars of each node: the master, then the others by id."""
        by_node = grouped((bar.row.node, bar) for bar in self.bars)
        return dict(sorted(by_node.items(), key=lambda item: (isinstance(item[0], int), item[0] or "")))

    @property
    def waits(self) -> dict[str, float]:
        """The seconds of all nodes together: running tasks, or waiting for a predecessor or a free slot."""
        return {
            "running": sum(bar.seconds for bar in self.bars),
            "predecessors": sum(max(0.0, min(bar.ready, bar.begin) - bar.idle) for bar in self.bars),
            "slot": sum(bar.begin - max(bar.ready, bar.idle) for bar in self.bars),
        }


def predecessors(expansion: Expansion) -> dict[Instance, list[Instance]]:
    """The direct predecessors of each instance, through barriers."""

    def key(vertex: int) -> Instance:
        return expansion.task(vertex).id, expansion.uid(vertex)

    before = expansion.predecessors
    return {key(vertex): list(map(key, neighbours(before, vertex, expansion.size))) for vertex in range(expansion.size)}


def timeline(rows: Iterable[HistoryRow], before: Predecessors, now: datetime) -> Timeline:
    """The bars of a run up to `now`. Without `before`, all instances of a graph are ready from its beginning."""
    if not (dated := [row for row in rows if row.time_start is not None and row.node != NOWHERE]):
        return Timeline((), 0.0)
    start = min(str(row.time_start) for row in dated)
    ends = {(row.run_id, row.task, row.node): elapsed(start, row.time_end, now) or 0.0 for row in dated}
    bars: list[Bar] = []
    free: dict[NodeKey, float] = {}
    begun: dict[int, float] = {}
    ran = [row for row in dated if row.time_start != row.time_end]
    for row in sorted(ran, key=lambda row: (parse_time(str(row.time_start)), row.task, str(row.node))):
        begin = elapsed(start, row.time_start, now) or 0.0
        first = begun.setdefault(row.run_id, begin)
        preceding = before.get(row.run_id, {}).get((row.task, row.node), ())
        ready = max((ends.get((row.run_id, *other), first) for other in preceding), default=first)
        idle = min(begin, free.get(row.node, first))
        end = max(begin, ends[row.run_id, row.task, row.node])
        bars.append(Bar(row, min(ready, begin), idle, begin, end))
        free[row.node] = max(end, free.get(row.node, 0.0))
    for number in _critical(bars, before):
        bars[number] = replace(bars[number], critical=True)
    return Timeline(tuple(bars), max(ends.values()))


def _critical(bars: Sequence[Bar], before: Predecessors) -> Iterable[int]:
    """The bars of the critical path, the last one first.

    A bar was held up by the last bar to end before it began, among its predecessors and the bars of its node; if
    there are none, among all.
    """
    current = max(range(len(bars)), key=lambda number: bars[number].end, default=-1)
    while current >= 0:
        yield current
        bar = bars[current]
        preceding = set(before.get(bar.row.run_id, {}).get((bar.row.task, bar.row.node), ()))
        earlier = [number for number in range(current) if bars[number].end <= bar.begin]
        blockers = [
            number
            for number in earlier
            if bars[number].row.node == bar.row.node or (bars[number].row.task, bars[number].row.node) in preceding
        ]
        current = max(blockers or earlier, key=lambda number: bars[number].end, default=-1)

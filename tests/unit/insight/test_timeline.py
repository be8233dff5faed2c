"""Times of runs: what an instance waited for, and the critical path."""

from __future__ import annotations

from datetime import UTC, datetime

from fuelclient.insight.timeline import Predecessors, timeline
from fuelclient.model.run import HistoryRow, NodeKey
from fuelclient.model.status import InstanceStatus

NOW = datetime(2026, 1, 1, 0, 0, 50, tzinfo=UTC)


def row(task: str, node: NodeKey, begin: int, end: int | None, run_id: int = 2) -> HistoryRow:
    status = InstanceStatus.RUNNING if end is None else InstanceStatus.READY
    times = [None if second is None else f"2026-01-01T00:00:{second:02}" for second in (begin, end)]
    return HistoryRow(run_id, "default", task, node, status, time_start=times[0], time_end=times[1])


ROWS = [
    row("a", 1, 0, 4), row("a", 2, 0, 6), row("sync", None, 6, 6), row("b", 1, 6, 9), row("b", 2, 8, 12),
    row("c", 3, 7, None),
]  # fmt: skip
BEFORE: Predecessors = {
    2: {("sync", None): [("a", 1), ("a", 2)], ("b", 1): [("sync", None)], ("b", 2): [("sync", None)], ("c", 3): []}
}


def test_waits_by_class() -> None:
    bars = {bar.name: bar for bar in timeline(ROWS, BEFORE, NOW).bars}
    assert list(bars) == ["a/1", "a/2", "b/1", "c/3", "b/2"]
    assert (bars["b/1"].idle, bars["b/1"].ready, bars["b/1"].begin) == (4, 6, 6)  # two seconds for predecessors
    assert (bars["b/2"].idle, bars["b/2"].ready, bars["b/2"].begin) == (6, 6, 8)  # two seconds for a slot
    assert (bars["c/3"].ready, bars["c/3"].end) == (0, 50)  # it still runs
    waits = timeline(ROWS, BEFORE, NOW).waits
    assert waits == {"running": 4 + 6 + 3 + 4 + 43, "predecessors": 2, "slot": 2 + 7}


def test_critical_path_follows_predecessors_and_node_slots() -> None:
    ended = timeline(ROWS[:-1], BEFORE, NOW)
    assert [bar.name for bar in ended.critical] == ["a/2", "b/2"]
    assert ended.seconds == 12
    two_graphs = timeline([*ROWS[:-1], row("d", 1, 13, 14, run_id=3)], BEFORE, NOW)
    assert [bar.name for bar in two_graphs.critical] == ["a/1", "b/1", "d/1"]


def test_a_run_of_which_nothing_ran() -> None:
    nothing = timeline([HistoryRow(2, "default", "a", "-", InstanceStatus.SKIPPED)], {}, NOW)
    assert (nothing.bars, nothing.seconds) == ((), 0)


def test_nodes_of_a_sync_point_that_took_time() -> None:
    """A run has instances of the master, of sync points and of nodes."""
    rows = [row("a", 2, 0, 1), row("sync", None, 1, 3), row("m", "master", 3, 4), row("b", 1, 4, 5)]
    assert list(timeline(rows, {}, NOW).nodes) == [None, "master", 1, 2]

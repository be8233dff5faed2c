"""The state of the run on the screen: its progress, and where its task instances stand in the matrix."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fuelclient.insight.progress import Earlier, Progress
from fuelclient.model.run import NOWHERE, Event, HistoryRow, NodeKey, Run


class RunState:
    """A run and its task instances, by the numbers that `progress` gives them.

    `rows` are the history as it was read; `nowhere` counts tasks that were placed on no node. `nodes` are the lines of
    the matrix and `tasks` (run of the graph, task) its columns; `grid` has the number of the instance in each cell, or
    -1, and `cell` the cell of each instance. `sizes` and `finished` count the instances of each line, and those that
    are done.
    """

    def __init__(
        self, run: Run, rows: Sequence[HistoryRow], earlier: Mapping[int, Earlier | None] | None = None
    ) -> None:
        placed = [row for row in rows if row.node != NOWHERE]
        self.nowhere = len(rows) - len(placed)
        self.rows = list({(row.run_id, row.task, row.node): row for row in placed}.values())
        self.progress = Progress(self.rows, earlier)
        self.update(run)
        self.tasks = list(dict.fromkeys((row.run_id, row.task) for row in self.rows))
        self.nodes: list[NodeKey] = sorted(dict.fromkeys(row.node for row in self.rows), key=_node_order)
        columns = {task: place for place, task in enumerate(self.tasks)}
        lines = {node: place for place, node in enumerate(self.nodes)}
        self.grid = [array("i", [-1]) * len(self.tasks) for _ in self.nodes]
        self.cell = [(lines[row.node], columns[row.run_id, row.task]) for row in self.rows]
        for number, (line, column) in enumerate(self.cell):
            self.grid[line][column] = number
        self.sizes = Counter(line for line, _ in self.cell)
        self.finished = Counter(line for number, (line, _) in enumerate(self.cell) if self.progress.is_done(number))

    def update(self, run: Run) -> None:
        """Take over what is known of the run itself now."""
        self.run = run
        self.progress.note(run)

    def apply(self, events: Iterable[Event]) -> tuple[list[int], bool]:
        """Bring the instances up to date. Return those that changed, and whether there are new ones, which have no row
        until the history is read again: a later graph of the run has been planned."""
        before = len(self.progress)
        changed = self.progress.apply(events)
        known = [number for number in changed if number < len(self.rows)]
        for number in known:
            self.finished[self.cell[number][0]] += self.progress.is_done(number)  # once: what is done stays so
        return known, len(self.progress) > before


def _node_order(node: NodeKey) -> tuple[int, int, str]:
    """Sort sync points first, then the master, then nodes by id."""
    if node is None:
        return 0, 0, ""
    return (2, node, "") if isinstance(node, int) else (1, 0, node)

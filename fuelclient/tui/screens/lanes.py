"""Lanes: graph order as a drawing that scrolls."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from textual import on

from fuelclient.insight.query import Query, Rows
from fuelclient.tui.presenters import lanes, preview
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.routes import Route
from fuelclient.tui.screens.graph_base import GraphScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class LanesScreen(GraphScreen):
    """One row for each task that runs, in execution order, with lanes that lead to what waits for it."""

    HELP = (
        "Graph order. A lane leads from a task down to the one that waits for it. An arrow up marks what runs before"
        " the task under the cursor, an arrow down what runs after it; the others are dim. Filter by role:compute or"
        " +keystone: the lanes are laid anew, and order through hidden tasks stays. Enter browses from a task."
    )
    PLACEHOLDER = "filter: keystone, role:compute, 1+db"

    def body(self) -> Panes:
        return Panes("wide", Pane("graph order", VirtualTable(self.glyphs)), Pane("this task", Details()))

    def present(self) -> None:
        self.kept: list[int] = []
        self._lay(self.read_filter(), self.row_wanted())

    def terms(self, table: Table) -> tuple[Collection[str], Rows, Collection[str]]:  # noqa: ARG002 (lanes follow)
        return super().terms(lanes.FIELDS)

    def apply(self, query: Query) -> None:
        if self.filled:
            self._lay(query, self.task_row())

    def _lay(self, query: Query, row: int) -> None:
        self.kept = lanes.keep(self.data, query)
        self.main.filter(Query())
        cursor = self.kept.index(row) if row in self.kept else 0
        table = lanes.table(self.data, self.kept, self.glyphs)
        if self.kept:
            table.centre(self.kept[cursor])
        self.main.show(table, cursor=cursor)
        note = count(lanes.width(self.data, self.kept), "lane")
        against = self.data.reach.against
        if against:
            note += f", {count(against, 'edge')} upwards not drawn"
        self.panes.note(0, note)

    def shown(self) -> Route:
        return replace(self.route, select=self.selection())

    def selection(self) -> str:
        if not self.filled:
            return ""
        study = self.data.study
        placed = {index for index, row in zip(study.indices, study.rows, strict=True) if row.nodes}
        return self.query_for_tasks({study.indices[row] for row in self.kept}, placed)

    def totals(self) -> tuple[int, int]:
        if not self.filled:
            return 0, 0
        return len(self.kept), sum(bool(row.nodes) for row in self.data.study.rows)

    def task_row(self) -> int:
        return self.kept[self.main.row] if self.filled and 0 <= self.main.row < len(self.kept) else -1

    @on(Moved)
    def _moved(self) -> None:
        row = self.task_row()
        if row < 0:
            self.query_one(Details).show([])
            return
        if isinstance(self.main.table, lanes.Lanes):
            self.main.table.centre(row)
            self.main.refresh()
        stated = preview.attribute_lines(self.data.study.task(row), self.glyphs)
        self.query_one(Details).show([*preview.detail(self.data, row, self.glyphs), (), *stated])

    @on(Chosen)
    def _chosen(self) -> None:
        self.open_task(self.task_row())

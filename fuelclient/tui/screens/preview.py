"""Preview: what would run, in order, and who set it."""

from __future__ import annotations

from dataclasses import replace

from textual import on
from textual.binding import Binding

from fuelclient.tui.presenters import preview
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.routes import Route
from fuelclient.tui.screens.graph_base import GraphScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class PreviewScreen(GraphScreen):
    """Merged tasks, or their instances, in execution order; who set each attribute; findings."""

    HELP = (
        "What would run, in order. Signs before a task: ~ changed by a layer above, + added by one. Layers: R release,"
        " P plugin, C cluster. i shows task instances, Enter browses from a task."
    )
    PLACEHOLDER = "filter: keystone, layer:cluster, 1+db"

    BINDINGS = [Binding("i", "instances", "tasks/instances", id="preview.instances")]

    def body(self) -> Panes:
        self.blame = VirtualTable(self.glyphs, id="blame", chooses=False)
        return Panes(
            "three", Pane("tasks", VirtualTable(self.glyphs, id="tasks")), Pane("who set what", self.blame),
            Pane("where, findings", Details()),
        )  # fmt: skip

    def present(self) -> None:
        self._show(self.row_wanted(), self.route.instance)

    def _show(self, row: int, instance: str = "") -> None:
        study = self.data.study
        if self.switched:
            first = preview.place_of(self.data, row, instance)
            table: Table = preview.Instances(self.data, self.glyphs)
        else:
            table, first = preview.tasks(self.data, self.glyphs), row
        self.main.show(table, cursor=first, query=self.read_filter(table), keep=True)
        if study.rows:
            fleet = study.expansion.fleet
            figures = f"{count(study.expansion.size, 'instance')} on {count(fleet.size, 'node')}"
            self.panes.note(0, f"{figures}, assumed" if fleet.assumption else figures)

    def action_instances(self) -> None:
        """Switch between tasks and task instances, at the same task."""
        if self.filled:
            row = max(0, self.task_row())
            self.switched = not self.switched
            self._show(row)

    def task_row(self) -> int:
        if not self.filled or self.main.row < 0:
            return -1
        return preview.row_of(self.data, self.main.row) if self.switched else self.main.row

    def shown(self) -> Route:
        task = self.task_here()
        return replace(self.route, task=task, select=self.selection(), beside=self.is_beside() and task is not None)

    def state(self) -> Route:
        is_instance = self.filled and self.switched and self.main.row >= 0
        return replace(super().state(), instance=self.main.table.ids[self.main.row] if is_instance else "")

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        row = self.task_row()
        if message.table is self.main and 0 <= row < len(self.data.study.rows):
            self.blame.show(preview.attributes(self.data.study.task(row), self.glyphs))
            self.panes.note(1, self.data.study.rows[row].task)
            self.query_one(Details).show(preview.detail(self.data, row, self.glyphs))
        elif message.table is self.blame:
            self._show_attribute()
        elif message.table is self.main:
            self.blame.show(Table(self.blame.table.columns, empty=("No task is under the cursor.",)))
            self.panes.note(1, "")
            self.query_one(Details).show([])

    def _show_attribute(self) -> None:
        """Show the attribute under the cursor in full above the details of the task, if the attributes have the
        focus."""
        row = self.task_row()
        if row >= 0 and self.blame.has_focus and self.blame.row >= 0:
            task, path = self.data.study.task(row), self.blame.table.ids[self.blame.row]
            details = preview.detail(self.data, row, self.glyphs)
            self.query_one(Details).show([*preview.in_full(task, path, self.glyphs), (), *details])

    def on_descendant_focus(self) -> None:
        self._show_attribute()

    @on(Chosen)
    def _chosen(self) -> None:
        self.open_task(self.task_row())

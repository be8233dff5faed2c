"""Why: the chain between two tasks."""

from __future__ import annotations

from textual import on

from fuelclient.insight.relation import Step
from fuelclient.tui.presenters import preview, why
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.graph_base import GraphScreen, gone
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class WhyScreen(GraphScreen):
    """The shortest chain between two tasks: each edge with the field, the layer and the line that make it."""

    HELP = (
        "Why one task runs after another: the chain with the fewest edges, and the two tasks of the edge under the"
        " cursor with who set each of their attributes. Enter browses from a task of it."
    )

    def body(self) -> Panes:
        self.both = Details(id="both")
        return Panes(
            "over", Pane("the shortest chain", VirtualTable(self.glyphs)), Pane("in words", Details(id="words")),
            Pane("the two tasks", self.both),
        )  # fmt: skip

    def present(self) -> None:
        study, keys = self.data.study, (self.route.other, self.route.task)
        row, other = (study.row_with(key) if key is not None else None for key in keys)
        self.edges: list[Step] = []
        if row is None or other is None:
            lost = next((key for key, place in zip(keys, (row, other), strict=True) if key and place is None), None)
            self._lose(gone(lost) if lost is not None else "Mark a task with m first, then press w on another one.")
            return
        steps, _ = why.between(self.data, row, other)
        self.edges = [step for step in steps for _ in step.words]
        self.main.show(why.table(self.data, row, other, self.glyphs))
        self.panes.note(0, count(len(steps), "edge"))
        self.query_one("#words", Details).show(why.sentence(self.data, row, other, self.glyphs))

    def _lose(self, reason: str) -> None:
        """Say that one of the two tasks is gone."""
        self.main.show(preview.lost(reason))
        self.panes.note(0, "")
        self.query_one("#words", Details).show([])
        self.both.show([])

    def state(self) -> Route:
        return self.route

    def task_row(self) -> int:
        """Return the later task of the edge under the cursor."""
        if not self.filled or not 0 <= self.main.row < len(self.edges):
            return -1
        return self.data.study.row_of.get(self.edges[self.main.row].after_task, -1)

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        message.stop()
        if self.filled and 0 <= self.main.row < len(self.edges):
            self.both.show(why.both(self.data, self.edges[self.main.row], self.glyphs))

    @on(Chosen)
    def _chosen(self) -> None:
        row = self.task_row()
        if row >= 0:
            self.ui.go(self.route.to(View.BROWSE, task=self.data.study.key(row)))

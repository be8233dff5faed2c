"""The views `browse` (a task between its neighbours) and `why` (the chain between two tasks)."""

from __future__ import annotations

from dataclasses import replace

from textual.binding import Binding

from fuelclient.insight.relation import Step
from fuelclient.tui.presenters import browse
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.routes import Route
from fuelclient.tui.screens.graph import GraphScreen, gone_message
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Moved, VirtualTable

_ELSEWHERE = ("", "[ goes back, 3 shows the tasks.")
"""The lines below the message that the task is not in the graph."""


class BrowseScreen(GraphScreen):
    """One task with the tasks before and after it."""

    HELP = (
        "A task between its neighbours. Left and right go to a column, Enter puts a neighbour in the middle, r shows"
        " all edges or only those that no other task implies. Below stand the tasks beyond those, the nearest first,"
        " and the attribute under the cursor in full. m marks a task; on another one w shows the chain."
    )
    PLACEHOLDER = "filter what precedes: word, !word"

    BINDINGS = [
        Binding("left,h", "column(-1)", "column before", show=False, id="browse.left"),
        Binding("right,l", "column(1)", "next column", show=False, id="browse.right"),
        Binding("r", "reduce", "all edges", id="browse.reduce"),
    ]

    def body(self) -> Panes:
        self.upstream = VirtualTable(self.glyphs, id="upstream")
        self.middle = VirtualTable(self.glyphs, id="middle", chooses=False)
        self.downstream = VirtualTable(self.glyphs, id="downstream")
        self.earlier = VirtualTable(self.glyphs, id="earlier")
        self.full = Details()
        self.later = VirtualTable(self.glyphs, id="later")
        return Panes(
            "columns", Pane("runs before", self.upstream, tab="before"), Pane("task", self.middle),
            Pane("runs after", self.downstream, tab="after"), Pane("before those", self.earlier, tab="earlier"),
            Pane("in full", self.full), Pane("after those", self.later, tab="later"), active=1,
        )  # fmt: skip

    def present(self) -> None:
        wanted = self.route.task
        if wanted is not None and self.data.study.rows and self.data.study.row_with(wanted) is None:
            self.centre = -1  # the user would mistake another task in its place for it
            self.clear()
            self.middle.show_text(gone_message(wanted), *_ELSEWHERE)
            return
        self.centre = self.row_wanted()
        self._show()

    def _show(self) -> None:
        if not self.data.study.rows:
            self.upstream.show(browse.empty_table(self.data))
            self.middle.show(browse.empty_table(self.data))
            return
        for index, near, far in ((0, self.upstream, self.earlier), (2, self.downstream, self.later)):
            side = browse.OneDirection(self.data, self.centre, self.glyphs, following=index == 2)
            shown, total = side.neighbours(reduced=not self.switched), len(side.adjacent(self.centre))
            near.show(shown)
            self.panes.note(index, f"{len(shown)} of {total}" if len(shown) != total else str(total))
            shown = side.further()
            far.show(shown)
            self.panes.note(index + 3, f"the nearest {len(shown)}" if len(shown) == browse.LIMIT else str(len(shown)))
        self.middle.show(browse.task_table(self.data, self.centre, self.glyphs))
        self.panes.note(1, self.data.study.rows[self.centre].task)
        self.ui.decorate()

    def task_row(self) -> int:
        """The row of the neighbour under the cursor; elsewhere, of the task itself."""
        if not self.filled or not self.data.study.rows or self.centre < 0:
            return -1
        table = self.focused
        if not isinstance(table, VirtualTable) or table is self.middle:
            return self.centre
        tasks = table.table.tasks or ()
        return self.data.study.row_of.get(tasks[table.row], -1) if 0 <= table.row < len(tasks) else -1

    def name_here(self) -> str:
        row = self.task_row()
        return self.data.study.rows[row].task if row >= 0 else ""

    def state(self) -> Route:
        if not self.filled or not self.data.study.rows:
            return self.route
        task = self.data.study.key(self.centre) if self.centre >= 0 else self.route.task
        focus = task.id if task is not None else ""
        return replace(self.route, focus=focus, task=task, query=self.filter_bar.text, looks=self.looks())

    def shown(self) -> Route:
        return self.state()

    def action_column(self, step: int) -> None:
        line, column = divmod(self.panes.active, 3)
        self.panes.activate(3 * line + max(0, min(2, column + step)))

    def action_reduce(self) -> None:
        """Toggle between all edges and those that no other path implies."""
        if self.filled and self.centre >= 0:
            self.switched = not self.switched
            self._show()

    def on_moved(self, message: Moved) -> None:
        if self.filled and message.widget is self.middle and self.data.study.rows and self.centre >= 0:
            self.full.show(browse.row_in_full(self.data, self.centre, self.middle.row, self.glyphs))


class WhyScreen(GraphScreen):
    """The shortest chain between two tasks, with the field, layer and line that make each edge."""

    HELP = (
        "Why one task runs after another: the chain with the fewest edges, and the two tasks of the edge under the"
        " cursor with who set each of their attributes. Enter browses from a task of it."
    )

    def body(self) -> Panes:
        self.step_details = Details(id="both")
        return Panes(
            "over", Pane("the shortest chain", VirtualTable(self.glyphs)), Pane("in words", Details(id="words")),
            Pane("the two tasks", self.step_details),
        )  # fmt: skip

    def present(self) -> None:
        study, keys = self.data.study, (self.route.other, self.route.task)
        row, other = (study.row_with(key) if key is not None else None for key in keys)
        self.step_of_row: list[Step] = []
        if row is None or other is None:
            lost = next((key for key, at in zip(keys, (row, other), strict=True) if key and at is None), None)
            reason = "Mark a task with m first, then press w on another one." if lost is None else gone_message(lost)
            self.clear()
            self.main.show_text(reason, *_ELSEWHERE)
            return
        steps, _ = browse.between(self.data, row, other)
        self.step_of_row = [step for step in steps for _ in step.statements]
        self.main.show(browse.steps(self.data, row, other, self.glyphs))
        self.panes.note(0, count(len(steps), "edge"))
        self.query_one("#words", Details).show(browse.sentence(self.data, row, other, self.glyphs))

    def state(self) -> Route:
        return self.route

    def task_row(self) -> int:
        """The row of the later task of the edge under the cursor."""
        row = self.row_here
        return self.data.study.row_of.get(self.step_of_row[row].after_task, -1) if row >= 0 else -1

    def on_moved(self, message: Moved) -> None:
        message.stop()
        if self.row_here >= 0:
            self.step_details.show(browse.both_tasks(self.data, self.step_of_row[self.row_here], self.glyphs))

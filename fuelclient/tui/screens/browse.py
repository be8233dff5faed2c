"""Browse: a task between its neighbours; and why one task runs after another."""

from __future__ import annotations

from dataclasses import replace

from textual import on
from textual.binding import Binding

from fuelclient.tui.messages import Chosen, Moved
from fuelclient.tui.presenters import browse
from fuelclient.tui.presenters.words import count
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.subject import SubjectScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.vtable import VirtualTable


class BrowseScreen(SubjectScreen):
    """What precedes a task, the task, and what follows it. It costs the same in a graph of any size."""

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
            "columns", Pane("runs before", self.upstream), Pane("task", self.middle),
            Pane("runs after", self.downstream), Pane("before those", self.earlier), Pane("in full", self.full),
            Pane("after those", self.later), active=1,
        )  # fmt: skip

    def present(self) -> None:
        self.reduced = True
        self.rows: dict[str, list[int]] = {}
        self.centre = self.row_wanted()
        self._show()

    def _show(self) -> None:
        if not self.subject.study.rows:
            self.upstream.show(browse.nothing(self.subject))
            return
        for place, table, following in ((0, self.upstream, False), (2, self.downstream, True)):
            made, rows = browse.neighbours(
                self.subject, self.centre, following=following, reduced=self.reduced, glyphs=self.glyphs
            )
            self.rows[str(table.id)] = rows
            table.show(made)
            total = browse.total(self.subject, self.centre, following=following)
            self.panes.note(place, f"{len(rows)} of {total}" if len(rows) != total else str(total))
        for place, table, following in ((3, self.earlier, False), (5, self.later, True)):
            made, rows = browse.further(self.subject, self.centre, following=following, glyphs=self.glyphs)
            self.rows[str(table.id)] = rows
            table.show(made)
            self.panes.note(place, f"the nearest {len(rows)}" if len(rows) == browse.MOST else str(len(rows)))
        self.middle.show(browse.centre(self.subject, self.centre, self.glyphs))
        self.panes.note(1, self.subject.study.rows[self.centre].task)
        self.ui.decorate()

    def _table(self) -> VirtualTable:
        return self.focused if isinstance(self.focused, VirtualTable) else self.middle

    def subject_row(self) -> int:
        """The neighbour under the cursor; in the middle, the task itself."""
        if not self.filled or not self.subject.study.rows:
            return -1
        table = self._table()
        rows = self.rows.get(str(table.id))
        if rows is None:
            return self.centre
        return rows[table.row] if 0 <= table.row < len(rows) else -1

    def name_here(self) -> str:
        row = self.subject_row()
        return self.subject.study.rows[row].task if row >= 0 else ""

    def state(self) -> Route:
        if not self.filled or not self.subject.study.rows:
            return self.route
        name = self.subject.study.rows[self.centre].task
        return replace(self.route, focus=name, row=self.centre, query=self.filter_bar.text)

    def action_column(self, step: int) -> None:
        line, column = divmod(self.panes.active, 3)
        self.panes.activate(3 * line + max(0, min(2, column + step)))

    def action_reduce(self) -> None:
        """All edges, or only those that no other task implies."""
        if self.filled:
            self.reduced = not self.reduced
            self._show()

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        if self.filled and message.table is self.middle and self.subject.study.rows:
            self.full.show(browse.in_full(self.subject, self.centre, self.middle.row, self.glyphs))

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        rows = self.rows.get(str(message.table.id), [])
        if message.row < len(rows):
            self.open_task(rows[message.row])


class WhyScreen(SubjectScreen):
    """The shortest chain between two tasks: each edge with the field, the layer and the line that make it."""

    HELP = "Why one task runs after another: the chain with the fewest edges. Enter browses from a task of it."

    def body(self) -> Panes:
        return Panes("stack", Pane("the shortest chain", VirtualTable(self.glyphs)), Pane("in words", Details()))

    def present(self) -> None:
        one, other = self.route.other, self.route.row
        steps, _ = browse.between(self.subject, one, other)
        self.main.show(browse.why(self.subject, one, other, self.glyphs))
        self.panes.note(0, count(len(steps), "edge"))
        self.query_one(Details).show(browse.sentence(self.subject, one, other, self.glyphs))

    def state(self) -> Route:
        return self.route

    def subject_row(self) -> int:
        name = self.name_here().partition("@")[0]
        return self.subject.study.named(name) or 0 if name else -1

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        message.stop()

    @on(Chosen)
    def _chosen(self) -> None:
        row = self.subject_row()
        if row >= 0:
            self.ui.go(self.route.to(View.BROWSE, row=row))

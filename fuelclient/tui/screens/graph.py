"""The base class of screens about one graph, and the screens with tasks in execution order: a list, and lanes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import replace

from textual.binding import Binding

from fuelclient.insight.query import BadQuery, Query, Results, Rows, parse, query_for_command
from fuelclient.plan.study import TaskKey
from fuelclient.tui.presenters import blame, lanes, preview
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.requests import AskGraph, AskResults, GraphData, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.base import ViewScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Moved, VirtualTable


class GraphScreen(ViewScreen):
    """A screen about one graph of one environment."""

    data: GraphData
    last_row = 0
    """The row of the task under the cursor before the graph was read again."""

    def request(self) -> Request[object]:
        return AskGraph(self.route.env, self.route.graph_type)

    def terms(self, table: Table) -> tuple[Collection[str], Rows, Collection[str]]:
        fields, kind, _ = super().terms(table)
        if self._answer is None:
            return fields, Rows.OTHERS, ()
        return fields, kind, {task.id for task in self.data.study.merged.tasks} if kind is Rows.TASKS else ()

    def query_for(self, text: str, table: Table) -> Query:
        fields, kind, ids = self.terms(table)
        query = parse(text, fields, kind, ids)
        return query if kind is Rows.OTHERS else query.on(self.data.study, lambda: self._results(text))

    def _results(self, text: str) -> Results:
        """The results of the last run of the graph. Raise `BadQuery` until they have been read."""
        request = self._results_request()
        answer = self.ui.gateway.answer_once(request)
        if answer is None or isinstance(answer, str):
            why = answer or self.ui.gateway.failed.get(request) or f"Reading {request.what} ..."
            raise BadQuery(why, text, text.index("result:"))
        return answer

    def _results_request(self) -> AskResults:
        return AskResults(self.route.env, self.route.graph_type)

    def selection(self) -> str:
        """A query that selects the filtered tasks; empty for all tasks, or if there is no short query."""
        tasks = self.main.table.tasks
        if not self.filled or tasks is None:
            return ""
        return self.query_for_tasks({tasks[row] for row in self.main.order}, set(tasks))

    def query_for_tasks(self, shown: set[int], known: set[int]) -> str:
        """A query that selects the `shown` tasks among all that the view has (`known`)."""
        query = self.filter_read.inverted() if self.inverted else self.filter_read
        return query_for_command(query, self.data.study, shown, known)

    def show_other_answers(self) -> None:
        """Filter again if the filter uses the results of the last run."""
        if "result:" in self.filter_bar.text:
            self.apply(self.read_filter())

    def other_requests(self) -> tuple[Request[object], ...]:
        return (self._results_request(),) if "result:" in self.filter_bar.text else ()

    def fill(self, data: GraphData, /) -> None:
        self.last_row = max(0, self.task_row()) if self.filled else 0
        self.data = data
        self.present()

    @abstractmethod
    def present(self) -> None:
        """Show the graph in `data`."""

    def task_here(self) -> TaskKey | None:
        row = self.task_row()
        return self.data.study.key(row) if self.filled and 0 <= row < len(self.data.study.rows) else None

    def row_wanted(self) -> int:
        """The row of the route's task. If the graph no longer has it, notify the user and return the previous row of
        the cursor."""
        study, wanted = self.data.study, self.route.task
        if wanted is None:
            return (study.row_named(self.route.focus) if self.route.focus else None) or 0
        row = study.row_with(wanted)
        if row is None and study.rows:
            self.notify(gone_message(wanted), markup=False)
        return max(0, min(self.last_row, len(study.rows) - 1)) if row is None else row

    def open(self) -> None:
        """Browse from the task under the cursor."""
        if (task := self.task_here()) is not None:
            self.ui.go(self.route.to(View.BROWSE, task.id, task=task))


def gone_message(task: TaskKey) -> str:
    return f"{task.id} is not in this graph any more."


class PreviewScreen(GraphScreen):
    """Merged tasks or their instances in execution order, with the attributes and findings of one of them."""

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
        """Switch between tasks and task instances; the cursor stays on the same task."""
        if self.filled:
            row = max(0, self.task_row())
            self.switched = not self.switched
            self._show(row)

    def task_row(self) -> int:
        row = self.row_here
        return preview.row_of(self.data, row) if row >= 0 and self.switched else row

    def shown(self) -> Route:
        task = self.task_here()
        return replace(self.route, task=task, select=self.selection(), beside=self.in_side_pane() and task is not None)

    def state(self) -> Route:
        is_instance = self.switched and self.row_here >= 0
        return replace(super().state(), instance=self.main.table.ids[self.row_here] if is_instance else "")

    def on_moved(self, message: Moved) -> None:
        row = self.task_row()
        if message.widget is self.main and 0 <= row < len(self.data.study.rows):
            self.blame.show(blame.table(self.data.study.task(row), self.glyphs))
            self.panes.note(1, self.data.study.rows[row].task)
            self.details.show(preview.detail(self.data, row, self.glyphs))
        elif message.widget is self.blame:
            self._show_attribute()
        elif message.widget is self.main:
            self.blame.show(Table(self.blame.table.columns, empty=("No task is under the cursor.",)))
            self.panes.note(1, "")
            self.details.show([])

    def _show_attribute(self) -> None:
        """If the table of attributes has the focus, show the attribute under the cursor in full, above the task."""
        if (row := self.task_row()) >= 0 and self.blame.has_focus and self.blame.row >= 0:
            task, path = self.data.study.task(row), self.blame.table.ids[self.blame.row]
            details = preview.detail(self.data, row, self.glyphs)
            self.details.show([*blame.in_full(task, path, self.glyphs), (), *details])

    def on_descendant_focus(self) -> None:
        self._show_attribute()


class LanesScreen(GraphScreen):
    """The tasks that run on a node, in execution order, with lanes from each task to those that wait for it."""

    HELP = (
        "Graph order. A lane leads from a task down to the one that waits for it. An arrow up marks what runs before"
        " the task under the cursor, an arrow down what runs after it; the others are dim. Filter by role:compute or"
        " +keystone: the lanes are laid anew, and order through hidden tasks stays. Enter browses from a task."
    )
    PLACEHOLDER = "filter: keystone, role:compute, 1+db"

    def body(self) -> Panes:
        return Panes("wide", Pane("graph order", VirtualTable(self.glyphs)), Pane("this task", Details()))

    def present(self) -> None:
        self._show_lanes(self.read_filter(), self.row_wanted())

    def terms(self, table: Table) -> tuple[Collection[str], Rows, Collection[str]]:  # noqa: ARG002 (unused)
        return super().terms(lanes.FIELDS)

    def apply(self, query: Query) -> None:
        if self.filled:
            self._show_lanes(query, self.task_row())

    def _show_lanes(self, query: Query, row: int) -> None:
        self.kept = lanes.keep(self.data, query)
        self.main.filter(Query())
        cursor = self.kept.index(row) if row in self.kept else 0
        table = lanes.table(self.data, self.kept, self.glyphs)
        if self.kept:
            table.centre(self.kept[cursor])
        self.main.show(table, cursor=cursor)
        note = count(lanes.width(self.data, self.kept), "lane")
        if upward := self.data.reach.against:
            note += f", {count(upward, 'edge')} upwards not drawn"
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
        return self.kept[self.row_here] if self.row_here >= 0 else -1

    def on_moved(self) -> None:
        if (row := self.task_row()) < 0:
            self.details.show([])
            return
        if isinstance(self.main.table, lanes.Lanes):
            self.main.table.centre(row)
            self.main.refresh()
        attributes = blame.lines(self.data.study.task(row), self.glyphs)
        self.details.show([*preview.detail(self.data, row, self.glyphs), (), *attributes])

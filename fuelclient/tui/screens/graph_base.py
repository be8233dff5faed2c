"""The base classes of the screens about one graph of an environment: its request, the task under the cursor."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import cast

from textual import on

from fuelclient.insight.query import BadQuery, Query, Results, Rows, query_for_command
from fuelclient.plan.study import TaskKey
from fuelclient.tui.presenters.table import Line, Table
from fuelclient.tui.requests import AskGraph, AskResults, GraphData, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.base import ViewScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.virtual_table import Moved


class GraphScreen(ViewScreen):
    """A screen about one graph of one environment."""

    data: GraphData
    place = 0
    """The row of the task under the cursor in the graph as it was known before."""

    def request(self) -> Request[object]:
        return AskGraph(self.route.env, self.route.graph_type)

    def about(self, table: Table) -> Rows:
        return super().about(table) if self._answer is not None else Rows.OTHERS

    def ids(self, table: Table) -> Collection[str]:
        is_of_tasks = self.about(table) is Rows.TASKS
        return {task.id for task in self.data.study.merged.tasks} if is_of_tasks else ()

    def query_for(self, text: str, table: Table) -> Query:
        query = super().query_for(text, table)
        if self.about(table) is Rows.OTHERS:
            return query
        return query.on(self.data.study, lambda: self._results(text))

    def _results(self, text: str) -> Results:
        """Return how the last run of the graph ended. Raise `BadQuery` while that is not known."""
        asked = self._asks_results()
        answer = self.ui.gateway.answer_once(asked)
        if answer is None or isinstance(answer, str):
            why = answer or self.ui.gateway.failed.get(asked) or f"Reading {asked.what} ..."
            raise BadQuery(why, text, text.index("result:"))
        return answer

    def _asks_results(self) -> AskResults:
        return AskResults(self.route.env, self.route.graph_type)

    def selection(self) -> str:
        """Return a query for the tasks that the filter has left; empty for all, or if no short query selects them."""
        tasks = self.main.table.tasks
        if not self.filled or tasks is None:
            return ""
        return self.query_for_tasks({tasks[row] for row in self.main.order}, set(tasks))

    def query_for_tasks(self, shown: set[int], known: set[int]) -> str:
        """Return a query for the tasks that the filter has left of those that are `known`; see `selection`."""
        query = self.filter_read.inverted() if self.inverted else self.filter_read
        return query_for_command(query, self.data.study, shown, known)

    def show_other_answers(self) -> None:
        """Filter again if the filter asks how the last run ended."""
        if "result:" in self.filter_bar.text:
            self.apply(self.read_filter())

    def asked(self) -> tuple[Request[object], ...]:
        asks_results = self.filled and self.is_whole() and "result:" in self.filter_bar.text
        return (self.request(), *([self._asks_results()] if asks_results else []))

    def missed(self, request: Request[object]) -> None:
        super().missed(request)
        if self.filled and request == self._asks_results():
            GraphScreen.show_other_answers(self)

    def fill(self, answer: object) -> None:
        self.place = max(0, self.task_row()) if self.filled else 0
        self.data = cast(GraphData, answer)
        self.present()

    def present(self) -> None:
        """Show the graph in `data` on the screen."""
        raise NotImplementedError

    def task_here(self) -> TaskKey | None:
        row = self.task_row()
        return self.data.study.key(row) if self.filled and 0 <= row < len(self.data.study.rows) else None

    def row_wanted(self) -> int:
        """Return the row of the task that the route names. If the graph has lost it, say so and return the old place
        of the cursor."""
        study, wanted = self.data.study, self.route.task
        if wanted is None:
            return (study.named(self.route.focus) if self.route.focus else None) or 0
        row = study.row_with(wanted)
        if row is None and study.rows:
            self.notify(gone(wanted), markup=False)
        return max(0, min(self.place, len(study.rows) - 1)) if row is None else row

    def open_task(self, row: int) -> None:
        """Browse from a task."""
        study = self.data.study
        self.ui.go(self.route.to(View.BROWSE, study.rows[row].task, task=study.key(row)))


def gone(task: TaskKey) -> str:
    """Say that the graph has lost a task."""
    return f"{task.id} is not in this graph any more."


class DetailsScreen(GraphScreen):
    """A list beside the details of what is under its cursor."""

    def table(self) -> Table:
        """Return the table of the list pane; its ids are what the route has for its focus."""
        raise NotImplementedError

    def detail(self, row: int) -> list[Line]:
        """Return the lines of the details pane for a row of the graph."""
        raise NotImplementedError

    def present(self) -> None:
        table = self.table()
        place = list(table.ids).index(self.route.focus) if self.route.focus in table.ids else 0
        self.main.show(table, cursor=place, keep=True)

    def show_detail(self) -> None:
        """Show the details of what is under the cursor."""
        self.query_one(Details).show(self.detail(self.main.row) if self.filled and self.main.row >= 0 else [])

    def shown(self) -> Route:
        here = self.main.table.ids[self.main.row] if self.is_beside() and self.main.row >= 0 else ""
        return replace(self.route, focus=here) if self.filled else self.route

    @on(Moved)
    def _moved(self) -> None:
        self.show_detail()

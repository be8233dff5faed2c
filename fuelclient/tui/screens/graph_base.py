"""The base classes of the screens about one graph of an environment: its request, the task under the cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import cast

from fuelclient.insight.query import BadQuery, Query, Results, Rows, parse, query_for_command
from fuelclient.plan.study import TaskKey
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.requests import AskGraph, AskResults, GraphData, Request
from fuelclient.tui.routes import View
from fuelclient.tui.screens.base import ViewScreen


class GraphScreen(ViewScreen):
    """A screen about one graph of one environment."""

    data: GraphData
    place = 0
    """The row of the task under the cursor in the graph as it was known before."""

    def request(self) -> Request[object]:
        return AskGraph(self.route.env, self.route.graph_type)

    def terms(self, table: Table) -> tuple[Collection[str], Rows, Collection[str]]:
        fields, about, _ = super().terms(table)
        if self._answer is None:
            return fields, Rows.OTHERS, ()
        return fields, about, {task.id for task in self.data.study.merged.tasks} if about is Rows.TASKS else ()

    def query_for(self, text: str, table: Table) -> Query:
        fields, about, ids = self.terms(table)
        query = parse(text, fields, about, ids)
        return query if about is Rows.OTHERS else query.on(self.data.study, lambda: self._results(text))

    def _results(self, text: str) -> Results:
        """How the last run of the graph ended. Raise `BadQuery` while that is not known."""
        asked = self._asks_results()
        answer = self.ui.gateway.answer_once(asked)
        if answer is None or isinstance(answer, str):
            why = answer or self.ui.gateway.failed.get(asked) or f"Reading {asked.what} ..."
            raise BadQuery(why, text, text.index("result:"))
        return answer

    def _asks_results(self) -> AskResults:
        return AskResults(self.route.env, self.route.graph_type)

    def selection(self) -> str:
        """A query for the tasks that the filter has left; empty for all, or if no short query selects them."""
        tasks = self.main.table.tasks
        if not self.filled or tasks is None:
            return ""
        return self.query_for_tasks({tasks[row] for row in self.main.order}, set(tasks))

    def query_for_tasks(self, shown: set[int], known: set[int]) -> str:
        """A query for the tasks that the filter has left of those that are `known`; see `selection`."""
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

    @abstractmethod
    def present(self) -> None:
        """Show the graph in `data` on the screen."""

    def task_here(self) -> TaskKey | None:
        row = self.task_row()
        return self.data.study.key(row) if self.filled and 0 <= row < len(self.data.study.rows) else None

    def row_wanted(self) -> int:
        """The row of the task that the route names. If the graph has lost it, say so and return the old place
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
    """The message for a task that the graph no longer has."""
    return f"{task.id} is not in this graph any more."

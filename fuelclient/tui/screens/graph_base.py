"""What the screens about one graph of an environment share: request, task under the cursor, marked task."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from fuelclient.insight.study import TaskKey
from fuelclient.tui.app_base import UI
from fuelclient.tui.requests import AskGraph, GraphData, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.base import ViewScreen


class GraphScreen(ViewScreen):
    """A screen about one graph of one environment."""

    data: GraphData
    place = 0
    """The row of the task under the cursor in the graph as it was known before."""

    def request(self) -> Request[object]:
        return AskGraph(self.route.env, self.route.graph_type)

    def fill(self, answer: object) -> None:
        self.place = max(0, self.task_row()) if self.filled else 0
        self.data = cast(GraphData, answer)
        self.present()

    def present(self) -> None:
        """Show `data`."""
        raise NotImplementedError

    def state(self) -> Route:
        return replace(
            self.route, focus=self.name_here(), query=self.filter_bar.text, task=self.task_here(), looks=self.looks()
        )

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


class MarkedTask:
    """The task that is marked, by its name: a graph that is read again may have it in another row, or not at all."""

    def __init__(self, ui: UI) -> None:
        self._ui = ui
        self._marked: tuple[AskGraph, TaskKey] | None = None

    def toggle(self) -> None:
        """Mark the task under the cursor, or unmark it."""
        task = self._task_here()
        if task is None:
            self._ui.notify("There is no task under the cursor.")
            return
        mark = (self._graph, task)
        self._marked = None if self._marked == mark else mark
        self._ui.decorate()

    def why(self) -> None:
        """Go to the chain between the marked task and the one under the cursor."""
        task, marked = self._task_here(), self._marked
        if task is None or marked is None or marked[0] != self._graph or marked[1] == task:
            self._ui.notify("Mark a task with m, go to another one of the same graph, and press w there.")
            return
        self._ui.go(replace(self._ui.trail.here.to(View.WHY, task=task), other=marked[1]))

    @property
    def text(self) -> str:
        """The marked task if it belongs to the graph on the screen, and whether that has lost it."""
        graph = self._ui.graph
        if self._marked is None or graph is None or self._marked[0] != self._graph:
            return ""
        task = self._marked[1]
        return task.id if graph.study.row_with(task) is not None else f"{task.id}, which is gone"

    @property
    def _graph(self) -> AskGraph:
        here = self._ui.trail.here
        return AskGraph(here.env, here.graph_type)

    def _task_here(self) -> TaskKey | None:
        screen = self._ui.screen
        return screen.task_here() if isinstance(screen, ViewScreen) else None

"""The task that is marked with m, and the way from it to another one."""

from __future__ import annotations

from dataclasses import replace

from fuelclient.plan.study import TaskKey
from fuelclient.tui.app_base import UI
from fuelclient.tui.requests import AskGraph
from fuelclient.tui.routes import View
from fuelclient.tui.screens.base import ViewScreen


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

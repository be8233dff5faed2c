"""The tasks and nodes that are picked with the space bar, for the execute dialog."""

from __future__ import annotations

from fuelclient.tui.app_base import UI
from fuelclient.tui.routes import View
from fuelclient.tui.screens.base import ViewScreen


class Picked:
    """Tasks and nodes by id, of one environment and graph type: another place begins anew."""

    def __init__(self, ui: UI) -> None:
        self._ui = ui
        self._place = (0, "")
        self._tasks: dict[str, None] = {}
        self._nodes: dict[str, None] = {}

    def toggle(self) -> None:
        """Pick the task or the node under the cursor, or no longer."""
        screen = self._ui.screen
        if not isinstance(screen, ViewScreen):
            return
        task, name = screen.task_here(), screen.name_here()
        is_node = screen.route.view is View.NODES and name.isdigit()
        if task is None and not is_node:
            self._ui.notify("There is no task and no node under the cursor.")
            return
        self._forget_others()
        picked, key = (self._nodes, name) if is_node or task is None else (self._tasks, task.id)
        if key in picked:
            del picked[key]
        else:
            picked[key] = None
        self._ui.decorate()

    @property
    def tasks(self) -> tuple[str, ...]:
        self._forget_others()
        return tuple(self._tasks)

    @property
    def nodes(self) -> tuple[str, ...]:
        self._forget_others()
        return tuple(self._nodes)

    @property
    def text(self) -> str:
        """What is picked, for the bar; empty for nothing."""
        kinds = (("tasks", self.tasks), ("nodes", self.nodes))
        return "; ".join(f"{kind}: {' '.join(ids)}" for kind, ids in kinds if ids)

    def _forget_others(self) -> None:
        here = self._ui.trail.here
        if (here.env, here.graph_type) != self._place:
            self._place = (here.env, here.graph_type)
            self._tasks, self._nodes = {}, {}

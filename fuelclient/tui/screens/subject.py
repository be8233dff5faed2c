"""What the screens of one environment share: they ask for its graph, and know the tasks in their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from fuelclient.insight.study import TaskKey
from fuelclient.tui.requests import AskSubject, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.subject import Subject


class SubjectScreen(ViewScreen):
    """A screen about one graph of one environment."""

    subject: Subject
    place = 0
    """The row of the task under the cursor in the graph as it was known before."""

    def request(self) -> Request[object]:
        return AskSubject(self.route.env, self.route.graph_type)

    def fill(self, answer: object) -> None:
        self.place = max(0, self.subject_row()) if self.filled else 0
        self.subject = cast(Subject, answer)
        self.present()

    def present(self) -> None:
        """Show `subject`."""
        raise NotImplementedError

    def state(self) -> Route:
        return replace(
            self.route, focus=self.name_here(), query=self.filter_bar.text, task=self.task_here(), looks=self.looks()
        )

    def task_here(self) -> TaskKey | None:
        row = self.subject_row()
        return self.subject.study.key(row) if self.filled and 0 <= row < len(self.subject.study.rows) else None

    def row_wanted(self) -> int:
        """The row of the study that the route names, by its task. Where that is gone, which is told, the cursor stays
        at its place."""
        study, wanted = self.subject.study, self.route.task
        if wanted is None:
            return (study.named(self.route.focus) if self.route.focus else None) or 0
        found = study.row_with(wanted)
        if found is None and study.rows:
            self.notify(gone(wanted), markup=False)
        return max(0, min(self.place, len(study.rows) - 1)) if found is None else found

    def open_task(self, row: int) -> None:
        """Browse from a task."""
        study = self.subject.study
        self.ui.go(self.route.to(View.BROWSE, study.rows[row].task, task=study.key(row)))


def gone(task: TaskKey) -> str:
    """What to say of a task that the graph had once."""
    return f"{task.id} is not in this graph any more."

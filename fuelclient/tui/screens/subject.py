"""What the screens of one environment share: they ask for its graph, and know the tasks in their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from fuelclient.tui.requests import AskSubject, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.subject import Subject


class SubjectScreen(ViewScreen):
    """A screen about one graph of one environment."""

    subject: Subject

    def request(self) -> Request[object]:
        return AskSubject(self.route.env, self.route.graph_type)

    def fill(self, answer: object) -> None:
        self.subject = cast(Subject, answer)
        self.present()

    def present(self) -> None:
        """Show `subject`."""
        raise NotImplementedError

    def state(self) -> Route:
        return replace(self.route, focus=self.name_here(), query=self.filter_bar.text, row=self.subject_row())

    def row_wanted(self) -> int:
        """The row of the study that the route names: by number, else by the id of its task; 0 for neither."""
        if 0 <= self.route.row < len(self.subject.study.rows):
            return self.route.row
        return (self.subject.study.named(self.route.focus) if self.route.focus else None) or 0

    def open_task(self, row: int) -> None:
        """Browse from a task."""
        self.ui.go(self.route.to(View.BROWSE, self.subject.study.rows[row].task, row=row))

"""Environments: the first screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from textual import on
from textual.binding import Binding

from fuelclient.model.run import Run
from fuelclient.tui.presenters import environments
from fuelclient.tui.requests import AskOverview, AskRuns, Overview, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.base import ViewScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class EnvironmentsScreen(ViewScreen):
    """All environments, and the one under the cursor in detail."""

    HELP = "All environments. Enter opens the one under the cursor at its roles; 1 to 8 open it at another view."

    BINDINGS = [Binding("H,shift+h", "history", "all runs", id="environments.history", key_display="H")]

    runs: tuple[Run, ...] | None = None

    def request(self) -> Request[object]:
        return AskOverview()

    def body(self) -> Panes:
        return Panes("stack", Pane("environments", VirtualTable(self.glyphs)), Pane("selected environment", Details()))

    def fill(self, answer: object) -> None:
        overview = cast(Overview, answer)
        wanted = [place for place, cluster in enumerate(overview.clusters) if str(cluster.id) == self.route.focus]
        self.overview, self.runs = overview, None
        self.main.show(environments.table(overview, None, self.glyphs), cursor=(wanted or [0])[0], keep=True)
        self.panes.only(0, alone=not overview.clusters)

    def show_other_answers(self) -> None:
        """Show the last run of each environment as soon as it is known."""
        runs = self.ui.gateway.answer(AskRuns()) if self.overview.clusters else ()
        if runs is not None and runs is not self.runs:
            self.runs = runs
            self.main.show(environments.table(self.overview, runs, self.glyphs), cursor=self.main.row, keep=True)

    def asked(self) -> tuple[Request[object], ...]:
        return (self.request(), AskRuns())

    def live(self) -> Sequence[Request[object]]:
        return () if not self.filled or all(run.is_final for run in self.runs or ()) else (AskRuns(),)

    def action_history(self) -> None:
        self.ui.go(Route(View.HISTORY))

    def shown(self) -> Route:
        return replace(self.route, focus=str(self.env_here() or ""), beside=True) if self.is_beside() else self.route

    def env_here(self) -> int:
        return self.overview.clusters[self.main.row].id if self.filled and self.main.row >= 0 else 0

    @on(Moved)
    def _moved(self) -> None:
        known = self.overview.clusters if self.filled else ()
        here = 0 <= self.main.row < len(known)
        lines = environments.detail(self.overview, known[self.main.row], self.glyphs) if here else []
        self.query_one(Details).show(lines)

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        self.ui.go(Route(View.ROLES, self.overview.clusters[message.row].id))

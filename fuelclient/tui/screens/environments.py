"""Environments: where everything begins."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from textual import on

from fuelclient.tui.messages import Chosen, Moved
from fuelclient.tui.presenters import environments
from fuelclient.tui.requests import AskOverview, Overview, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.vtable import VirtualTable


class EnvironmentsScreen(ViewScreen):
    """All environments, and the one under the cursor in detail."""

    HELP = "All environments. Enter opens the one under the cursor at its roles; 1 to 7 open it at another view."

    def request(self) -> Request[object]:
        return AskOverview()

    def body(self) -> Panes:
        return Panes("stack", Pane("environments", VirtualTable(self.glyphs)), Pane("this one", Details()))

    def fill(self, answer: object) -> None:
        overview = cast(Overview, answer)
        self.overview = overview
        wanted = [place for place, one in enumerate(overview.clusters) if str(one.id) == self.route.focus]
        self.main.show(environments.table(overview), cursor=wanted[0] if wanted else 0)
        self.panes.only(0, alone=not overview.clusters)

    def state(self) -> Route:
        return replace(self.route, focus=self.name_here(), query=self.filter_bar.text)

    def env_here(self) -> int:
        """The id of the environment under the cursor, or 0."""
        return self.overview.clusters[self.main.row].id if self.filled and self.main.row >= 0 else 0

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        if message.row >= 0 and message.row < len(self.overview.clusters):
            cluster = self.overview.clusters[message.row]
            self.query_one(Details).show(environments.detail(self.overview, cluster, self.glyphs))

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        self.ui.go(Route(View.ROLES, self.overview.clusters[message.row].id))

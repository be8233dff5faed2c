"""Roles of an environment."""

from __future__ import annotations

from textual import on

from fuelclient.insight.query import condition
from fuelclient.tui.presenters import roles
from fuelclient.tui.presenters.table import Line, Table
from fuelclient.tui.routes import View
from fuelclient.tui.screens.graph_base import DetailsScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, VirtualTable


class RolesScreen(DetailsScreen):
    """The roles of an environment, and what the one under the cursor brings."""

    HELP = "What each role brings, which roles it conflicts with, which nodes have it. Enter shows its tasks as lanes."

    def body(self) -> Panes:
        return Panes("pair", Pane("roles", VirtualTable(self.glyphs)), Pane("this role", Details()))

    def table(self) -> Table:
        return roles.table(self.data)

    def detail(self, row: int) -> list[Line]:
        return roles.detail(self.data, list(self.data.study.snapshot.roles.values())[row], self.glyphs)

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        query = condition("role", self.main.table.ids[message.row], ":")
        self.ui.go(self.route.to(View.LANES, query=query))

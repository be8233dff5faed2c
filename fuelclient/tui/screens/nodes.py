"""Nodes of an environment."""

from __future__ import annotations

from dataclasses import replace

from textual import on

from fuelclient.insight.query import condition
from fuelclient.tui.presenters import nodes
from fuelclient.tui.presenters.table import Line, Table
from fuelclient.tui.routes import Looks, View
from fuelclient.tui.screens.graph_base import DetailsScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, VirtualTable


class NodesScreen(DetailsScreen):
    """The nodes of an environment, and what runs on the one under the cursor."""

    HELP = "The machines of the environment. Enter shows what runs on one, in order: node=1 is the node of that id."

    def body(self) -> Panes:
        return Panes("pair", Pane("nodes", VirtualTable(self.glyphs)), Pane("this node", Details()))

    def table(self) -> Table:
        return nodes.table(self.data, self.glyphs)

    def detail(self, row: int) -> list[Line]:
        return nodes.detail(self.data, nodes.ordered(self.data)[row], self.glyphs)

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        query = condition("node", self.main.table.ids[message.row])
        self.ui.go(replace(self.route.to(View.PREVIEW, query=query), looks=Looks(switched=True)))

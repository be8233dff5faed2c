"""Roles and nodes of an environment."""

from __future__ import annotations

from dataclasses import replace

from textual import on

from fuelclient.insight.filter_query import term
from fuelclient.tui.presenters import nodes, roles
from fuelclient.tui.routes import Looks, View
from fuelclient.tui.screens.graph_base import GraphScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class RolesScreen(GraphScreen):
    """The roles of an environment, and what the one under the cursor brings."""

    HELP = "What each role brings, which roles it conflicts with, which nodes have it. Enter shows its tasks as lanes."

    def body(self) -> Panes:
        return Panes("pair", Pane("roles", VirtualTable(self.glyphs)), Pane("this role", Details()))

    def present(self) -> None:
        names = list(self.data.study.snapshot.roles)
        wanted = names.index(self.route.focus) if self.route.focus in names else 0
        self.main.show(roles.table(self.data), cursor=wanted, keep=True)

    @on(Moved)
    def _moved(self) -> None:
        known = list(self.data.study.snapshot.roles.values()) if self.filled else []
        here = 0 <= self.main.row < len(known)
        self.query_one(Details).show(roles.detail(self.data, known[self.main.row], self.glyphs) if here else [])

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        role = self.main.table.ids[message.row]
        self.ui.go(self.route.to(View.LANES, query=term("role", role)))


class NodesScreen(GraphScreen):
    """The nodes of an environment, and what runs on the one under the cursor."""

    HELP = "The machines of the environment. Enter shows what runs on one, in order: node=1 is the node of that id."

    def body(self) -> Panes:
        return Panes("pair", Pane("nodes", VirtualTable(self.glyphs)), Pane("this node", Details()))

    def present(self) -> None:
        table = nodes.table(self.data, self.glyphs)
        wanted = list(table.ids).index(self.route.focus) if self.route.focus in table.ids else 0
        self.main.show(table, cursor=wanted, keep=True)

    @on(Moved)
    def _moved(self) -> None:
        if not self.filled:
            return
        by_id = {str(node.id): node for node in self.data.study.snapshot.nodes}
        node = by_id.get(self.main.table.ids[self.main.row]) if self.main.row >= 0 else None
        self.query_one(Details).show(nodes.detail(self.data, node, self.glyphs) if node is not None else [])

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        query = term("node", self.main.table.ids[message.row])
        self.ui.go(replace(self.route.to(View.PREVIEW, query=query), looks=Looks(switched=True)))

"""Screens with a list beside the details of what is under its cursor: roles, nodes and plugins of an environment."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from textual import on
from textual.binding import Binding

from fuelclient.insight.query import condition
from fuelclient.model.plugin import Plugin
from fuelclient.tui.presenters import nodes, plugins, roles
from fuelclient.tui.presenters.table import Line, Table
from fuelclient.tui.requests import AskEnabling, Request
from fuelclient.tui.routes import Looks, Route, View
from fuelclient.tui.screens.graph_base import GraphScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class DetailsScreen(GraphScreen):
    """A list beside the details of what is under its cursor."""

    @abstractmethod
    def table(self) -> Table:
        """Return the table of the list pane; its ids are what the route has for its focus."""

    @abstractmethod
    def detail(self, row: int) -> list[Line]:
        """Return the lines of the details pane for a row of the graph."""

    def present(self) -> None:
        table = self.table()
        place = table.ids.index(self.route.focus) if self.route.focus in table.ids else 0
        self.main.show(table, cursor=place, keep=True)

    def show_detail(self) -> None:
        """Show the details of what is under the cursor."""
        self.query_one(Details).show(self.detail(self.main.row) if self.filled and self.main.row >= 0 else [])

    def shown(self) -> Route:
        here = self.main.table.ids[self.main.row] if self.is_beside() and self.main.row >= 0 else ""
        return replace(self.route, focus=here) if self.filled else self.route

    @on(Moved)
    def _moved(self) -> None:
        self.show_detail()


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
        self.ui.go(self.route.to(View.LANES, query=condition("role", self.main.table.ids[message.row], ":")))


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


class PluginsScreen(DetailsScreen):
    """The plugins: installed, enabled here, what each adds and overrides, where it clashes, and what enabling it would
    change."""

    HELP = (
        "Installed plugins, and what each does in this environment: + adds a task, ~ overrides one. d shows what"
        " enabling the one under the cursor would change: tasks, attributes and the order. Nothing is enabled."
    )

    BINDINGS = [Binding("d", "what_if", "if enabled", id="plugins.what-if")]

    def body(self) -> Panes:
        return Panes("pair", Pane("plugins", VirtualTable(self.glyphs, chooses=False)), Pane("this plugin", Details()))

    def table(self) -> Table:
        return plugins.table(self.data, self.glyphs)

    def detail(self, row: int) -> list[Line]:
        plugin = self.data.plugins[row]
        if not self.switched or self._is_here(plugin):
            return plugins.detail(self.data, plugin, self.glyphs)
        answer = self.ui.gateway.answer_once(self._asked(plugin))
        if answer is None:
            return [(line,) for line in self.why_missed(self._asked(plugin))]
        if isinstance(answer, str):
            return [(answer,)]
        return plugins.if_enabled(answer, f"{plugin.name} {plugin.version}", self.glyphs)

    def present(self) -> None:
        self.panes.only(0, alone=not self.data.plugins)
        super().present()

    def action_what_if(self) -> None:
        """Show what enabling the plugin under the cursor would change, or the plugin itself again."""
        here = self._here()
        if self.switched:
            self.switched = False
        elif here is None:
            self.notify("No plugin is under the cursor.")
            return
        elif self.data.release.id in here.releases:
            self.notify("It is this environment's release.")
            return
        elif self._is_here(here):
            self.notify("It is enabled here: what it adds and overrides stands beside it.")
            return
        else:
            self.switched = True
            self.ui.gateway.revisit(self._asked(here))
        self.ui.looked(self.shown())
        self.show_detail()

    def _here(self) -> Plugin | None:
        return self.data.plugins[self.main.row] if self.filled and self.main.row >= 0 else None

    def _is_here(self, plugin: Plugin) -> bool:
        return self.route.env in plugin.clusters or self.data.release.id in plugin.releases

    def _asked(self, plugin: Plugin) -> AskEnabling:
        return AskEnabling(self.route.env, self.route.graph_type, plugin.id)

    def show_detail(self) -> None:
        super().show_detail()
        here = self._here()
        self.panes.note(1, "if it were enabled" if here and self.switched and not self._is_here(here) else "")
        self.ui.decorate()

    def show_other_answers(self) -> None:
        super().show_other_answers()
        if self.switched:
            self.show_detail()

    def missed(self, request: Request[object]) -> None:
        super().missed(request)
        if isinstance(request, AskEnabling) and self.filled:
            self.show_detail()

    def asked(self) -> tuple[Request[object], ...]:
        here = self._here()
        return (*super().asked(), *([self._asked(here)] if here is not None and self.switched else []))

    def shown(self) -> Route:
        here = self._here()
        if here is None or not self.switched or self._is_here(here):
            return replace(super().shown(), looks=Looks())
        return replace(self.route, focus=str(here.id), looks=self.looks())

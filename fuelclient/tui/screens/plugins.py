"""Plugins: installed and enabled ones."""

from __future__ import annotations

from dataclasses import replace

from textual.binding import Binding

from fuelclient.model.plugin import Plugin
from fuelclient.tui.presenters import plugins, what_if
from fuelclient.tui.presenters.table import Line, Table
from fuelclient.tui.requests import AskEnabling, Request
from fuelclient.tui.routes import Looks, Route
from fuelclient.tui.screens.graph_base import DetailsScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import VirtualTable


class PluginsScreen(DetailsScreen):
    """The plugins: installed, enabled here, what each adds and overrides, where it clashes, and what enabling it would
    change."""

    HELP = (
        "Installed plugins, and what each does in this environment: + adds a task, ~ overrides one. d shows what"
        " enabling the one under the cursor would change: tasks, attributes and the order. Nothing is enabled."
    )

    BINDINGS = [Binding("d", "what_if", "if enabled", id="plugins.what-if")]

    compares = False

    def body(self) -> Panes:
        return Panes("pair", Pane("plugins", VirtualTable(self.glyphs, chooses=False)), Pane("this plugin", Details()))

    def table(self) -> Table:
        return plugins.table(self.data, self.glyphs)

    def detail(self, row: int) -> list[Line]:
        plugin = self.data.plugins[row]
        if not self.compares or self._is_here(plugin):
            return plugins.detail(self.data, plugin, self.glyphs)
        asked = self._asked(plugin)
        answer = self.ui.gateway.answer_once(asked)
        if answer is None:
            failed = asked in self.ui.gateway.failed
            return [(line,) for line in (self.why_missed(asked) if failed else [f"Reading {asked.what} ..."])]
        if isinstance(answer, str):
            return [(answer,)]
        return what_if.lines(answer, f"{plugin.name} {plugin.version}", self.glyphs)

    def present(self) -> None:
        self.compares = self.route.looks.switched
        self.panes.only(0, alone=not self.data.plugins)
        super().present()

    def action_what_if(self) -> None:
        """Show what enabling the plugin under the cursor would change, or the plugin itself again."""
        here = self._here()
        if self.compares:
            self.compares = False
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
            self.compares = True
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
        self.panes.note(1, "if it were enabled" if here and self.compares and not self._is_here(here) else "")
        self.ui.decorate()

    def show_other_answers(self) -> None:
        super().show_other_answers()
        if self.compares:
            self.show_detail()

    def missed(self, request: Request[object]) -> None:
        super().missed(request)
        if isinstance(request, AskEnabling) and self.filled:
            self.show_detail()

    def asked(self) -> tuple[Request[object], ...]:
        here = self._here()
        return (*super().asked(), *([self._asked(here)] if here is not None and self.compares else []))

    def is_switched(self) -> bool:
        return self.compares

    def shown(self) -> Route:
        here = self._here()
        if here is None or not self.compares or self._is_here(here):
            return replace(super().shown(), looks=Looks())
        return replace(self.route, focus=str(here.id), looks=self.looks())

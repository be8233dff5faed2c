"""Plugins: installed and enabled ones."""

from __future__ import annotations

from fuelclient.tui.presenters import plugins
from fuelclient.tui.presenters.table import Line, Table
from fuelclient.tui.screens.graph_base import DetailsScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import VirtualTable


class PluginsScreen(DetailsScreen):
    """The plugins: installed, enabled here, what each adds and overrides, and where it clashes."""

    HELP = "Installed plugins, and what each does in this environment: + adds a task, ~ overrides one."

    def body(self) -> Panes:
        return Panes("pair", Pane("plugins", VirtualTable(self.glyphs, chooses=False)), Pane("this plugin", Details()))

    def table(self) -> Table:
        return plugins.table(self.data, self.glyphs)

    def detail(self, row: int) -> list[Line]:
        return plugins.detail(self.data, self.data.plugins[row], self.glyphs)

    def present(self) -> None:
        self.panes.only(0, alone=not self.data.plugins)
        super().present()

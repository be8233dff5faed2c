"""Screens with a list and details: roles, nodes and plugins of an environment, and findings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding

from fuelclient.insight.query import condition
from fuelclient.model.finding import Finding
from fuelclient.model.plugin import Plugin
from fuelclient.tui.presenters import lists, problems
from fuelclient.tui.presenters.table import Line
from fuelclient.tui.requests import AskEnabling, AskSource, Request
from fuelclient.tui.routes import Looks, Route, View
from fuelclient.tui.screens.graph import GraphScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import VirtualTable


class DetailsScreen(GraphScreen):
    """A list, and the details of the row under its cursor."""

    LIST: ClassVar[lists.Listing]
    OPENS_ROWS = True
    """Whether Enter does something."""

    def body(self) -> Panes:
        table = VirtualTable(self.glyphs, chooses=self.OPENS_ROWS)
        return Panes("pair", Pane(self.LIST.name, table), Pane(self.LIST.detail_title, Details()))

    def detail(self, row: int) -> list[Line]:
        """The lines about one row of the list."""
        return self.LIST.detail(self.data, row, self.glyphs)

    def present(self) -> None:
        table = self.LIST.table(self.data, self.glyphs)
        index = table.ids.index(self.route.focus) if self.route.focus in table.ids else 0
        self.main.show(table, cursor=index, keep=True)

    def show_detail(self) -> None:
        self.details.show(self.detail(self.row_here) if self.row_here >= 0 else [])

    def shown(self) -> Route:
        here = self.main.table.ids[self.main.row] if self.in_side_pane() and self.main.row >= 0 else ""
        return replace(self.route, focus=here) if self.filled else self.route

    def on_moved(self) -> None:
        self.show_detail()


class RolesScreen(DetailsScreen):
    """The roles of an environment, and what each brings."""

    HELP = "What each role brings, which roles it conflicts with, which nodes have it. Enter shows its tasks as lanes."
    LIST = lists.ROLES

    def open(self) -> None:
        self.ui.go(self.route.to(View.LANES, query=condition("role", self.name_here(), ":")))


class NodesScreen(DetailsScreen):
    """The nodes of an environment, and what runs on each."""

    HELP = "The machines of the environment. Enter shows what runs on one, in order: node=1 is the node of that id."
    LIST = lists.NODES

    def open(self) -> None:
        query = condition("node", self.name_here())
        self.ui.go(replace(self.route.to(View.PREVIEW, query=query), looks=Looks(switched=True)))


class PluginsScreen(DetailsScreen):
    """Installed plugins: what each adds and overrides, where it clashes, what enabling it would change."""

    HELP = (
        "Installed plugins, and what each does in this environment: + adds a task, ~ overrides one. d shows what"
        " enabling the one under the cursor would change: tasks, attributes and the order. Nothing is enabled."
    )

    LIST = lists.PLUGINS
    OPENS_ROWS = False
    BINDINGS = [Binding("d", "what_if", "if enabled", id="plugins.what-if")]

    def detail(self, row: int) -> list[Line]:
        plugin, request = self.data.plugins[row], self._what_if_request()
        if request is None:
            return super().detail(row)
        if (answer := self.ui.gateway.answer_once(request)) is None:
            return [(line,) for line in self.missing_lines(request)]
        if isinstance(answer, str):
            return [(answer,)]
        return lists.if_enabled(answer, f"{plugin.name} {plugin.version}", self.glyphs)

    def present(self) -> None:
        self.panes.hide_others(not self.data.plugins)
        super().present()

    def action_what_if(self) -> None:
        """Toggle between what enabling the plugin would change and the plugin itself."""
        here = self._plugin_here()
        if self.switched:
            self.switched = False
        elif here is None:
            self.notify("No plugin is under the cursor.")
            return
        elif self.data.release.id in here.releases:
            self.notify("It is this environment's release.")
            return
        elif self._is_enabled_here(here):
            self.notify("It is enabled here: what it adds and overrides stands beside it.")
            return
        else:
            self.switched = True
            for request in self.other_requests():
                self.ui.gateway.revisit(request)
        self.ui.log_route(self.shown())
        self.show_detail()

    def _plugin_here(self) -> Plugin | None:
        return self.data.plugins[self.row_here] if self.row_here >= 0 else None

    def _is_enabled_here(self, plugin: Plugin) -> bool:
        return self.route.env in plugin.clusters or self.data.release.id in plugin.releases

    def _what_if_request(self) -> AskEnabling | None:
        """The request for what enabling the plugin under the cursor would change, if the screen shows that."""
        here = self._plugin_here()
        if here is None or not self.switched or self._is_enabled_here(here):
            return None
        return AskEnabling(self.route.env, self.route.graph_type, here.id)

    def show_detail(self) -> None:
        super().show_detail()
        self.panes.note(1, "if it were enabled" if self._what_if_request() else "")
        self.ui.decorate()

    def show_other_answers(self) -> None:
        super().show_other_answers()
        if self.switched:
            self.show_detail()

    def other_requests(self) -> tuple[Request[object], ...]:
        request = self._what_if_request()
        return (*super().other_requests(), *([request] if request is not None else []))

    def shown(self) -> Route:
        if (request := self._what_if_request()) is None:
            return replace(super().shown(), looks=Looks())
        return replace(self.route, focus=str(request.plugin), looks=self.looks())


class ProblemsScreen(GraphScreen):
    """Every finding about the graph, and its source line."""

    HELP = "Every finding, the worst first; below it its source, where the file is on this machine. Enter browses."
    PLACEHOLDER = "filter: error, code:G030, task:keystone, !info"

    findings: Sequence[Finding] = ()

    def body(self) -> Panes:
        return Panes("stack", Pane("findings", VirtualTable(self.glyphs)), Pane("source", Details()))

    def present(self) -> None:
        before = self.findings[self.row_here] if self.row_here >= 0 else None
        self.findings = problems.sorted_findings(self.data)
        index = problems.row_of(self.findings, before, self.main.row)
        table = problems.table(self.data, self.glyphs)
        self.main.show(table, cursor=index, query=self.read_filter(table), keep=True)
        self.panes.hide_others(not self.findings)

    def show_other_answers(self) -> None:
        super().show_other_answers()
        self.on_moved()

    def on_moved(self) -> None:
        if self.row_here < 0:
            self.details.show([])
            return
        finding, source = self.findings[self.row_here], None
        if finding.place.file and finding.place.line:
            source = self.ui.gateway.answer(AskSource(finding.place.file, finding.place.line))
        self.details.show(problems.detail(finding, source, self.glyphs, os.getcwd()))

    def task_row(self) -> int:
        task = self.findings[self.row_here].task if self.row_here >= 0 else ""
        row = self.data.study.row_named(task) if task else None
        return -1 if row is None else row

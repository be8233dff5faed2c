"""Problems: the findings about a graph."""

from __future__ import annotations

import os
from collections.abc import Sequence

from textual import on

from fuelclient.model.finding import Finding
from fuelclient.tui.presenters import problems
from fuelclient.tui.requests import AskSource
from fuelclient.tui.screens.graph_base import GraphScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Chosen, Moved, VirtualTable


class ProblemsScreen(GraphScreen):
    """Every finding about the graph, and its source line."""

    HELP = "Every finding, the worst first; below it its source, where the file is on this machine. Enter browses."
    PLACEHOLDER = "filter: error, code:G030, task:keystone, !info"

    findings: Sequence[Finding] = ()

    def body(self) -> Panes:
        return Panes("stack", Pane("findings", VirtualTable(self.glyphs)), Pane("source", Details()))

    def present(self) -> None:
        before = self.findings[self.main.row] if 0 <= self.main.row < len(self.findings) else None
        self.findings = problems.ordered(self.data)
        place = problems.place_of(self.findings, before, self.main.row)
        table = problems.table(self.data, self.glyphs)
        self.main.show(table, cursor=place, query=self.read_filter(table), keep=True)
        self.panes.only(0, alone=not self.findings)

    def show_other_answers(self) -> None:
        super().show_other_answers()
        self._source(self.main.row)

    @on(Moved)
    def _moved(self) -> None:
        if self.filled:
            self._source(self.main.row)

    def _source(self, row: int) -> None:
        if not 0 <= row < len(self.findings):
            self.query_one(Details).show([])
            return
        finding = self.findings[row]
        source = None
        if finding.place.file and finding.place.line:
            source = self.ui.gateway.answer(AskSource(finding.place.file, finding.place.line))
        self.query_one(Details).show(problems.detail(finding, source, self.glyphs, os.getcwd()))

    def task_row(self) -> int:
        if not self.filled or not 0 <= self.main.row < len(self.findings):
            return -1
        task = self.findings[self.main.row].task
        row = self.data.study.named(task) if task else None
        return -1 if row is None else row

    @on(Chosen)
    def _chosen(self) -> None:
        row = self.task_row()
        if row >= 0:
            self.open_task(row)

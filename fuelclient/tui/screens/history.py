"""History: the executions of an environment, or of all, and their task instances."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from textual import on
from textual.binding import Binding

from fuelclient.model.run import Run
from fuelclient.tui.messages import Chosen, Moved
from fuelclient.tui.presenters import history, run
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.presenters.words import count
from fuelclient.tui.requests import AskRun, AskRuns, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.watched import Watched
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.vtable import VirtualTable


class HistoryScreen(ViewScreen):
    """All runs, the last one first; the task instances of the one under the cursor; and what became of one of them."""

    HELP = (
        "What was executed, the last run first. Enter opens a run, live or ended; a shows the runs of all"
        " environments. Armed with A: e executes, x stops, X kills, u resumes, D deletes the one under the cursor."
    )
    PLACEHOLDER = "filter: status:error, word, !word"

    BINDINGS = [
        Binding("a", "everywhere", "all environments", id="history.all"),
        Binding("x", "app.stop(False)", "stop", id="act.stop"),
        Binding("X,shift+x", "app.stop(True)", "kill", id="act.kill"),
        Binding("u", "app.resume", "resume", id="act.resume"),
        Binding("D,shift+d", "app.delete", "delete", id="act.delete"),
    ]

    def request(self) -> Request[object]:
        return AskRuns(self.route.env)

    _asked: AskRun | None = None  # it may be wanted before the screen is built

    def body(self) -> Panes:
        self.instances = VirtualTable(self.glyphs, id="instances", chooses=False)
        self._asked = None
        self._shown: Watched | None = None
        return Panes(
            "over", Pane("runs", VirtualTable(self.glyphs, id="runs")), Pane("task instances", self.instances),
            Pane("this run", Details()),
        )  # fmt: skip

    def fill(self, answer: object) -> None:
        self.runs = cast(tuple[Run, ...], answer)
        before = self.run_here() if self.filled else None
        wanted = before.id if before is not None else self.route.run
        place = next((place for place, one in enumerate(self.runs) if one.id == wanted), 0)
        names_of = self.ui.known.environment_names()
        table = history.table(self.runs, self.route.env, names_of, self.ui.clock(), self.glyphs)
        self.main.show(table, cursor=place, keep=True)
        self.panes.note(0, count(len(self.runs), "run"))
        self.panes.only(0, alone=not self.runs)

    def missed(self, request: Request[object]) -> None:
        super().missed(request)
        if request == self._asked and request in self.ui.gateway.failed and not len(self.instances.table):
            self.instances.show(Table((), empty=self.why_missed(request)))

    def told(self) -> None:
        self._show_run()

    def asked(self) -> tuple[Request[object], ...]:
        return (self.request(), *([self._asked] if self._asked is not None else []))

    def is_live(self) -> bool:
        """Whether what is shown changes by itself."""
        return self.filled and any(not one.is_final for one in self.runs)

    def renewed(self) -> None:
        """Ask for the runs again, and for the one under the cursor when it goes on."""
        self.ui.gateway.ask(self.request())
        found = self.run_here()
        waiting = self._asked in self.ui.gateway.pending or self._asked in self.ui.gateway.failed
        if found is not None and not found.is_final and not waiting:
            self.ui.gateway.ask(AskRun(found.id))

    def run_here(self) -> Run | None:
        """The run under the cursor."""
        return self.runs[self.main.row] if self.filled and 0 <= self.main.row < len(self.runs) else None

    def env_here(self) -> int:
        found = self.run_here()
        return self.route.env or (found.cluster_id if found is not None else 0)

    def state(self) -> Route:
        found = self.run_here()
        return replace(self.route, run=found.id if found else 0, query=self.filter_bar.text, looks=self.looks())

    def action_everywhere(self) -> None:
        """The runs of all environments, or of this one again."""
        env = 0 if self.route.env else self.env_here()
        if env or self.route.env:
            self.ui.go(Route(View.HISTORY, env, run=self.state().run))

    def _show_run(self) -> None:
        """Show the run under the cursor as soon as it is known; nobody waits for the one before any more."""
        found = self.run_here()
        if found is None:
            self.instances.show(history.NOTHING)
            self.query_one(Details).show([])
            self.panes.note(1, "")
            return
        asked = AskRun(found.id)
        if self._asked is not None and self._asked != asked:
            self.ui.gateway.drop(self._asked)
        self._asked = asked
        watched = self.ui.gateway.answer(asked)
        if watched is None and (self._shown is None or self._shown.run.id != found.id):
            self.instances.show(Table((), empty=(f"Reading {asked.what} ...",)))
            self.missed(asked)
        if watched is not None and watched is not self._shown:
            self._shown = watched
            names_of = self.ui.known.node_names(found.cluster_id)
            self.instances.show(
                run.Instances(watched, self.glyphs, names_of, self.ui.clock()), cursor=self.instances.row
            )
            self.panes.note(1, f"run {found.id}")
            self._show_detail()

    def _show_detail(self) -> None:
        """The run; where its instances have the focus, the one under the cursor."""
        watched = self._shown
        if watched is None:
            return
        now, row = self.ui.clock(), self.instances.row
        faults = run.faults(watched, self.glyphs)
        lines = [*run.about(watched, now, self.glyphs), *([(), *faults] if faults else [])]
        if self.instances.has_focus and row >= 0:
            names_of = self.ui.known.node_names(watched.run.cluster_id)
            lines = [*run.detail(watched, row, names_of, now, self.glyphs), (), *lines]
        self.query_one(Details).show(lines)

    def on_descendant_focus(self) -> None:
        if self.filled:
            self._show_detail()

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        if self.filled and message.table is self.main:
            self._show_run()
        elif self.filled:
            self._show_detail()

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        found = self.runs[message.row]
        self.ui.go(Route(View.RUN, found.cluster_id, run=found.id))

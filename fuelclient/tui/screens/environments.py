"""The screens `environments` (the first one) and `history`: the runs of one environment or of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.binding import Binding

from fuelclient.model.run import Run
from fuelclient.tui.presenters import environments, run
from fuelclient.tui.presenters.formatting import count
from fuelclient.tui.requests import AskOverview, AskRuns, Overview, Request
from fuelclient.tui.routes import Route, View
from fuelclient.tui.run_requests import AskRun, RunState
from fuelclient.tui.screens.base import RUN_BINDINGS, ViewScreen
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Moved, VirtualTable


class EnvironmentsScreen(ViewScreen):
    """All environments, and the one under the cursor in detail."""

    HELP = "All environments. Enter opens the one under the cursor at its roles; 1 to 8 open it at another view."

    BINDINGS = [Binding("H,shift+h", "history", "all runs", id="environments.history")]

    runs: tuple[Run, ...] | None = None

    def request(self) -> Request[object]:
        return AskOverview()

    def body(self) -> Panes:
        return Panes("stack", Pane("environments", VirtualTable(self.glyphs)), Pane("selected environment", Details()))

    def fill(self, overview: Overview, /) -> None:
        rows = [row for row, cluster in enumerate(overview.clusters) if str(cluster.id) == self.route.focus]
        self.overview, self.runs = overview, None
        self.ui.gateway.revisit(AskRuns())
        self.main.show(environments.table(overview, None, self.glyphs), cursor=(rows or [0])[0], keep=True)
        self.panes.hide_others(not overview.clusters)

    def show_other_answers(self) -> None:
        """Show the last run of each environment."""
        runs = self.ui.gateway.answer_once(AskRuns()) if self.overview.clusters else ()
        if runs is not None and runs is not self.runs:
            self.runs = runs
            self.main.show(environments.table(self.overview, runs, self.glyphs), cursor=self.main.row, keep=True)

    def other_requests(self) -> tuple[Request[object], ...]:
        return (AskRuns(),)

    def live(self) -> Sequence[Request[object]]:
        return () if not self.filled or all(run.is_final for run in self.runs or ()) else (AskRuns(),)

    def action_history(self) -> None:
        self.ui.go(Route(View.HISTORY))

    def shown(self) -> Route:
        return replace(self.route, focus=str(self.env_here() or ""), beside=True) if self.in_side_pane() else self.route

    def env_here(self) -> int:
        return self.overview.clusters[self.row_here].id if self.row_here >= 0 else 0

    def on_moved(self) -> None:
        row = self.row_here
        self.details.show(environments.detail(self.overview, row, self.glyphs) if row >= 0 else [])

    def open(self) -> None:
        self.ui.go(Route(View.ROLES, self.env_here()))


class HistoryScreen(ViewScreen):
    """Runs, the last one first, with the instances and details of the run under the cursor."""

    HELP = (
        "The runs, the last one first. Enter opens a run, live or ended; a shows the runs of all"
        " environments. Armed with A: e executes, x stops, X kills, u resumes, D deletes the one under the cursor."
    )
    PLACEHOLDER = "filter: status:error, word, !word"

    BINDINGS = [Binding("a", "everywhere", "all environments", id="history.all"), *RUN_BINDINGS]

    def request(self) -> Request[object]:
        return AskRuns(self.route.env)

    _requested: AskRun | None = None
    _shown: RunState | None = None

    def body(self) -> Panes:
        self.instances = VirtualTable(self.glyphs, id="instances", chooses=False)
        return Panes(
            "over", Pane("runs", VirtualTable(self.glyphs, id="runs")), Pane("task instances", self.instances),
            Pane("this run", Details()),
        )  # fmt: skip

    def fill(self, runs: tuple[Run, ...], /) -> None:
        self.runs = runs
        row = next((row for row, shown in enumerate(self.runs) if shown.id == self.route.run), 0)
        table = run.history(self.runs, self.route.env, self.ui.environment_names(), self.ui.clock(), self.glyphs)
        self.main.show(table, cursor=row, keep=True)
        self.panes.note(0, count(len(self.runs), "run"))
        self.panes.hide_others(not self.runs)

    def other_requests(self) -> tuple[Request[object], ...]:
        return () if self._requested is None else (self._requested,)

    def live(self) -> Sequence[Request[object]]:
        """While any run is in progress: the list of runs, and the run under the cursor if it is in progress."""
        here = self.run_here()
        if not self.filled or all(shown.is_final for shown in self.runs):
            return ()
        return (self.request(),) if here is None or here.is_final else (self.request(), AskRun(here.id))

    def run_here(self) -> Run | None:
        return self.runs[self.row_here] if self.row_here >= 0 else None

    def env_here(self) -> int:
        here = self.run_here()
        return self.route.env or (here.cluster_id if here is not None else 0)

    def state(self) -> Route:
        here = self.run_here()
        return replace(self.route, run=here.id if here else 0, query=self.filter_bar.text, looks=self.looks())

    def shown(self) -> Route:
        return replace(self.state(), beside=True) if self.in_side_pane() else self.route

    def action_everywhere(self) -> None:
        """Toggle between the runs of all environments and of one."""
        env = 0 if self.route.env else self.env_here()
        if env or self.route.env:
            self.ui.go(Route(View.HISTORY, env, run=self.state().run))

    def show_other_answers(self) -> None:
        """Show the run under the cursor, and cancel the request for the previous one."""
        if (here := self.run_here()) is None:
            self.instances.show(run.NO_RUN)
            self.details.show([])
            self.panes.note(1, "")
            return
        request = AskRun(here.id)
        if self._requested is not None and self._requested != request:
            self.ui.gateway.drop(self._requested)
        self._requested = request
        if (state := self.ui.gateway.answer_once(request)) is None:
            if self._shown is None or self._shown.run.id != here.id:
                self.instances.show_text(*self.missing_lines(request))
            return
        state.ask, keep = self.ui.gateway.answer_once, state is self._shown
        has_any, has_more = state.arrived()
        if has_more or not keep:
            self._shown = state
            table = run.Instances(state, self.glyphs, self.ui.node_names(here.cluster_id), self.ui.clock())
            self.instances.show(table, cursor=self.instances.row, keep=keep)
            self.panes.note(1, f"run {here.id}")
        if has_any or not keep:
            self.instances.refresh()
            self._show_detail()

    def _show_detail(self) -> None:
        """Show the details of the run. If the instances have the focus, show that under the cursor above them."""
        if (state := self._shown) is None:
            return
        now, row = self.ui.clock(), self.instances.row
        faults = run.faults(state, self.glyphs)
        lines = [*run.about(state, now, self.glyphs), *([(), *faults] if faults else [])]
        if self.instances.has_focus and row >= 0:
            lines = [*run.detail(state, row, self.ui.node_names(state.run.cluster_id), now, self.glyphs), (), *lines]
        self.details.show(lines)

    def on_descendant_focus(self) -> None:
        if self.filled:
            self._show_detail()

    def on_moved(self, message: Moved) -> None:
        if self.filled and message.widget is self.main:
            self.show_other_answers()
        elif self.filled:
            self._show_detail()

    def open(self) -> None:
        if (chosen := self.run_here()) is not None:
            self.ui.go(Route(View.RUN, chosen.cluster_id, run=chosen.id))

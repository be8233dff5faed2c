"""The screen of a run: a matrix of nodes and tasks, the task instances, and the log of one instance."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Static

from fuelclient.insight.progress import Key
from fuelclient.insight.query import Rows
from fuelclient.model.run import Event, Run
from fuelclient.tui.gateway import Feed
from fuelclient.tui.presenters import run
from fuelclient.tui.presenters.run import Grid
from fuelclient.tui.presenters.table import Table
from fuelclient.tui.requests import AskLog, Request
from fuelclient.tui.run_requests import FAILED, AskRun, RunState
from fuelclient.tui.screens.base import RUN_BINDINGS, ViewScreen
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.details import Details, LogTail
from fuelclient.tui.widgets.matrix import Matrix
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.virtual_table import Moved, VirtualTable

DRAIN = 0.1
"""Seconds between updates of the screen with new events."""

TICK = 1.0
"""Seconds between refreshes of the filter of a live run, which may have a hundred thousand rows, and of the log."""


class RunScreen(ViewScreen):
    """One run. It continues if the user leaves the screen or the UI."""

    HELP = (
        "A run, live or ended. The matrix has a line for each node and a sign for each task instance; above is the name"
        " of the chosen one, below its log. f shows faults only. Armed with A: x stops, X kills, u resumes, D deletes."
    )
    PLACEHOLDER = "filter: status:error, node:node-3, !word"
    MAIN = 1

    DEFAULT_CSS = "RunScreen #advice { max-height: 3; padding: 0 1 0 2; text-style: bold; display: none; }"

    BINDINGS = [
        Binding("f", "faults", "faults only", id="run.faults"),
        Binding("F,shift+f", "tail", "follow the log", show=False, id="run.follow"),
        *RUN_BINDINGS,
    ]

    number = -1
    """The number of the chosen instance, or -1."""
    _has_user_chosen = _is_connection_lost = is_behind = _is_filter_late = False
    _sought: Key | str = ""
    """The key or name of the instance to go to, until the cells of a long run have been read."""
    _run_state: RunState
    _feed: Feed | None = None
    _log: AskLog | None = None

    def request(self) -> Request[object]:
        return AskRun(self.route.run)

    def above(self) -> Iterator[Widget]:
        yield Bar(id="progress", gap=2)
        yield Bar(id="counts", gap=2)
        yield Static(id="advice", markup=False)

    def body(self) -> Panes:
        self.matrix = Matrix(self.glyphs, id="matrix")
        self.table = VirtualTable(self.glyphs, id="instances", chooses=False)
        self.log_tail = LogTail(id="tail")
        self.detail = Details(id="this")
        return Panes(
            "run", Pane("nodes and tasks", self.matrix), Pane("task instances", self.table),
            Pane("log", self.log_tail), Pane("this instance", self.detail),
        )  # fmt: skip

    def on_mount(self) -> None:
        self.set_interval(DRAIN, self._drain)
        self.set_interval(TICK, self._tick)

    def on_unmount(self) -> None:
        self._follow(None)

    def fill(self, state: RunState, /) -> None:
        chosen = self._run_state.key(self.number) if self._has_user_chosen and self.number >= 0 else None
        self._sought = chosen or ("" if self.filled else self.route.focus)
        state.ask = self.ui.gateway.answer_once
        self._run_state = state
        self._seek()
        self.ui.forget_runs(state.run.cluster_id)
        self._show()
        self._follow(state.run)

    def _seek(self) -> None:
        """Choose the instance that was chosen before, or else an interesting one."""
        state = self._run_state
        found = state.cells.find(self._sought) if self._sought else -1
        self._has_user_chosen = self._has_user_chosen or found >= 0
        self.number = found if found >= 0 else state.interesting()
        if state.cells.tasks:
            self._sought = ""

    def other_requests(self) -> tuple[Request[object], ...]:
        return (*self._run_state.missing, *(() if self._log is None else (self._log,)))

    def empty(self) -> None:
        self._follow(None)
        self._log, self.number, self._has_user_chosen = None, -1, False
        super().empty()
        self.matrix.clear()
        for name in ("#progress", "#counts"):
            self.query_one(name, Bar).show(())
        self._show_advice("")

    def _follow(self, run: Run | None) -> None:
        """Read the events of a live run from its beginning; events that were applied before have no effect."""
        if self._feed is not None:
            self._feed.stop()
        self._feed = None if run is None or run.is_final else self.ui.gateway.follow(run.id)

    # live updates

    def _drain(self) -> None:
        """Apply all batches of the feed, and draw once."""
        if self.is_behind:
            self._show_instance()
        if self._feed is None:
            return
        state, batches = self._run_state, self._feed.take()
        for batch in batches:
            if batch.gone:
                self.ui.gateway.renew(self.request())  # it fails, which shows that the run is gone
            elif batch.trouble:
                self._is_connection_lost = True
                self.ui.trouble = batch.trouble
        if runs := [batch.run for batch in batches if batch.run is not None]:
            self._update(state, runs[-1], [event for batch in batches for event in batch.events])
        if not state.run.is_final:
            self._bars(state)

    def _update(self, state: RunState, run: Run, events: list[Event]) -> None:
        if self._is_connection_lost:
            self._is_connection_lost = False
            self.ui.trouble = ""
        ended = run.is_final and not state.run.is_final
        state.update(run)
        changed, has_new = state.apply(events)
        if ended or has_new:
            self.ui.gateway.renew(self.request())  # the whole history, with return codes and summaries
            self.ui.forget_runs(run.cluster_id)
        if changed:
            self._is_filter_late = self.switched or bool(self.filter_bar.text)
            self._redraw(state, changed)
            self.is_behind = self.is_behind or self.number in changed

    def _redraw(self, state: RunState, changed: Collection[int]) -> None:
        """Redraw instances that changed, and running ones for their times. Do nothing if only faults are shown."""
        instances = self._instances()
        instances.now = self.ui.clock()
        if isinstance(instances.numbers, range):
            self.matrix.redraw({state.cells.lines[number] for number in changed})
            self.table.changed({*changed, *state.progress.running})

    def _tick(self) -> None:
        """Filter again if instances have changed, else redraw the times of running ones. While the run is live, read
        the log of a running instance again; choose another instance if it has ended and the user has chosen none."""
        if self._feed is None:
            return
        state = self._run_state
        if self._is_filter_late:
            self._is_filter_late = False
            self._show()
        else:
            self._redraw(state, ())
        status = self._status()
        if state.run.is_final or not status:
            return
        if status == "running" and self._log is not None and self._log not in self.ui.gateway.pending:
            self.ui.gateway.ask(self._log)
        if status not in ("running", *FAILED) and not (self._has_user_chosen or self.switched or self.filter_bar.text):
            self.number = state.interesting()
            self.table.go_to(self.number)
            self._show_instance()

    def _status(self) -> str:
        """The status of the chosen instance; empty if there is none."""
        return self._run_state.word(self.number) if self.number >= 0 else ""

    # showing

    def terms(self, table: Table) -> tuple[Collection[str], Rows, Collection[str]]:
        fields, kind, _ = super().terms(table)
        return fields, kind, {name for _, name in self._run_state.cells.tasks} if self._answer is not None else ()

    def _instances(self) -> run.Instances:
        return cast(run.Instances, self.table.table)

    def _show(self) -> None:
        """Show the whole run again, with the cursors on the chosen instance."""
        state = self._run_state
        names_of = self.ui.node_names(state.run.cluster_id)
        only = state.faults() if self.switched else None
        table = run.Instances(state, self.glyphs, names_of, self.ui.clock(), only)
        place = self.number if only is None else only.index(self.number) if self.number in only else 0
        self.table.show(table, cursor=place, query=self.read_filter(table), keep=True)
        self.matrix.show(Grid(state, self.glyphs, names_of, only))
        self.panes.note(0, "faults only" if self.switched else "")
        self._bars(state)
        self._show_instance()

    def _bars(self, state: RunState) -> None:
        self.query_one("#progress", Bar).show(run.bar(state, self.ui.clock(), self.size.width, self.glyphs))
        self.query_one("#counts", Bar).show(run.counts(state, self.glyphs))
        self._show_advice(run.advice(state))

    def _show_advice(self, advice: str) -> None:
        line = self.query_one("#advice", Static)
        if line.content != advice:  # an update lays the screen out again
            line.update(advice)
            line.display = bool(advice)

    def _point_matrix(self) -> None:
        """Move the cursor of the matrix to the chosen instance."""
        place = self.matrix.grid.position(self.number) if self.matrix.grid else None
        if place is not None:
            self.matrix.go_to(*place)

    def _show_instance(self) -> None:
        """Show the chosen instance and its log. For new events `_drain` calls it at most ten times a second, because
        it may cause a new layout."""
        self.is_behind = False
        self._point_matrix()
        if not self._status():
            self.detail.show([])
            self.log_tail.show_log("", [])
            return
        state, now = self._run_state, self.ui.clock()
        lines = run.detail(state, self.number, self.ui.node_names(state.run.cluster_id), now, self.glyphs)
        self.detail.show([*lines, (), *run.about(state, now, self.glyphs)])
        self._ask_log(state)

    # the log

    def _ask_log(self, state: RunState) -> None:
        """Request the log of the chosen instance, and cancel the request for another one."""
        part, wanted = state.part(self.number), None
        row = part and part[0].rows[part[1]]
        if row and row.node is not None and self._status() in ("running", "ready", *FAILED):
            wanted = AskLog(row.run_id, row.task, str(row.node))
        if self._log is not None and self._log != wanted:
            self.ui.gateway.drop(self._log)
        if wanted is not None and wanted == self._log:
            self.ui.gateway.ask(wanted)  # it may have grown
        self._log = wanted
        self._show_log()

    def show_other_answers(self) -> None:
        """Show what was missing of a long run, and the log of the chosen instance."""
        has_any, has_more = self._run_state.arrived()
        if has_more:
            if self._sought:
                self._seek()
            self._show()
        elif has_any:
            self.table.refresh()
            if self._log is None:  # perhaps because its row was missing; reading a log again takes time
                self._show_instance()
        self._show_log()

    def _show_log(self) -> None:
        state, status = self._run_state, self._status()
        if not status:
            return
        name, why = state.name(self.number), run.why(state, self.number)
        self.panes.note(2, name)
        if not name:
            lines = ["Reading ..."]
        elif self._log is None:
            lines = [f"{status}{f': {why}' if why else ''}", "It printed nothing."]
        elif (printed := self.ui.gateway.answer_once(self._log)) is None:
            lines = self.missing_lines(self._log)
        else:
            lines = list(printed) or ["It printed nothing."]
        self.log_tail.show_log(name, lines)

    # keys

    def action_faults(self) -> None:
        """Toggle between all instances and those that failed, or did not run because of a failure or stop."""
        if self.filled:
            self.switched = not self.switched
            self._show()
            if not self.table.table.waits:
                self.number = self._number_of(self.table.row)
            self._show_instance()
            self.show_totals()

    def action_tail(self) -> None:
        """Toggle whether the log stays at its end as it grows."""
        self.log_tail.following = not self.log_tail.following

    def _number_of(self, row: int) -> int:
        return self._instances().numbers[row] if row >= 0 else -1

    def on_moved(self, message: Moved) -> None:
        """Keep the cursors of matrix and table on the same instance. A cell may have no instance."""
        in_matrix = message.widget is self.matrix
        number = self.matrix.number if in_matrix else self._number_of(self.table.row)
        if not self.filled or (not in_matrix and (number == self.number or self.table.table.waits)):
            return
        self.number, self._has_user_chosen, self.is_behind, self._sought = number, True, True, ""
        if not in_matrix:
            self._point_matrix()
        elif number >= 0:
            numbers = self._instances().numbers
            self.table.go_to(number if isinstance(numbers, range) else numbers.index(number))

    def show_totals(self) -> None:
        super().show_totals()
        self.panes.fit_first_pane(len(self.matrix.grid.lines) if self.matrix.grid else 1)

    def run_here(self) -> Run | None:
        return self._run_state.run if self.filled else None

    @property
    def done(self) -> int:
        """The number of instances that are done."""
        return self._run_state.progress.done if self.filled else 0

    def name_here(self) -> str:
        return self._run_state.name(self.number) if self.number >= 0 else ""

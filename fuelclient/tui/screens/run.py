"""Run: one execution, live or ended: a matrix of nodes and tasks, its task instances, and what one of them prints."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import on
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Static

from fuelclient.errors import NotFound
from fuelclient.insight.query import parse
from fuelclient.tui.gateway import reason
from fuelclient.tui.messages import Chosen, Moved, Pointed
from fuelclient.tui.presenters import run
from fuelclient.tui.presenters.matrix import Grid
from fuelclient.tui.requests import AskLog, AskRun, Request
from fuelclient.tui.routes import Route
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.watched import Watched
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.logtail import LogTail
from fuelclient.tui.widgets.matrix import Matrix
from fuelclient.tui.widgets.panes import Pane, Panes
from fuelclient.tui.widgets.vtable import VirtualTable

if TYPE_CHECKING:
    from fuelclient.model.run import Event, Run
    from fuelclient.tui.workers import Feed

DRAIN = 0.1
"""Seconds between two looks into the queue of events: what comes meanwhile is drawn at once."""

SIFT = 1.0
"""Seconds between two filterings of a run that changes: the filter may look into a hundred thousand rows."""


class RunScreen(ViewScreen):
    """One run. It only follows: leaving it, or the UI, never hurts the run."""

    HELP = (
        "A run, live or ended. The matrix has a line for each node and a sign for each task instance: its name stands"
        " above, what it printed below. f shows faults only. Armed with A: x stops, X kills, u resumes, D deletes."
    )
    PLACEHOLDER = "filter: status:error, node:node-3, !word"
    MAIN = 1

    DEFAULT_CSS = """
    RunScreen #advice { height: auto; max-height: 3; padding: 0 1 0 2; text-style: bold; display: none; }
    """

    BINDINGS = [
        Binding("f", "faults", "faults only", id="run.faults"),
        Binding("F,shift+f", "tail", "follow the log", show=False, id="run.follow"),
        Binding("x", "app.stop(False)", "stop", id="act.stop"),
        Binding("X,shift+x", "app.stop(True)", "kill", id="act.kill"),
        Binding("u", "app.resume", "resume", id="act.resume"),
        Binding("D,shift+d", "app.delete", "delete", id="act.delete"),
    ]

    def __init__(self, route: Route) -> None:
        super().__init__(route)
        self.faults = route.looks.switched
        self.number = -1
        self._touched = False
        self.is_behind = self._is_unsifted = False
        self._watched: Watched | None = None
        self._feed: Feed | None = None
        self._lost = False
        self._log: AskLog | None = None
        self._advice: str | None = None
        self._since_sift = self._since_log = self._since_step = 0.0

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

    def on_unmount(self) -> None:
        if self._feed is not None:
            self._feed.stop()

    def fill(self, answer: object) -> None:
        watched = cast(Watched, answer)
        before, self._watched = self._watched, watched
        if before is not None and 0 <= self.number < len(before.rows):
            self.number = watched.number_of(before.rows[self.number])
        if before is None and self.route.focus:
            names = (number for number in range(len(watched.rows)) if watched.name(number) == self.route.focus)
            self.number = next(names, -1)
            self._touched = self.number >= 0
        if not self._touched or not 0 <= self.number < len(watched.rows):
            self.number = self._interesting(watched)
        self.ui.run_found(watched.run)
        self._show()
        self._follow()

    def asked(self) -> tuple[Request[object], ...]:
        return (self.request(), *([self._log] if self._log is not None else []))

    def empty(self) -> None:
        if self._feed is not None:
            self._feed.stop()
        self._feed = self._watched = self._log = None
        self.number, self._touched = -1, False
        super().empty()
        self.matrix.clear()
        for name in ("#progress", "#counts"):
            self.query_one(name, Bar).show(())
        self.query_one("#advice").display, self._advice = False, None

    def missed(self, request: Request[object]) -> None:
        super().missed(request)
        if request == self._log and self._watched is not None:
            self._show_log(self._watched)

    def told(self) -> None:
        if self._watched is not None:
            self._show_log(self._watched)

    @staticmethod
    def _interesting(watched: Watched) -> int:
        """The first instance that failed, while the run goes on one that runs, else the first one."""
        for word in ("error",) if watched.run.is_final else ("running", "error"):
            if watched.counts[word]:
                return next(number for number in range(len(watched.rows)) if watched.word(number) == word)
        return 0 if watched.rows else -1

    def _follow(self) -> None:
        """Read the log of a run that has not ended, from its beginning: what is known already changes nothing."""
        if self._feed is not None:
            self._feed.stop()
            self._feed = None
        if self._watched is not None and not self._watched.run.is_final:
            self._feed = self.ui.gateway.follow(self._watched.run.id)

    # what happens meanwhile

    def _drain(self) -> None:
        """Take what the feed has brought, and draw it once."""
        if self.is_behind:
            self._show_one()
        watched = self._watched
        if self._feed is None or watched is None:
            return
        batches = self._feed.take()
        for batch in batches:
            if isinstance(batch.trouble, NotFound):
                self.ui.gateway.renew(self.request())  # which tells that it is gone
            elif batch.trouble is not None:
                self._lost = True
                self.ui.tell_trouble(f"{reason(batch.trouble)}  asking again in {batch.delay:.0f} s")
        told = [batch.found for batch in batches if batch.found is not None]
        if told:
            self._told(watched, told[-1], [event for batch in batches for event in batch.events])
        self._since_sift += DRAIN
        if self._since_sift >= SIFT:
            self._since_sift = 0.0
            self._sift(watched)
        if not watched.run.is_final:
            self._bars()
            self._renew_log(DRAIN)
            self._keep_up(DRAIN)

    def _told(self, watched: Watched, found: Run, events: list[Event]) -> None:
        """Bring the run up to date."""
        if self._lost:
            self._lost = False
            self.ui.tell_trouble("")
        ended = found.is_final and not watched.run.is_final
        watched.run = found
        changed, strange = watched.apply(events)
        if ended or strange:
            self.ui.gateway.renew(self.request())  # the whole history, with return codes and summaries
            self.ui.run_found(found)
        if changed:
            self._changed(changed)

    def _changed(self, changed: list[int]) -> None:
        self._is_unsifted = self.faults or bool(self.filter_bar.text)
        watched, instances = self._watched, self._instances()
        instances.now = self.ui.clock()
        if watched is not None and isinstance(instances.numbers, range):
            self.matrix.redraw({watched.cell[number][0] for number in changed})
            self.table.changed(_Touched(watched, frozenset(changed)))
        if self.number in changed:
            self.is_behind = True

    def _sift(self, watched: Watched) -> None:
        """Filter what has changed since; where nothing has, what runs goes on running, and its time with it."""
        if self._is_unsifted:
            self._is_unsifted = False
            self._show()
        elif isinstance(self._instances().numbers, range):
            self._instances().now = self.ui.clock()
            self.table.changed(_Touched(watched, frozenset()))

    def _keep_up(self, passed: float) -> None:
        """Show an instance that runs, as long as nobody has chosen one; each for a second at least."""
        watched = self._watched
        self._since_step += passed
        if watched is None or self._touched or self._since_step < SIFT or self.faults or self.filter_bar.text:
            return
        if 0 <= self.number < len(watched.rows) and watched.word(self.number) not in ("running", "error"):
            self._since_step = 0.0
            self.number = self._interesting(watched)
            self.table.go_to(self.number)
            self._pointed_at()
            self._show_one()

    # showing

    def _instances(self) -> run.Instances:
        return cast(run.Instances, self.table.table)

    def _show(self) -> None:
        """Show the run anew, with the cursors on the same instance."""
        watched = self._watched
        if watched is None:
            return
        names_of = self.ui.known.node_names(watched.run.cluster_id)
        only = [one for one in range(len(watched.rows)) if watched.is_fault(one)] if self.faults else None
        table = run.Instances(watched, self.glyphs, names_of, self.ui.clock(), only)
        place = self.number if only is None else only.index(self.number) if self.number in only else 0
        query = parse(self.filter_bar.text, table.keys, inverted=self.inverted)
        self.table.show(table, cursor=place, query=query, keep=True)
        self.matrix.show(Grid(watched, self.glyphs, names_of, only))
        self.panes.note(0, "faults only" if self.faults else "")
        self._bars()
        self._pointed_at()
        self._show_one()

    def _bars(self) -> None:
        watched = self._watched
        if watched is not None:
            now, width = self.ui.clock(), self.size.width
            self.query_one("#progress", Bar).show(run.progress(watched, now, width, self.glyphs))
            self.query_one("#counts", Bar).show(run.counts(watched, self.glyphs))
            advice = run.advice(watched)
            if advice != self._advice:
                self._advice = advice
                self.query_one("#advice", Static).update(advice)
                self.query_one("#advice").display = bool(advice)

    def _pointed_at(self) -> None:
        """Put the matrix where the table is."""
        place = self.matrix.grid.place(self.number) if self.matrix.grid else None
        if place is not None:
            self.matrix.go_to(*place)

    def _show_one(self) -> None:
        """Show the chosen instance: what became of it, and what it printed. A cursor that moves has that done ten
        times a second at most, since texts that wrap make the whole screen be laid out anew."""
        self.is_behind = False
        watched = self._watched
        if watched is None or not 0 <= self.number < len(watched.rows):
            self.detail.show([])
            self.log_tail.show_log("", [])
            return
        names_of = self.ui.known.node_names(watched.run.cluster_id)
        now = self.ui.clock()
        lines = run.detail(watched, self.number, names_of, now, self.glyphs)
        self.detail.show([*lines, (), *run.about(watched, now, self.glyphs)])
        self._ask_log(watched)

    # the log

    def _ask_log(self, watched: Watched) -> None:
        """Ask for the log of the chosen instance, and for no other any more."""
        row = watched.rows[self.number]
        wanted = None
        if row.node is not None and watched.word(self.number) in ("running", "ready", "error"):
            wanted = AskLog(row.run_id, row.task, str(row.node))
        if self._log is not None and self._log != wanted:
            self.ui.gateway.drop(self._log)
        if wanted is not None and wanted == self._log:
            self.ui.gateway.ask(wanted)  # it may have grown
        self._log = wanted
        self._since_log = 0.0
        self._show_log(watched)

    def _renew_log(self, passed: float) -> None:
        """Ask for the log again from time to time while its instance runs."""
        self._since_log += passed
        if self._log is None or self._since_log < 1.0 or self._log in self.ui.gateway.pending:
            return
        if self._watched is not None and self._watched.word(self.number) == "running":
            self._since_log = 0.0
            self.ui.gateway.ask(self._log)

    def _show_log(self, watched: Watched) -> None:
        if not 0 <= self.number < len(watched.rows):
            return
        name, said = watched.name(self.number), run.why(watched, self.number)
        self.panes.note(2, name)
        if self._log is None:
            word = watched.word(self.number)
            self.log_tail.show_log(name, [f"{word}{f': {said}' if said else ''}", "It printed nothing."])
            return
        lines = self.ui.gateway.answer(self._log)
        if lines is None:
            failed = self._log in self.ui.gateway.failed
            self.log_tail.show_log(name, self.why_missed(self._log) if failed else [f"Reading {self._log.what} ..."])
        else:
            self.log_tail.show_log(name, list(lines) or ["It printed nothing."])

    # keys

    def action_faults(self) -> None:
        """Show only what failed and what was never reached, or everything again."""
        if self._watched is not None:
            self.faults = not self.faults
            self._show()
            self.number = self._number_of(self.table.row)
            self._pointed_at()
            self._show_one()
            self.tell()

    def action_tail(self) -> None:
        """Stay at the end of the log, or stop there."""
        self.log_tail.following = not self.log_tail.following

    def _number_of(self, row: int) -> int:
        return self._instances().numbers[row] if row >= 0 and self._watched is not None else -1

    @on(Moved)
    def _moved(self, message: Moved) -> None:
        if self.filled and message.table is self.table and self._watched is not None:
            number = self._number_of(self.table.row)
            if number != self.number:
                self.number, self._touched = number, True
                self._pointed_at()
                self.is_behind = True

    @on(Pointed)
    def _pointed(self, message: Pointed) -> None:
        """Put the table where the matrix is; a cell without an instance stands for none."""
        message.stop()
        self.number, self._touched = self.matrix.number, True
        if self._watched is not None and self.number >= 0:
            numbers = self._instances().numbers
            self.table.go_to(self.number if isinstance(numbers, range) else numbers.index(self.number))
        self.is_behind = True

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        message.stop()

    def tell(self) -> None:
        super().tell()
        self.panes.fit(len(self.matrix.grid.lines) if self.matrix.grid else 1)

    def run_here(self) -> Run | None:
        """The run on the screen."""
        return self._watched.run if self._watched is not None else None

    @property
    def done(self) -> int:
        """How many instances need nothing more, as far as is known."""
        return self._watched.done if self._watched is not None else 0

    def name_here(self) -> str:
        return self._watched.name(self.number) if self._watched is not None and self.number >= 0 else ""

    def state(self) -> Route:
        return replace(self.route, focus=self.name_here(), query=self.filter_bar.text, looks=self.looks())

    def is_switched(self) -> bool:
        return self.faults


class _Touched(Container[int]):
    """The instances that look different since: they changed, or they run, and their time with them."""

    def __init__(self, watched: Watched, changed: frozenset[int]) -> None:
        self._watched, self._changed = watched, changed

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and (number in self._changed or self._watched.word(number) == "running")

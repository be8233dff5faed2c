"""The progress of a run, and the results of its task instances, as bars, a table, a matrix and details."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from fuelclient.insight import progress
from fuelclient.insight.query import Query, Term
from fuelclient.model.run import Run
from fuelclient.printing import plain_line
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.formatting import count, fact, names, node_name, node_words, title, value_text
from fuelclient.tui.presenters.table import Cell, Column, Distinct, Lazy, Line, Table, Tone, Value, sort_key
from fuelclient.tui.run_requests import RunState

_SIGNS = {
    "ready": ("ok", Tone.DIM),
    "running": ("running", Tone.ACCENT),
    "pending": ("dot", Tone.DIM),
    "skipped": ("skipped", Tone.DIM),
    "error": ("error", Tone.BAD),
    progress.INTERRUPTED: ("error", Tone.BAD),
    progress.NOT_REACHED: ("blocked", Tone.WARN),
    progress.NOT_STARTED: ("blocked", Tone.WARN),
    progress.IGNORED: ("error", Tone.WARN),
    "runner gone": ("warning", Tone.BAD),
    "killing": ("running", Tone.WARN),
    "stopping": ("running", Tone.WARN),
    "stopped": ("warning", Tone.WARN),
}
"""The glyph and the tone of each result of an instance and each state of a run."""

_INSTANCES = (
    Column("status", "status", least=13, most=17),
    Column("task", "task", least=24, most=44),
    Column("node", "node", least=12, most=28),
    Column("took", "took", least=7, most=8, right=True),
    Column("message", "why", least=26, most=120, grows=True, rank=1),
    Column("type", "type", least=6, most=13, rank=3),
)


def _sign(word: str, glyphs: Glyphs) -> Cell:
    glyph, tone = _SIGNS[word]
    return Cell(getattr(glyphs, glyph), tone)


def status(word: str, glyphs: Glyphs) -> Cell:
    sign = _sign(word, glyphs)
    return Cell(f"{sign} {word}", sign.tone)


def run_status(run: Run, glyphs: Glyphs) -> Cell:
    return status(run.word, glyphs)


def _time_text(time: str | None) -> str:
    """A time in ISO 8601 as `date time`, without fractions of a second and without the zone.

    >>> _time_text("2026-01-02T03:04:05.678901"), _time_text(None)
    ('2026-01-02 03:04:05', '')
    """
    return time.partition(".")[0].removesuffix("Z").partition("+")[0].replace("T", " ") if time else ""


def _took(seconds: float | None) -> str:
    return "" if seconds is None else progress.duration(seconds)


def why(state: RunState, number: int) -> str:
    """Why an instance has its status; empty until its row has been read."""
    if (part := state.part(number)) is None:
        return ""
    state, number = part
    return progress.explanation(
        state.progress.reasons[number], state.progress.messages[number], state.rows[number].because
    )


def bar(state: RunState, now: datetime, width: int, glyphs: Glyphs) -> list[Part]:
    """The progress bar of a run, its done and total instances, its elapsed and remaining time."""
    run, done, total = state.run, state.progress.done, len(state.progress)
    share = done / total if total else float(run.is_final)
    cells = max(6, min(40, width - 60))
    full = int(share * cells)
    status = run_status(run, glyphs)
    parts = [
        Part(f" {glyphs.full * full}{glyphs.hollow * (cells - full)}", Tone.ACCENT),
        Part(f"{int(share * 100):3} %", Tone.STRONG),
        Part(f"{done}/{total}", Tone.PLAIN),
        Part(status.text, status.tone),
    ]
    if (graphs := len(run.children)) > 1 and not run.is_final:
        ended = sum(child.is_final for child in run.children)
        parts.append(Part(f"graph {min(ended + 1, graphs)} of {graphs}", Tone.DIM, rank=2))
    took = progress.elapsed(run.time_start, run.time_end, now)
    if took is not None and (run.is_final or run.runner != "gone"):
        text = f"took {progress.duration(took)}" if run.is_final else f"{progress.duration(took)} elapsed"
        parts.append(Part(text, Tone.DIM, rank=1))
    left = progress.remaining_words(state.progress, run, now)
    return [*parts, *(Part(text, Tone.PLAIN, rank=3 * index) for index, text in enumerate(left))]


def counts(state: RunState, glyphs: Glyphs) -> list[Part]:
    parts = [
        Part(f"{_sign(word, glyphs)} {number} {word}", _SIGNS[word][1], rank=1 + (word == "skipped"))
        for word, number in progress.counted(state.progress)
    ]
    return [Part("", Tone.PLAIN), *parts] if parts else [Part(" nothing has been planned yet", Tone.DIM)]


def advice(state: RunState) -> str:
    """The message of the run or, if its runner is gone, the keys that resume or end it."""
    if state.run.word == "runner gone":
        return "The runner of this run was killed. Press u to resume the run, x to end it."
    return plain_line(state.run.message)


_NOT_READ = ("", Cell("...", Tone.DIM), "", "", "", "")
"""A row that is still being read."""


class Instances(Table):
    """One row for each task instance, or only for the instances in `only`. A row is made when it is shown."""

    def __init__(
        self, state: RunState, glyphs: Glyphs, names_of: dict[int, str], now: datetime,
        only: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.state, self.now = state, now
        self.numbers: Sequence[int] = range(len(state)) if only is None else only
        empty = ("No task instance failed.", "", "f shows all of them.") if only is not None else (
            "No task instance has been planned.", "", advice(state) or "The run is just beginning.")  # fmt: skip
        ids = Lazy(len(self.numbers), lambda index: state.name(self.numbers[index]))
        rows = Lazy(len(self.numbers), lambda index: self._row(self.numbers[index]))
        super().__init__(_INSTANCES, rows, ids, empty)
        self._glyphs, self._names_of = glyphs, names_of

    def _row(self, number: int) -> tuple[Value, ...]:
        if (part := self.state.part(number)) is None:
            return _NOT_READ
        state, number = part
        row = state.rows[number]
        tone = Tone.STRONG if state.progress.is_fault(number) else Tone.PLAIN
        return (
            status(state.progress.word(number), self._glyphs), Cell(row.task, tone),
            node_name(row.node, self._names_of), _took(state.progress.seconds(number, self.now)),
            Cell(why(state, number), Tone.DIM), Cell(row.type, Tone.DIM),
        )  # fmt: skip

    def sample(self) -> list[Sequence[Value]]:
        numbers = self.state.at_hand()
        if len(numbers) == len(self.state):
            return super().sample()
        others = ["-" * column.least for column in self.columns]
        others[1] = max(others[1], *(task for _, task in self.state.unplaced), key=len)
        return [*map(self._row, numbers), others]

    def texts(self) -> list[str]:
        """The task ids only, because rows are instances of tasks."""
        tasks, columns = self.distinct("task") or ((), ())
        return [tasks[column] for column in columns]

    def field(self, row: int, key: str) -> str:
        return self.state.word(self.numbers[row]) if key == "status" else super().field(row, key)

    def distinct(self, key: str) -> Distinct | None:
        cells = self.state.cells
        found: Distinct
        if key == "node":
            found = [node_words(node, self._names_of) for node in cells.nodes], cells.lines
        elif key == "task":
            found = [task.lower() for _, task in cells.tasks], cells.columns
        elif key == "status" and cells.words:
            found = cells.words, cells.states
        elif (column := self.state.column(key)) is not None:
            found = [text.lower() for text in column[0]], column[1]
        else:
            return None
        return found if isinstance(self.numbers, range) else (found[0], [found[1][number] for number in self.numbers])

    def select(self, query: Query) -> Sequence[int]:
        self.waits = not isinstance(self.numbers, range) and self.state.lacks("status")
        found = super().select(query)
        return [] if self.waits else found

    def _matching(self, term: Term, rows: Sequence[int]) -> list[int]:
        self.waits = self.waits or self.state.lacks(term.name or "task")
        return [] if self.waits else super()._matching(term, rows)

    def sort_keys(self, order: Sequence[int], column: int) -> Callable[[int], tuple[int, float, str] | None]:
        key = self.keys[column]
        if self.state.lacks(key):
            return lambda _: (0, 0.0, "")  # until they have been read
        if (distinct := self.distinct(key)) is None:
            return super().sort_keys(order, column)
        values, indices = distinct
        if key == "node":
            values = [node_name(node, self._names_of) for node in self.state.cells.nodes]
        elif key == "status":
            values = [str(status(word, self._glyphs)) for word in values]
        keys = [sort_key(text) for text in values]
        return lambda row: keys[indices[row]]


class Grid:
    """The matrix of a run: a line for each node, a column for each task, a sign for each instance. With `only`, it has
    the nodes and tasks of these instances."""

    def __init__(
        self, state: RunState, glyphs: Glyphs, names_of: dict[int, str], only: list[int] | None = None
    ) -> None:
        self.state, self._names_of = state, names_of
        self._cells = cells = state.cells
        self.lines = range(len(cells.nodes)) if only is None else sorted({cells.lines[number] for number in only})
        self.columns = range(len(cells.tasks)) if only is None else sorted({cells.columns[number] for number in only})
        self._signs = {word: _sign(word, glyphs) for word in progress.WORDS}

    def label(self, line: int) -> str:
        node = self._cells.nodes[self.lines[line]]
        return "sync points" if node is None else node_name(node, self._names_of)

    def share(self, line: int) -> str:
        """The percentage of a node's instances that are done, as text."""
        node = self.lines[line]
        size = self._cells.sizes[node]
        return f"{100 * self._cells.finished[node] // size:3} %" if size else ""

    def head(self, column: int) -> str:
        return self._cells.tasks[self.columns[column]][1]

    def number(self, line: int, column: int) -> int:
        """The instance in a cell, or -1."""
        if not (0 <= line < len(self.lines) and 0 <= column < len(self.columns)):
            return -1
        return self._cells.grid[self.lines[line]][self.columns[column]]

    def cell(self, line: int, column: int) -> Cell | None:
        number = self._cells.grid[self.lines[line]][self.columns[column]]
        return self._signs[self.state.word(number)] if number >= 0 else None

    def position(self, number: int) -> tuple[int, int] | None:
        """The line and column of an instance; None if the matrix does not have it."""
        cells = self._cells
        line, column = (cells.lines[number], cells.columns[number]) if 0 <= number < len(cells.lines) else (-1, -1)
        if line not in self.lines or column not in self.columns:
            return None
        return self.lines.index(line), self.columns.index(column)


def detail(state: RunState, number: int, names_of: dict[int, str], now: datetime, glyphs: Glyphs) -> list[Line]:
    if (part := state.part(number)) is None:
        return [title(state.name(number))]
    state, number = part
    row = state.rows[number]
    lines = [
        title(state.name(number)),
        fact("status", status(state.progress.word(number), glyphs)),
        fact("node", node_name(row.node, names_of)),
    ]
    more = {
        "why": why(state, number),
        "began": _time_text(state.progress.began[number]),
        "took": _took(state.progress.seconds(number, now)),
        "tries": str(row.attempts) if row.attempts > 1 else "",
        "return code": "" if row.return_code is None else str(row.return_code),
    }
    lines += [fact(name, value) for name, value in more.items() if value]
    if row.summary:
        lines += [(), title("summary")]
        lines += [fact(str(key), plain_line(value_text(value))) for key, value in row.summary.items()]
    return lines


def about(state: RunState, now: datetime, glyphs: Glyphs) -> list[Line]:
    run, asked = state.run, state.run.request
    lines = [
        title(f"run {run.id} of {f'environment {run.cluster_id}' if run.cluster_id else 'a deleted environment'}"),
        fact("status", run_status(run, glyphs)),
        fact("graphs", names(f"{child.graph_type} ({child.status})" for child in run.children)),
        fact("nodes", names(asked.node_ids) or ("only the master" if asked.master_only else "all nodes of the graph")),
        *([fact("tasks", names(asked.task_names))] if asked.task_names else []),
        *([fact("manner", manner(run))] if manner(run) else []),
        fact("began", _time_text(run.time_start)),
        fact("took" if run.is_final else "elapsed", _took(progress.elapsed(run.time_start, run.time_end, now))),
        fact("instances", f"{state.progress.done} of {len(state.progress)} done"),
        *([fact("", count(state.nowhere, "task") + " on no node")] if state.nowhere else []),
        *(fact("", status(word, glyphs), f"  {number}") for word, number in progress.counted(state.progress)),
    ]
    return [*lines, (), (advice(state),)] if advice(state) else lines


MAX_FAULTS = 20
"""The largest number of faults listed in the history; the screen of a run shows all."""


def faults(state: RunState, glyphs: Glyphs) -> list[Line]:
    """The failed instances of a run, then those that did not run because of a failure or a stop, with their reasons."""
    if not (faults := state.faults()):
        return []
    faults.sort(key=lambda number: state.word(number) in (progress.NOT_REACHED, progress.NOT_STARTED))
    lines = [title(count(len(faults), "fault"))]
    for number in faults[:MAX_FAULTS]:
        cell = status(state.word(number), glyphs)
        reason = Cell(f"  {why(state, number)}", Tone.DIM)
        lines.append((Cell(f"{cell} ", cell.tone), state.name(number), reason))
    if len(faults) > MAX_FAULTS:
        lines.append((Cell("Enter opens the run, f shows all of them there.", Tone.DIM),))
    return lines


def manner(run: Run) -> str:
    asked = run.request
    flags = (("dry run", asked.dry_run), ("noop", asked.noop), ("force", asked.force), ("trace", asked.trace))
    return names(name for name, is_set in flags if is_set)


_RUN_ID = Column("id", "run", least=3, right=True)
_ENVIRONMENT = Column("env", "environment", least=5, most=24)
_HISTORY = (
    Column("status", "status", least=13, most=14),
    Column("graphs", "graphs", least=7, most=24),
    Column("began", "began (UTC)", least=19, most=19, rank=1),
    Column("took", "took", least=7, most=8, right=True, rank=2),
    Column("manner", "manner", least=14, most=16, rank=4),
    Column("message", "message", least=30, most=120, grows=True, rank=3),
)


def history(runs: Sequence[Run], env: int, names_of: Mapping[int, str], now: datetime, glyphs: Glyphs) -> Table:
    """One row for each run. If `env` is 0 (all environments), a column has the environment of each run."""
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        owner = f"{run.cluster_id or 'deleted'} {names_of.get(run.cluster_id, '')}".strip()
        graphs, message = names(run.request.graph_types), Cell(plain_line(run.message), Tone.DIM)
        times = (_time_text(run.time_start), _took(progress.elapsed(run.time_start, run.time_end, now)))
        rows.append(
            (str(run.id), *([] if env else [owner]), run_status(run, glyphs), graphs, *times, manner(run), message)
        )
    return Table((_RUN_ID, *([] if env else [_ENVIRONMENT]), *_HISTORY), rows, empty=_no_runs(env))


def _no_runs(env: int) -> tuple[str, ...]:
    if not env:
        return ("No graph has been executed yet.", "", "fuel2 graph execute --env ID", "or A and e on an environment.")
    return (
        f"No graph has been executed on environment {env} yet.",
        "",
        "A arms the UI, then e executes a graph.",
        f"fuel2 graph execute --env {env} --dry-run   shows what would run",
        f"fuel2 graph execute --env {env}             runs it",
    )


def last_run(runs: Sequence[Run], env: int, glyphs: Glyphs) -> Cell:
    """The id and status of the last run of an environment."""
    if (run := next((run for run in runs if run.cluster_id == env), None)) is None:
        return Cell("never", Tone.DIM)
    status = run_status(run, glyphs)
    return Cell(f"{run.id} {status}{'' if run.is_final else f' {run.progress} %'}", status.tone)


NO_RUN = Table((_RUN_ID,), empty=("",))
"""The table of instances if the list of runs is empty."""

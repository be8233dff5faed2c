"""The state of a run with its task instances, as screens need it, and the requests that read it.

A run that has ended and is long is read in parts: those rows that are shown, and columns to filter and sort by.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Any, TypeVar

from fuelclient.backends.base import Backend
from fuelclient.backends.earlier_runs import earlier_of_graph
from fuelclient.insight.progress import FAULTS, INTERRUPTED, Earlier, Key, Progress, duration, explanation, status_word
from fuelclient.model.run import NOWHERE, Event, HistoryRow, NodeKey, Run, instance_name
from fuelclient.serializers.run import node_key_from
from fuelclient.support import supports
from fuelclient.tui.requests import Request

_Answer = TypeVar("_Answer")


class Cells:
    """The matrix of a run: `nodes` are its lines, and `tasks` (run of the graph, task) its columns.

    `lines` and `columns` have the cell of each instance, and `grid` the instance of each cell, or -1. `sizes` and
    `finished` have the numbers of all and of done instances in each line. Of a long run, `states` has for each instance
    the index of its state in `words`.
    """

    def __init__(
        self,
        tasks: Sequence[tuple[int, str]],
        columns: Sequence[int],
        nodes: Sequence[NodeKey],
        lines: Iterable[int],
        done: Iterable[bool],
    ) -> None:
        order = sorted(range(len(nodes)), key=lambda index: _node_order(nodes[index]))
        place = {index: line for line, index in enumerate(order)}
        self.tasks, self.columns = tasks, columns
        self.nodes, self.lines = [nodes[index] for index in order], array("i", map(place.__getitem__, lines))
        self.grid = [array("i", [-1]) * len(tasks) for _ in nodes]
        for number, (line, column) in enumerate(zip(self.lines, columns, strict=True)):
            self.grid[line][column] = number
        self.sizes, self.finished = Counter(self.lines), Counter(compress(self.lines, done))
        self.words: Sequence[str] = ()
        self.states: Sequence[int] = ()

    def find(self, sought: Key | str) -> int:
        """The number of an instance with a key, or of the first one with a name; -1 if there is none."""
        found = (
            self.grid[line][column]
            for column, (child, task) in enumerate(self.tasks)
            if (sought.startswith(task) if isinstance(sought, str) else sought[:2] == (child, task))
            for line, node in enumerate(self.nodes)
            if sought in (instance_name(task, node), (child, task, node))
        )
        return min((number for number in found if number >= 0), default=-1)


FAILED = ("error", INTERRUPTED)


class RunState:
    """A run and its instances, with their cells in the matrix. Instances are numbered as in `progress`.

    `rows` is the history; `unplaced` are the tasks (run of the graph, task) without an instance, and of a long run all.
    """

    ask: Callable[[Request[Any]], Any] = staticmethod(lambda _: None)

    def __init__(
        self, run: Run, rows: Sequence[HistoryRow], earlier: Mapping[int, Earlier | None] | None = None
    ) -> None:
        self.missing: set[Request[object]] = set()
        placed = [row for row in rows if row.node != NOWHERE]
        self.unplaced = {(row.run_id, row.task) for row in rows if row.node == NOWHERE}
        self.rows = list({(row.run_id, row.task, row.node): row for row in placed}.values())
        self.progress = Progress(self.rows, earlier)
        self.update(run)
        tasks = defaultdict[tuple[int, str], int](count().__next__)
        nodes = defaultdict[NodeKey, int](count().__next__)
        columns = array("i", (tasks[row.run_id, row.task] for row in self.rows))
        lines = [nodes[row.node] for row in self.rows]
        self.cells = Cells([*tasks], columns, [*nodes], lines, map(self.progress.is_done, range(len(lines))))

    def __len__(self) -> int:
        """The number of instances with a row."""
        return len(self.rows)

    @property
    def nowhere(self) -> int:
        """The number of tasks on no node; 0 until it is known."""
        return 0 if self.lacks("task") else len(self.unplaced.difference(self.cells.tasks))

    def part(self, number: int) -> tuple[RunState, int] | None:
        """A state that has the row of an instance, and its number there; None if it has not been read yet."""
        return self, number

    def key(self, number: int) -> Key | None:
        """The child, task and node of an instance; None if its row has not been read yet."""
        part = self.part(number)
        return part and part[0].progress.keys[part[1]]

    def name(self, number: int) -> str:
        key = self.key(number)
        return instance_name(key[1], key[2]) if key else ""

    def word(self, number: int) -> str:
        """The state of an instance in a word; empty if it has not been read yet."""
        part = self.part(number)
        return part[0].progress.word(part[1]) if part else ""

    def first(self, word: str) -> int:
        """The first instance in a state that some are in."""
        return next((number for number in range(len(self)) if self.word(number) == word), 0)

    def faults(self) -> list[int]:
        return list(filter(self.progress.is_fault, range(len(self))))

    def column(self, name: str) -> Column | None:  # noqa: ARG002 (for long runs)
        """The texts of a column that is read by itself."""
        return None

    def lacks(self, name: str) -> bool:  # noqa: ARG002 (for long runs)
        """Whether the values of a column have not been read yet; they are requested."""
        return False

    def at_hand(self) -> range:
        """Instances from which the widths of columns may be computed."""
        return range(len(self))

    def interesting(self) -> int:
        """The first failed instance or, in a live run, the first running one; else the first instance."""
        for word in FAILED if self.run.is_final else ("running", *FAILED):
            if self.progress.counts[word]:
                return self.first(word)
        return 0 if len(self) else -1

    def arrived(self) -> tuple[bool, bool]:
        """Take those out of `missing` that have been answered. Return whether any were, and whether more than rows."""
        answers = {request: answer for request in self.missing if (answer := self.ask(request)) is not None}
        self.missing -= answers.keys()
        self.cells = next((answer for answer in answers.values() if isinstance(answer, Cells)), self.cells)
        return bool(answers), any(not isinstance(request, AskPage) for request in answers)

    def update(self, run: Run) -> None:
        self.run = run
        self.progress.note(run)

    def apply(self, events: Iterable[Event]) -> tuple[list[int], bool]:
        """Apply events. Return the changed instances, and whether a later graph was planned: its instances have no rows
        until the history is read again."""
        before = len(self.progress)
        with_row = [number for number in self.progress.apply(events) if number < len(self)]
        for number in with_row:
            self.cells.finished[self.cells.lines[number]] += self.progress.is_done(number)  # once: it stays done
        return with_row, len(self.progress) > before


Column = tuple[Sequence[str], Sequence[int]]
"""The distinct texts of a column, and for each instance the index of its text."""

Parts = tuple[tuple[int, int], ...]
"""The children of a run, and the number of instances of each."""

MOST_WHOLE = 20_000
"""The largest number of instances of each graph of an ended run that are read at once."""

PAGE = 50
"""The number of instances that are read together of longer runs."""


class LongRun(RunState):
    """An ended run of which only those parts are read that are shown: pages of rows, the matrix, columns to filter by.

    `ask` gets what has been read, and requests what has not; `missing` has the requests that were not answered then.
    `cells` has no instances until they have been read.
    """

    def __init__(self, run: Run, backend: Backend) -> None:
        super().__init__(run, ())
        self._firsts: dict[str, int] = {}
        self.parts: Parts = ()
        for child in run.children:
            before = len(self)
            counts, tasks = backend.runs.outline(child.id)
            self.unplaced |= {(child.id, task) for task in tasks}
            self.parts += ((child.id, sum(size for size, _ in counts.values())),)
            for (status, reason), (size, first) in counts.items():
                word = status_word(status, reason, was_stopped=self.progress.was_stopped)
                self.progress.counts[word] += size
                self._firsts[word] = min(before + first, self._firsts.get(word, before + first))
        self.missing.add(AskCells(self.parts, was_stopped=self.progress.was_stopped))
        self._first_page = self._page(self.interesting())
        self._first_rows = self._first_page.read(backend)

    def _page(self, number: int) -> AskPage:
        return AskPage(self.run.id, self.parts, number // PAGE * PAGE)

    def _read(self, request: Request[_Answer]) -> _Answer | None:
        answer: _Answer | None = self.ask(request)
        if answer is None:
            self.missing.add(request)
        return answer

    def __len__(self) -> int:
        return sum(size for _, size in self.parts)

    def part(self, number: int) -> tuple[RunState, int] | None:
        page = self._page(number)
        rows = self._first_rows if page == self._first_page else self._read(page)
        return None if rows is None else (rows, number - page.start)

    def lacks(self, name: str) -> bool:
        return self.column(name) is None if name in _FIELDS else not self.cells.tasks

    def column(self, name: str) -> Column | None:
        """The texts of a column that is not in `cells`."""
        return self._read(AskColumn(self.parts, name))

    def at_hand(self) -> range:
        return range(self._first_page.start, self._first_page.start + len(self._first_rows))

    def word(self, number: int) -> str:
        cells = self.cells
        return cells.words[cells.states[number]] if cells.words else super().word(number)

    def first(self, word: str) -> int:
        return self._firsts.get(word, 0)

    def faults(self) -> list[int]:
        cells = self.cells
        is_fault = [word in FAULTS for word in cells.words]
        return list(compress(range(len(self)), map(is_fault.__getitem__, cells.states)))


def _node_order(node: NodeKey) -> tuple[int, int, str]:
    """Sort sync points first, then the master, then nodes by id."""
    if node is None:
        return 0, 0, ""
    return (2, node, "") if isinstance(node, int) else (1, 0, node)


@dataclass(frozen=True, slots=True)
class AskRun(Request[RunState]):
    WHAT = "run {0.id}"
    id: int

    def read(self, backend: Backend) -> RunState:
        run = backend.runs.get(self.id)
        if run.parent_id is not None:
            run = backend.runs.get(run.parent_id)
        if run.is_final and supports(backend.runs.outline):
            following = range(MOST_WHOLE, MOST_WHOLE + 1)
            if any(backend.runs.page(child.id, following) for child in run.children):
                return LongRun(run, backend)
        earlier = {child.id: earlier_of_graph(backend, child) for child in run.children if not child.is_final}
        return RunState(run, backend.runs.history(run.id), earlier)


@dataclass(frozen=True, slots=True)
class AskPage(Request[RunState]):
    """Rows of a long run, from the instance `start`."""

    WHAT = "the instances of run {0.run}"
    run: int
    parts: Parts
    start: int

    def read(self, backend: Backend) -> RunState:
        rows: list[HistoryRow] = []
        start, end = self.start, self.start + PAGE
        for child, size in self.parts:
            if start < size and end > 0:
                rows += backend.runs.page(child, range(max(0, start), end))
            start, end = start - size, end - size
        return RunState(backend.runs.get(self.run), rows)


def _joined(
    backend: Backend, parts: Parts, fields: Sequence[str], text: Callable[..., _Answer]
) -> tuple[list[_Answer], array[int]]:
    """A column of a long run: `text` is computed from the child and each distinct value."""
    numbers = defaultdict[_Answer, int](count().__next__)
    indices = array("i")
    for child, _ in parts:
        values, own = backend.runs.column(child, fields)
        places = [numbers[text(child, *each)] for each in values]
        indices.extend(map(places.__getitem__, own))
    return list(numbers), indices


@dataclass(frozen=True, slots=True)
class AskCells(Request[Cells]):
    WHAT = "the matrix of the run"
    parts: Parts
    was_stopped: bool

    def read(self, backend: Backend) -> Cells:
        def word(_child: int, status: str, reason: str) -> str:
            return status_word(status, reason, was_stopped=self.was_stopped)

        tasks, columns = _joined(backend, self.parts, ["task"], lambda child, task: (child, task))
        nodes, lines = _joined(backend, self.parts, ["node"], lambda _, node: node_key_from(node))
        words, states = _joined(backend, self.parts, ["status", "reason"], word)
        is_done = [each not in ("pending", "running") for each in words]
        cells = Cells(tasks, columns, nodes, lines, map(is_done.__getitem__, states))
        cells.words, cells.states = words, states
        return cells


_FIELDS: Mapping[str, tuple[Sequence[str], Callable[..., str]]] = {
    "took": (["seconds"], lambda _, seconds: "" if seconds is None else duration(seconds)),
    "message": (["reason", "message", "because"], lambda _, *texts: explanation(*texts)),
    "type": (["type"], lambda _, task_type: task_type),
}
"""For columns of the table that are not in `Cells`: the fields that they are read from, and their text."""


@dataclass(frozen=True, slots=True)
class AskColumn(Request[Column]):
    WHAT = "the column {0.name} of the run"
    parts: Parts
    name: str

    def read(self, backend: Backend) -> Column:
        return _joined(backend, self.parts, *_FIELDS[self.name])

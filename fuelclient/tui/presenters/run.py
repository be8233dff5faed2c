"""A run: how far it is, what became of its task instances, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fuelclient.insight.query import Query
from fuelclient.model.run import NodeKey, Run
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.chrome import Part
from fuelclient.tui.presenters.lazy import Lazy
from fuelclient.tui.presenters.table import Cell, Column, Distinct, Line, Table, Tone, Value
from fuelclient.tui.presenters.words import count, fact, length, moment, node_words, sentence, title, value_text
from fuelclient.tui.watched import Watched, between

WORDS = ("ready", "running", "pending", "skipped", "error", "not reached")
"""What can become of an instance, in the order in which it is told."""

_TONES = {"ready": Tone.DIM, "running": Tone.ACCENT, "pending": Tone.DIM, "skipped": Tone.DIM, "error": Tone.BAD,
          "not reached": Tone.WARN}  # fmt: skip

_INSTANCES = (
    Column("status", "status", least=13, most=13),
    Column("task", "task", least=24, most=44),
    Column("node", "node", least=12, most=28),
    Column("took", "took", least=7, most=8, right=True),
    Column("message", "why", least=26, most=120, grows=True, rank=1),
    Column("type", "type", least=6, most=13, rank=3),
)

_WHY = {
    "dep_failed": "something before it failed",
    "node_failed": "its node failed",
    "stopped": "the run was stopped",
    "condition": "its condition is false",
    "filtered": "its node is not among those that were chosen",
    "subgraph": "it is not in the part of the graph that was chosen",
    "type": "tasks of its type do nothing here",
    "sync_point": "a sync point",
    "failure_ignored": "it failed, and says that this does not matter",
    "executor": "it could not be run",
    "interrupted": "nobody knows how it ended",
}


def sign(word: str, glyphs: Glyphs) -> str:
    """The sign of what became of an instance; each has its own form."""
    return {
        "ready": glyphs.ok, "running": glyphs.running, "pending": glyphs.dot, "skipped": glyphs.skipped,
        "error": glyphs.error, "not reached": glyphs.blocked,
    }[word]  # fmt: skip


def status(word: str, glyphs: Glyphs) -> Cell:
    """What became of an instance: sign and word."""
    return Cell(f"{sign(word, glyphs)} {word}", _TONES[word])


def run_status(found: Run, glyphs: Glyphs) -> Cell:
    """How a run stands: sign and word."""
    if found.runner == "gone" and not found.is_final:
        return Cell(f"{glyphs.warning} runner gone", Tone.BAD)
    if found.stop and not found.is_final:
        return Cell(f"{glyphs.running} {'being killed' if found.stop == 'kill' else 'stopping'}", Tone.WARN)
    return status(str(found.status), glyphs)


def why(watched: Watched, number: int) -> str:
    """Why an instance has its status, in words; empty where there is nothing to say."""
    reason, because = watched.reason[number], watched.rows[number].because
    told = _WHY.get(reason, reason)
    if because:
        told += f": {because}"
    message = sentence(watched.message[number])
    return f"{told}. {message}" if told and message else told or message


def progress(watched: Watched, now: datetime, width: int, glyphs: Glyphs) -> list[Part]:
    """How far a run is: a bar, done out of all, how long it has taken and how long it still takes."""
    found, total = watched.run, len(watched.rows)
    share = watched.done / total if total else float(found.is_final)
    cells = max(6, min(40, width - 60))
    full = int(share * cells)
    elapsed, left = between(found.time_start, found.time_end, now), watched.left(now)
    parts = [
        Part(f" {glyphs.full * full}{glyphs.hollow * (cells - full)}", Tone.ACCENT),
        Part(f"{int(share * 100):3} %", Tone.STRONG),
        Part(f"{watched.done}/{total}", Tone.PLAIN),
        Part(str(run_status(found, glyphs)), run_status(found, glyphs).tone),
    ]
    graphs = [child.graph_type for child in found.children]
    ended = sum(child.is_final for child in found.children)
    if len(graphs) > 1 and not found.is_final:
        parts.append(Part(f"graph {min(ended + 1, len(graphs))} of {len(graphs)}", Tone.DIM, rank=2))
    if elapsed is not None and (found.is_final or found.runner != "gone"):
        parts.append(Part(f"{'took' if found.is_final else 'for'} {length(elapsed)}", Tone.DIM, rank=1))
    if left is not None and found.runner != "gone":
        parts.append(Part(f"ETA {length(left)}", Tone.PLAIN))
    return parts


def counts(watched: Watched, glyphs: Glyphs) -> list[Part]:
    """How many instances are what; of what there is none, nothing is said."""
    told = [
        Part(f"{sign(word, glyphs)} {watched.counts[word]} {word}", _TONES[word], rank=1 + (word == "skipped"))
        for word in WORDS
        if watched.counts[word]
    ]
    return [Part("", Tone.PLAIN), *told] if told else [Part(" nothing has been planned yet", Tone.DIM)]


def advice(watched: Watched) -> str:
    """What to do about a run that does not go on by itself; empty where there is nothing to do."""
    found = watched.run
    if not found.is_final and found.runner == "gone":
        return "Nobody works at this run: its runner was killed. u resumes it, x ends it."
    return sentence(found.message)


class Instances(Table):
    """One row for each task instance, made when it is looked at. With `only`, those of these numbers.

    What a filter looks into is joined from texts that are made once, and from what became of each instance.
    """

    def __init__(
        self,
        watched: Watched,
        glyphs: Glyphs,
        names_of: dict[int, str],
        now: datetime,
        only: Sequence[int] | None = None,
    ) -> None:
        self.watched, self.now = watched, now
        self.numbers: Sequence[int] = range(len(watched.rows)) if only is None else only
        empty = ("No task instance failed.", "", "f shows all of them.") if only is not None else (
            "No task instance has been planned.", "", advice(watched) or "The run is just beginning.")  # fmt: skip
        ids = Lazy(self.numbers.__len__, lambda place: watched.name(self.numbers[place]))
        super().__init__(_INSTANCES, Lazy(self.numbers.__len__, self._row), ids, empty)
        self._glyphs, self._names_of = glyphs, names_of
        self._heads: list[str] = []

    def _row(self, place: int) -> tuple[Value, ...]:
        watched, number = self.watched, self.numbers[place]
        row = watched.rows[number]
        took = watched.seconds(number, self.now)
        fault = Tone.STRONG if watched.is_fault(number) else Tone.PLAIN
        return (
            status(watched.word(number), self._glyphs), Cell(row.task, fault), node_name(row.node, self._names_of),
            "" if took is None else length(took), Cell(why(watched, number), Tone.DIM), Cell(row.type, Tone.DIM),
        )  # fmt: skip

    def texts(self) -> list[str]:
        watched = self.watched
        if len(self._heads) != len(self.numbers):
            tails = {node: node_name(node, self._names_of).lower() for node in watched.nodes}
            self._heads = [f"{watched.rows[one].task.lower()} {tails[watched.rows[one].node]} " for one in self.numbers]
        return [
            head + watched.word(one) + " " + watched.message[one].lower()
            for head, one in zip(self._heads, self.numbers, strict=True)
        ]

    def field(self, row: int, key: str) -> str:
        return self.watched.word(self.numbers[row]) if key == "status" else super().field(row, key)

    def distinct(self, key: str) -> Distinct | None:
        watched = self.watched
        if key == "node":
            values = [node_words(node, self._names_of) for node in watched.nodes]
            return values, [watched.cell[number][0] for number in self.numbers]
        if key == "task":
            return [task.lower() for _, task in watched.tasks], [watched.cell[number][1] for number in self.numbers]
        return None

    def select(self, query: Query) -> list[int]:
        self._texts = []  # statuses have changed since
        return super().select(query)


def node_name(node: NodeKey, names_of: dict[int, str]) -> str:
    """A node by its id and its name, where that is known."""
    if node is None:
        return "sync point"
    return f"{node} {names_of[node]}" if isinstance(node, int) and node in names_of else str(node)


def detail(watched: Watched, number: int, names_of: dict[int, str], now: datetime, glyphs: Glyphs) -> list[Line]:
    """One instance: what became of it, when, why, and what it reported."""
    row, word = watched.rows[number], watched.word(number)
    took = watched.seconds(number, now)
    lines = [
        title(watched.name(number)),
        fact("status", status(word, glyphs)),
        fact("node", node_name(row.node, names_of)),
    ]
    lines += [fact("why", why(watched, number))] if why(watched, number) else []
    lines += [fact("began", moment(watched.began[number]))] if watched.began[number] else []
    lines += [fact("took", length(took))] if took is not None else []
    lines += [fact("tries", str(row.attempts))] if row.attempts > 1 else []
    lines += [fact("return code", str(row.return_code))] if row.return_code is not None else []
    if row.summary:
        lines += [(), title("summary")]
        lines += [fact(str(key), sentence(value_text(value))) for key, value in row.summary.items()]
    return lines


def about(watched: Watched, now: datetime, glyphs: Glyphs) -> list[Line]:
    """A run as a whole: what was asked for, when, and how it stands."""
    found, asked = watched.run, watched.run.request
    took = between(found.time_start, found.time_end, now)
    lines = [
        title(f"run {found.id} of environment {found.cluster_id}"),
        fact("status", run_status(found, glyphs)),
        fact("graphs", ", ".join(f"{child.graph_type} ({child.status})" for child in found.children)),
        fact("nodes", ", ".join(map(str, asked.node_ids)) or "all that the graph names"),
        *([fact("tasks", ", ".join(asked.task_names))] if asked.task_names else []),
        *([fact("manner", manner(found))] if manner(found) else []),
        fact("began", moment(found.time_start)),
        fact("took" if found.is_final else "for", length(took) if took is not None else ""),
        fact("instances", f"{watched.done} of {len(watched.rows)} done"),
        *([fact("", count(watched.nowhere, "task") + " placed nowhere")] if watched.nowhere else []),
        *(fact("", status(word, glyphs), f"  {watched.counts[word]}") for word in WORDS if watched.counts[word]),
    ]
    return [*lines, (), (advice(watched),)] if advice(watched) else lines


MOST_FAULTS = 20
"""So many faults are listed with a run; its screen has all of them."""


def faults(watched: Watched, glyphs: Glyphs) -> list[Line]:
    """What failed in a run or was never reached, each with why; those that failed first."""
    found = [number for number in range(len(watched.rows)) if watched.is_fault(number)]
    if not found:
        return []
    found.sort(key=watched.is_blocked)
    lines = [title(count(len(found), "fault"))]
    for number in found[:MOST_FAULTS]:
        cell = status(watched.word(number), glyphs)
        lines.append((Cell(f"{cell} ", cell.tone), watched.name(number), Cell(f"  {why(watched, number)}", Tone.DIM)))
    if len(found) > MOST_FAULTS:
        lines.append((Cell("Enter opens the run, f shows all of them there.", Tone.DIM),))
    return lines


def manner(found: Run) -> str:
    """What is unusual about how a run was asked for."""
    asked = found.request
    flags = (("dry run", asked.dry_run), ("noop", asked.noop), ("force", asked.force), ("trace", asked.trace))
    return ", ".join(name for name, is_set in flags if is_set)

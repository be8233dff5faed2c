"""Task instances in execution order: rows that are made when they are looked at, since there may be very many."""

from __future__ import annotations

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.lazy import Lazy
from fuelclient.tui.presenters.preview import empty
from fuelclient.tui.presenters.table import Cell, Column, Distinct, Table, Tone, Value
from fuelclient.tui.presenters.words import chips, node_words
from fuelclient.tui.subject import Subject

_INSTANCES = (
    Column("order", "#", least=3, right=True),
    Column("generation", "gen", least=3, right=True),
    Column("task", "task", least=14, most=44, grows=True),
    Column("node", "node", least=6, most=28),
    Column("type", "type", least=6, most=13, rank=2),
    Column("layers", "layers", least=6, most=12, rank=1),
)


class Instances(Table):
    """One row for each task instance, made when it is looked at. What filters look into is joined from the texts of
    tasks and of nodes, which are far fewer than rows."""

    def __init__(self, subject: Subject, glyphs: Glyphs) -> None:
        self.study = study = subject.study
        self._layers = [chips(task, study.snapshot.layers, glyphs) for task in study.merged.tasks]
        names_of = {node.id: node.name for node in study.snapshot.nodes}
        self._nodes = [
            "sync point" if node.uid is None else _node_text(node.uid, names_of) for node in study.expansion.fleet.nodes
        ]
        self._named = [node_words(node.uid, names_of) for node in study.expansion.fleet.nodes]
        ids = Lazy(study.order.__len__, lambda place: study.expansion.name(study.order[place]))
        super().__init__(_INSTANCES, Lazy(study.order.__len__, self._row), ids, empty(subject))
        self._known: dict[str, Distinct] = {}

    def _row(self, place: int) -> tuple[Value, ...]:
        study = self.study
        vertex = study.order[place]
        index = study.expansion.task_of[vertex]
        task = study.merged.tasks[index]
        tone = Tone.ACCENT if study.rows[study.row_of[index]].is_changed else Tone.PLAIN
        return (
            str(place + 1), str(study.generation[vertex]), Cell(task.id, tone),
            self._nodes[study.expansion.node_of[vertex]], Cell(task.task.type, Tone.DIM),
            Cell(self._layers[index], tone),
        )  # fmt: skip

    def texts(self) -> list[str]:
        study = self.study
        heads = [
            f"{task.id} {task.task.type} {layers} ".lower()
            for task, layers in zip(study.merged.tasks, self._layers, strict=True)
        ]
        tails = [node.lower() for node in self._nodes]
        task_of, node_of = study.expansion.task_of, study.expansion.node_of
        return [heads[task_of[vertex]] + tails[node_of[vertex]] for vertex in study.order]

    def distinct(self, key: str) -> Distinct | None:
        if key not in self._known:
            study = self.study
            tasks = study.merged.tasks
            texts = {
                "node": self._named,
                "task": [task.id for task in tasks],
                "type": [task.task.type for task in tasks],
                "layers": self._layers,
            }.get(key)
            if texts is None:
                return None
            of = study.expansion.node_of if key == "node" else study.expansion.task_of
            self._known[key] = [text.lower() for text in texts], [of[vertex] for vertex in study.order]
        return self._known[key]


def _node_text(uid: int | str, names_of: dict[int, str]) -> str:
    if isinstance(uid, int) and uid in names_of:
        return f"{uid} {names_of[uid]}"
    return str(uid)


def row_of(subject: Subject, place: int) -> int:
    """The row of the study whose task the instance at `place` is of."""
    return subject.study.row_of[subject.study.expansion.task_of[subject.study.order[place]]]


def place_of(subject: Subject, row: int, instance: str = "") -> int:
    """Where the instance of that name stands among all in execution order, if it is one of the task in a row of the
    study; else the first one of that task, and 0 where it has none."""
    study = subject.study
    index = study.indices[row] if 0 <= row < len(study.rows) else -1
    places = [place for place, vertex in enumerate(study.order) if study.expansion.task_of[vertex] == index]
    named = (place for place in places if instance and study.expansion.name(study.order[place]) == instance)
    return next(named, places[0] if places else 0)

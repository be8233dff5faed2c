"""Task instances in execution order: rows that are made when they are looked at, since there may be very many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.preview import empty
from fuelclient.tui.presenters.table import Cell, Column, Distinct, Table, Tone, Value
from fuelclient.tui.presenters.words import chips
from fuelclient.tui.subject import Subject

_INSTANCES = (
    Column("order", "#", least=3, right=True),
    Column("generation", "gen", least=3, right=True),
    Column("task", "task", least=14, most=44, grows=True),
    Column("node", "node", least=6, most=28),
    Column("type", "type", least=6, most=13, rank=2),
    Column("layers", "layers", least=6, most=12, rank=1),
)


class _InstanceRows(Sequence[tuple[Value, ...]]):
    """Rows that are made when they are looked at: there may be a hundred thousand."""

    def __init__(self, subject: Subject, glyphs: Glyphs) -> None:
        self.study, self.glyphs = subject.study, glyphs
        self.layers = [chips(task, subject.study.snapshot.layers, glyphs) for task in subject.study.merged.tasks]
        names_of = {node.id: node.name for node in subject.study.snapshot.nodes}
        self.nodes = [
            "sync point" if node.uid is None else _node_text(node.uid, names_of)
            for node in self.study.expansion.fleet.nodes
        ]

    def __len__(self) -> int:
        return len(self.study.order)

    @overload
    def __getitem__(self, place: int) -> tuple[Value, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[Value, ...]]: ...
    def __getitem__(self, place: int | slice) -> tuple[Value, ...] | list[tuple[Value, ...]]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        study = self.study
        vertex = study.order[place]
        index = study.expansion.task_of[vertex]
        task = study.merged.tasks[index]
        tone = Tone.ACCENT if study.rows[study.row_of[index]].is_changed else Tone.PLAIN
        return (
            str(place + 1), str(study.generation[vertex]), Cell(task.id, tone),
            self.nodes[study.expansion.node_of[vertex]], Cell(task.task.type, Tone.DIM), Cell(self.layers[index], tone),
        )  # fmt: skip


def _node_text(uid: int | str, names_of: dict[int, str]) -> str:
    if isinstance(uid, int) and uid in names_of:
        return f"{uid} {names_of[uid]}"
    return str(uid)


class Instances(Table):
    """One row for each task instance. What filters look into is joined from the texts of tasks and of nodes, which
    are far fewer than rows."""

    def __init__(self, subject: Subject, glyphs: Glyphs) -> None:
        made = _InstanceRows(subject, glyphs)
        super().__init__(_INSTANCES, made, _InstanceIds(subject), empty(subject))
        self._made = made
        self._known: dict[str, Distinct] = {}

    def texts(self) -> list[str]:
        study, made = self._made.study, self._made
        heads = [
            f"{task.id} {task.task.type} {layers} ".lower()
            for task, layers in zip(study.merged.tasks, made.layers, strict=True)
        ]
        tails = [node.lower() for node in made.nodes]
        task_of, node_of = study.expansion.task_of, study.expansion.node_of
        return [heads[task_of[vertex]] + tails[node_of[vertex]] for vertex in study.order]

    def distinct(self, key: str) -> Distinct | None:
        if key not in self._known:
            study, made = self._made.study, self._made
            tasks = study.merged.tasks
            texts = {
                "node": made.nodes,
                "task": [task.id for task in tasks],
                "type": [task.task.type for task in tasks],
                "layers": made.layers,
            }.get(key)
            if texts is None:
                return None
            of = study.expansion.node_of if key == "node" else study.expansion.task_of
            self._known[key] = [text.lower() for text in texts], [of[vertex] for vertex in study.order]
        return self._known[key]


class _InstanceIds(Sequence[str]):
    """The names of task instances, by row."""

    def __init__(self, subject: Subject) -> None:
        self.study = subject.study

    def __len__(self) -> int:
        return len(self.study.order)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return self.study.expansion.name(self.study.order[place])


def row_of(subject: Subject, place: int) -> int:
    """The row of the study whose task the instance at `place` is of."""
    return subject.study.row_of[subject.study.expansion.task_of[subject.study.order[place]]]

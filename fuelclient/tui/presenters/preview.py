"""The view `preview`: merged tasks or their instances in execution order, and the details of a task."""

from __future__ import annotations

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.blame import changed_tone, layer_letters, layer_name, task_sign
from fuelclient.tui.presenters.formatting import count, fact, finding_lines, names, node_name, node_words, title, worst
from fuelclient.tui.presenters.table import Cell, Column, Distinct, Lazy, Line, Table, Tone, Value
from fuelclient.tui.requests import GraphData

_TASKS = (
    Column("order", "#", least=3, right=True),
    Column("found", "", least=1, most=1),
    Column("change", "", least=1, most=1),
    Column("task", "task", least=31, most=44, grows=True),
    Column("type", "type", least=11, most=13, rank=2),
    Column("layers", "layers", least=6, most=12),
    Column("generation", "gen", least=5, most=9, rank=4, right=True),
    Column("stage", "stage", least=15, most=16, rank=3),
    Column("priority", "prio", least=6, most=8, rank=5, right=True),
    Column("nodes", "nodes", least=5, right=True, rank=1),
    Column("role", "roles", least=14, most=30, rank=8),
    Column("layer", "from", least=12, most=26, rank=7),
)


def empty(data: GraphData) -> tuple[str, ...]:
    """Explain why a screen over a graph has no rows, with the key or command that helps."""
    if data.study.problem:
        return (data.study.problem, "", "6 shows what is wrong, and where.")
    return (
        f"No layer has a graph of type {data.study.snapshot.graph_type}.",
        "",
        f"fuel2 graph upload --env {data.env} --type {data.study.snapshot.graph_type} --file FILE",
    )


def tasks(data: GraphData, glyphs: Glyphs) -> Table:
    study = data.study
    shown = [_task(place, data, glyphs) for place in range(len(study.rows))]
    return Table(_TASKS, shown, [row.task for row in study.rows], empty(data), study.indices)


def _task(place: int, data: GraphData, glyphs: Glyphs) -> tuple[Value, ...]:
    row, task = data.study.rows[place], data.study.task(place)
    changed = changed_tone(row.is_changed)
    nowhere = not row.nodes
    return (
        str(row.order),
        worst(data.study.findings_of(place), glyphs),
        Cell(task_sign(task, glyphs), Tone.ACCENT),
        Cell(row.task, Tone.DIM if nowhere else changed),
        Cell(row.type, Tone.DIM),
        Cell(layer_letters(task, data.study.snapshot.layers, glyphs), changed),
        row.generations,
        Cell(row.stage or "", Tone.DIM),
        "" if row.priority is None else str(row.priority),
        Cell(glyphs.no, Tone.DIM) if nowhere else str(len(row.nodes)),
        Cell(names(row.roles), Tone.DIM),
        Cell(row.layer.removeprefix("plugin "), changed),
    )


def detail(data: GraphData, row: int, glyphs: Glyphs) -> list[Line]:
    study, shown, task = data.study, data.study.rows[row], data.study.task(row)
    by_id = {node.id: node.name for node in study.snapshot.nodes}
    stage = shown.stage or "none"
    band = f" {shown.priority}" + (f" ({shown.band})" if shown.band else "") if shown.priority is not None else ""
    lines = [
        title(f"{shown.task}"),
        fact("type", shown.type),
        fact("layers", names(layer_name(owner) for owner in (task.owner, *task.overrides))),
        fact("stage", stage + band),
        fact("generation", shown.generations or "none: it runs on no node"),
        fact("nodes", names("sync point" if uid is None else by_id.get(uid, f"node {uid}") if isinstance(uid, int)
                            else uid for uid in shown.nodes) or "none"),
        fact("before it", f"{count(len(study.before[study.indices[row]]), 'task')} directly,"
                          f" {data.reach.ancestors(row)} in all"),
        fact("after it", f"{count(len(study.after[study.indices[row]]), 'task')} directly,"
                         f" {data.reach.descendants(row)} in all"),
    ]  # fmt: skip
    if found := study.findings_of(row):
        lines += [(), title(count(len(found), "finding")), *finding_lines(found, glyphs)]
    return lines


_INSTANCES = (
    Column("order", "#", least=3, right=True),
    Column("generation", "gen", least=3, right=True),
    Column("task", "task", least=14, most=44, grows=True),
    Column("node", "node", least=6, most=28),
    Column("type", "type", least=6, most=13, rank=2),
    Column("layers", "layers", least=6, most=12, rank=1),
)


class Instances(Table):
    """One row for each task instance. A row is made when it is shown, because there may be very many."""

    def __init__(self, data: GraphData, glyphs: Glyphs) -> None:
        self.study = study = data.study
        self._layers = [layer_letters(task, study.snapshot.layers, glyphs) for task in study.merged.tasks]
        names_of = {node.id: node.name for node in study.snapshot.nodes}
        self._nodes = [node_name(node.uid, names_of) for node in study.expansion.fleet.nodes]
        self._filter_texts = [node_words(node.uid, names_of) for node in study.expansion.fleet.nodes]
        ids = Lazy(len(study.order), lambda place: study.expansion.name(study.order[place]))
        indices = [study.expansion.task_of[vertex] for vertex in study.order]
        super().__init__(_INSTANCES, Lazy(len(study.order), self._row), ids, empty(data), indices)

    def _row(self, place: int) -> tuple[Value, ...]:
        study = self.study
        vertex = study.order[place]
        index = study.expansion.task_of[vertex]
        task = study.merged.tasks[index]
        tone = changed_tone(study.rows[study.row_of[index]].is_changed)
        return (
            str(place + 1), str(study.generation[vertex]), Cell(task.id, tone),
            self._nodes[study.expansion.node_of[vertex]], Cell(task.task.type, Tone.DIM),
            Cell(self._layers[index], tone),
        )  # fmt: skip

    def distinct(self, key: str) -> Distinct | None:
        expansion, tasks = self.study.expansion, self.study.merged.tasks
        texts = {
            "node": self._filter_texts,
            "task": [task.id for task in tasks],
            "type": [task.task.type for task in tasks],
            "layers": self._layers,
        }
        if key not in texts:
            return None
        index_of = expansion.node_of if key == "node" else expansion.task_of
        return [text.lower() for text in texts[key]], [index_of[vertex] for vertex in self.study.order]


def row_of(data: GraphData, place: int) -> int:
    return data.study.row_of[data.study.expansion.task_of[data.study.order[place]]]


def place_of(data: GraphData, row: int, instance: str = "") -> int:
    """The position, among all instances, of the instance with that name if the row's task has it; else of the first
    instance of the task; 0 if the task has no instances."""
    study = data.study
    index = study.indices[row] if 0 <= row < len(study.rows) else -1
    places = [place for place, vertex in enumerate(study.order) if study.expansion.task_of[vertex] == index]
    named = (place for place in places if instance and study.expansion.name(study.order[place]) == instance)
    return next(named, places[0] if places else 0)

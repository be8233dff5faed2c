"""Graphs and their tasks in the store: one graph per owner and type.

A graph's type and owner are columns of its coupling, as in Nailgun. The view `graph_owners` shows all couplings with
the names of their owners.

Tasks are read as their author wrote them, in order, with their lines. A column has the JSON of its attribute, or NULL
if the author did not write it. Attributes without a column are in `_custom`. `stated` has the names of all
attributes in the author's order, so that falsy values and the order survive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fuelclient.model.finding import Finding
from fuelclient.model.graph import METADATA, Graph, GraphSummary, Level, Owner
from fuelclient.model.task import COLUMNS, NOWHERE, Source, Task
from fuelclient.store.database import Connection
from fuelclient.store.rows import column, decode, encode, encoded_or_null, firsts, insert_row, mapping, one, update_row

_SELECT = """
    SELECT g.id, w.type, w.level, w.owner_id, w.name, w.version, g.name,
        g.warnings, g.node_filter, g.on_success, g.on_error, g.on_stop
    FROM graph_owners w JOIN deployment_graphs g ON g.id = w.deployment_graph_id
"""
_TASK_COLUMNS = ("task_name", "stated", "_custom", "legacy", "source_file", "source_line", "source_lines", *COLUMNS)
_QUOTED = ", ".join(f'"{column}"' for column in _TASK_COLUMNS)
_FIRST_ATTRIBUTE = len(_TASK_COLUMNS) - len(COLUMNS)
_INDEXES = {name: index for index, name in enumerate(COLUMNS, start=_FIRST_ATTRIBUTE)}
"""The index of each attribute in a selected row."""


def find(connection: Connection, level: Level, owner_id: int, graph_type: str) -> Graph | None:
    return next(iter(of_owner(connection, level, owner_id, graph_type)), None)


def of_owner(connection: Connection, level: Level, owner_id: int, graph_type: str = "") -> list[Graph]:
    """The graphs of an owner with their tasks, in the order of their types, or only the graph of one type."""
    where = "WHERE w.level = ? AND w.owner_id = ? AND ? IN (w.type, '') ORDER BY w.type"
    rows = connection.execute(_SELECT + where, (level, owner_id, graph_type)).fetchall()
    return [_graph(connection, row) for row in rows]


def find_id(connection: Connection, level: Level, owner_id: int, graph_type: str) -> int | None:
    query = "SELECT deployment_graph_id FROM graph_owners WHERE level = ? AND owner_id = ? AND type = ?"
    graph_id: int | None = one(connection, query, level, owner_id, graph_type)
    return graph_id


def types(connection: Connection, level: Level, owner_id: int) -> list[str]:
    query = "SELECT type FROM graph_owners WHERE level = ? AND owner_id = ? ORDER BY type"
    return firsts(connection, query, level, owner_id)


def summaries(connection: Connection, owners: Collection[tuple[Level, int]] | None = None) -> list[GraphSummary]:
    """All graphs by id, or those of `owners`, without the bodies of their tasks."""
    summaries = []
    for row in connection.execute(_SELECT + "ORDER BY g.id").fetchall():
        owner = _owner(row)
        if owners is None or (owner.level, owner.id) in owners:
            summaries.append(GraphSummary(row[0], row[1], owner, row[6], task_ids(connection, row[0])))
    return summaries


def create(connection: Connection, level: Level, owner_id: int, graph_type: str) -> int:
    """Create an empty graph, of a type that the owner does not have yet. Return its id."""
    graph_id = int(connection.execute("INSERT INTO deployment_graphs DEFAULT VALUES").lastrowid or 0)
    coupling = {"type": graph_type, "deployment_graph_id": graph_id, f"{level.value}_id": owner_id}
    insert_row(connection, f"{level.value}_deployment_graphs", coupling)
    return graph_id


def is_derived(connection: Connection, graph_id: int) -> bool:
    """Whether a graph comes from the package of a plugin and was not uploaded."""
    return bool(column(connection, "deployment_graphs", "derived", graph_id))


def mark_derived(connection: Connection, graph_id: int, derived: bool) -> None:
    update_row(connection, "deployment_graphs", graph_id, {"derived": derived})


def reset(connection: Connection, graph_id: int) -> None:
    """Clear the name and the metadata of a graph; its tasks stay."""
    update_row(connection, "deployment_graphs", graph_id, dict.fromkeys(("name", *METADATA)))


def describe(connection: Connection, graph_id: int, name: str | None, metadata: Mapping[str, Any]) -> None:
    """Set the name of a graph unless it is None, and the given fields of its metadata."""
    given = {key: encode(metadata[key]) for key in METADATA if key in metadata}
    if name is not None:
        given["name"] = name
    if given:
        update_row(connection, "deployment_graphs", graph_id, given)


def delete(connection: Connection, graph_id: int) -> None:
    connection.execute("DELETE FROM deployment_graphs WHERE id = ?", (graph_id,))


def _owner(row: tuple[Any, ...]) -> Owner:
    return Owner(Level(row[2]), row[3], row[4], row[5])


def _graph(connection: Connection, row: tuple[Any, ...]) -> Graph:
    metadata = {key: decode(text) for key, text in zip(METADATA, row[8:], strict=True) if text is not None}
    return Graph(row[0], row[1], _owner(row), tasks_of(connection, row[0]), row[6], metadata, _warnings(row[7]))


def _warnings(text: str | None) -> tuple[Finding, ...]:
    if not text:
        return ()
    from fuelclient.serializers.finding import findings_from

    return findings_from(decode(text))


def tasks_of(connection: Connection, graph_id: int) -> tuple[Task, ...]:
    """The tasks of a graph in its author's order."""
    query = (
        f"SELECT {_QUOTED} FROM deployment_graph_tasks "  # noqa: S608 - our own names
        "WHERE deployment_graph_id = ? ORDER BY position"
    )
    return tuple(_task(row) for row in connection.execute(query, (graph_id,)))


def task_ids(connection: Connection, graph_id: int) -> tuple[str, ...]:
    """The ids of a graph's tasks in their author's order, read from the index without the bodies."""
    query = "SELECT task_name FROM deployment_graph_tasks WHERE deployment_graph_id = ? ORDER BY position"
    return tuple(firsts(connection, query, graph_id))


def put_tasks(connection: Connection, graph_id: int, tasks: Sequence[Task], warnings: Sequence[Finding] = ()) -> None:
    """Replace the tasks of a graph, and the warnings about their document."""
    from fuelclient.serializers.finding import finding_to

    stored_warnings = encoded_or_null([finding_to(warning) for warning in warnings])
    update_row(connection, "deployment_graphs", graph_id, {"warnings": stored_warnings})
    connection.execute("DELETE FROM deployment_graph_tasks WHERE deployment_graph_id = ?", (graph_id,))
    connection.executemany(
        f"INSERT INTO deployment_graph_tasks (deployment_graph_id, position, {_QUOTED}) "  # noqa: S608 - our own names
        f"VALUES ({', '.join('?' * (len(_TASK_COLUMNS) + 2))})",
        _task_rows(graph_id, tasks),
    )


def _task_rows(graph_id: int, tasks: Sequence[Task]) -> Iterator[tuple[Any, ...]]:
    for position, task in enumerate(tasks):
        attributes, source = task.attributes, task.source
        custom = encoded_or_null({name: value for name, value in attributes.items() if name not in _INDEXES})
        origin = (source.file, source.line, encoded_or_null(source.lines))
        columns = (encode(attributes[name]) if name in attributes else None for name in COLUMNS)
        yield graph_id, position, task.id, encode(list(attributes)), custom, task.legacy, *origin, *columns


@lru_cache(maxsize=1000)
def _stated_names(text: str) -> tuple[str, ...]:
    """Decode a column `stated`. It is cached, because the tasks of a graph have only a few different values."""
    return tuple(decode(text))


def _task(row: tuple[Any, ...]) -> Task:
    task_id, stated, custom, legacy, file, line, lines = row[:_FIRST_ATTRIBUTE]
    others = mapping(custom)
    attributes = {
        name: decode(row[_INDEXES[name]]) if name in _INDEXES else others[name] for name in _stated_names(stated)
    }
    source = Source(file, line, mapping(lines)) if file or line or lines else NOWHERE
    return Task(task_id, attributes, source, bool(legacy))


def parameters_of(connection: Connection, task: str) -> list[Any]:
    """The parameters of a task in the graphs of all owners."""
    query = "SELECT parameters FROM deployment_graph_tasks WHERE task_name = ? AND parameters IS NOT NULL"
    return [decode(text) for text in firsts(connection, query, task)]

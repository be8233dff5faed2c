"""Tasks of graphs in the store: as stated, in their author's order, with the lines they were written on.

A column holds the JSON of its attribute, NULL where the author did not state it; attributes that have no column
stand in `_custom`; `stated` has the names of all of them in the author's order, so that a falsy value and the
order survive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from fuelclient.model.task import COLUMNS, NOWHERE, Source, Task
from fuelclient.store.database import Connection
from fuelclient.store.encoding import decode, encode, encoded_or_null, mapping

_INSERT = """
    INSERT INTO deployment_graph_tasks (
        deployment_graph_id, position, task_name, stated, _custom, legacy, source_file, source_line, source_lines,
        version, type, condition, "groups", tasks, roles, reexecute_on, refresh_on, required_for, requires,
        cross_depended_by, cross_depends, parameters
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SELECT = """
    SELECT task_name, stated, _custom, legacy, source_file, source_line, source_lines,
        version, type, condition, "groups", tasks, roles, reexecute_on, refresh_on, required_for, requires,
        cross_depended_by, cross_depends, parameters
    FROM deployment_graph_tasks WHERE deployment_graph_id = ? ORDER BY position
"""
_FIRST = 7
_COLUMNS = {name: place for place, name in enumerate(COLUMNS, start=_FIRST)}
"""Where a selected row has an attribute."""


def of_graph(connection: Connection, graph_id: int) -> tuple[Task, ...]:
    """All tasks of a graph, in their author's order."""
    return tuple(_task(row) for row in connection.execute(_SELECT, (graph_id,)))


def names(connection: Connection, graph_id: int) -> tuple[str, ...]:
    """The ids of a graph's tasks, in their author's order; no body is read, the index has it all."""
    rows = connection.execute(
        "SELECT task_name FROM deployment_graph_tasks WHERE deployment_graph_id = ? ORDER BY position", (graph_id,)
    )
    return tuple(row[0] for row in rows)


def replace(connection: Connection, graph_id: int, tasks: Sequence[Task]) -> None:
    """The graph has exactly `tasks`, whatever it had before."""
    connection.execute("DELETE FROM deployment_graph_tasks WHERE deployment_graph_id = ?", (graph_id,))
    connection.executemany(_INSERT, _rows(graph_id, tasks))


def _rows(graph_id: int, tasks: Sequence[Task]) -> Iterator[tuple[Any, ...]]:
    for position, task in enumerate(tasks):
        stated = task.attributes
        custom = {name: value for name, value in stated.items() if name not in _COLUMNS}
        source = task.source
        yield (
            graph_id,
            position,
            task.id,
            encode(list(stated)),
            encoded_or_null(custom),
            task.legacy,
            source.file,
            source.line,
            encoded_or_null(source.lines),
            *(encode(stated[name]) if name in stated else None for name in COLUMNS),
        )


@lru_cache(maxsize=1000)
def _stated_names(text: str) -> tuple[str, ...]:
    """The names in a column `stated`; a graph has few different ones."""
    return tuple(decode(text))


def _task(row: tuple[Any, ...]) -> Task:
    task_id, stated, custom, legacy, file, line, lines = row[:_FIRST]
    others = mapping(custom)
    attributes = {
        name: decode(row[_COLUMNS[name]]) if name in _COLUMNS else others[name] for name in _stated_names(stated)
    }
    source = Source(file, line, mapping(lines)) if file or line or lines else NOWHERE
    return Task(task_id, attributes, source, bool(legacy))

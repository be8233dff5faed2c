"""Pictures of task graphs in the DOT language, letter by letter as Nailgun draws them.

Ids that DOT would read as something else (`node`, `a:b`) are quoted, which Nailgun forgets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from fuelclient.model.task import Task, TaskType
from fuelclient.server.solver import INTERNAL, Solved

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)")
_WORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
_STYLES = {
    TaskType.STAGE: "color=red, shape=rect, style=filled",
    TaskType.GROUP: 'color=lightskyblue, shape=box, style="filled, rounded"',
}
_GREY = "color=gray95"
_GREEN = "color=yellowgreen, style=filled"


def dot(graph: Solved, *, only: Collection[str] = (), kept: Collection[str] | None = None) -> str:
    """The picture of a graph. With `only` all other tasks that are executed are grey; `kept` are the vertices that
    are drawn, None for all."""
    names = [name for name in graph.tasks if kept is None or name in kept]
    loops = any(name in graph.successors[name] for name in names)
    lines = ["digraph G {" if loops else "strict digraph G {"]
    lines += [f"{quoted(name)} [{_style(graph.tasks[name], name, only)}];" for name in names]
    lines += _edges(graph, names)
    return "\n".join([*lines, "}", ""])


def _edges(graph: Solved, names: list[str]) -> Iterator[str]:
    drawn = set(names)
    for name in names:
        for after in graph.successors[name]:
            if after in drawn:
                yield f"{quoted(name)} -> {quoted(after)};"


def _style(task: Task | None, name: str, only: Collection[str]) -> str:
    if task is not None and task.type in _STYLES:
        return _STYLES[TaskType(task.type)]
    if task is not None and task.type in INTERNAL:
        return _GREY
    skipped = name not in only if only else task is not None and bool(task.attributes.get("skipped"))
    return _GREY if skipped else _GREEN


def quoted(name: str) -> str:
    """An id as DOT reads it.

    >>> quoted("web"), quoted("db-node"), quoted("node"), quoted('a"b')
    ('web', '"db-node"', '"node"', '"a\\\\"b"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _WORDS:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'

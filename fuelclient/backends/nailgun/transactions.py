"""Which transactions of a Fuel master are one run.

A master calls everything that it does in the background a transaction, and does not say of a transaction which one it
is part of. It says so of its tasks, which are the same with the same ids, but forgets those of an environment when the
next run begins. The order of the ids says nothing: other commands leave transactions of their own between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuelclient.model.run import PARENT, Run

_SHOWN = 200


def is_whole(run: Run) -> bool:
    """Return whether a transaction is a run as a user started it, which may have parts."""
    return run.name == PARENT and not run.graph_type


def related(run: Run, tasks: Sequence[Run]) -> Run:
    """Return a run with its parts and its parent, as far as the tasks of its environment state them."""
    own = next((task for task in tasks if task.id == run.id), run)
    return with_parts(replace(run, parent_id=own.parent_id), (task for task in tasks if task.parent_id == run.id))


def with_parts(run: Run, parts: Iterable[Run]) -> Run:
    """Return a run whose children are those of `parts` that ran a graph, and which asked for their graph types."""
    children = tuple(sorted((part for part in parts if part.graph_type), key=lambda part: part.id))
    if not children:
        return run
    types = tuple(child.graph_type for child in children)
    return replace(run, children=children, request=replace(run.request, graph_types=types))


def reported(summary: Mapping[str, Any]) -> str:
    """Return on one line what a task reported of itself, without what is empty or zero.

    >>> reported({"resources": {"failed": 1, "total": 3, "skipped": 0}, "raw": ""})
    'resources failed: 1, resources total: 3'
    """
    line = ", ".join(f"{name}: {value}" for name, value in _leaves(summary) if value not in (None, "", 0))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


def _leaves(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, inner in value.items():
        yield from _leaves(inner, f"{name} {key}".strip())

"""Who set each attribute of a merged task, where, and what that replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.graph import MergedTask, Origin

_FIRST = ("type", "version", "stage", "tags", "roles", "groups", "tasks", "requires", "required_for")
"""Attributes that come first, in this order. All others follow in the author's order."""


@dataclass(frozen=True, slots=True)
class Blame:
    """One attribute (inside a mapping, `parameters.timeout`): its value, who set it, and the values that it
    replaced, the nearest first. A `dropped` attribute has no value any more: `origin` removed it."""

    path: str
    value: Any
    origin: Origin
    replaced: tuple[tuple[Any, Origin], ...] = ()
    dropped: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether a layer above changed or removed what a layer below had set."""
        return self.dropped or any(value != self.value for value, _ in self.replaced)


def blame(task: MergedTask) -> tuple[Blame, ...]:
    """Return every attribute of a merged task, including those that a layer removed."""
    attributes = task.task.attributes
    leaves = dict(_leaves(attributes))
    history = {path: list(_history(task, path)) for path in leaves}
    for path, setting in task.settings.items():
        for value, _ in setting.replaced:
            for inner, _ in _leaves({path: value}):
                history.setdefault(inner, list(_history(task, inner)))
    rows = [
        Blame(path, leaves[path], task.origin(path), tuple(was))
        if path in leaves
        else Blame(path, None, task.origin(_recorded(task, path)), tuple(was), dropped=True)
        for path, was in history.items()
        # A value that has become a mapping is explained by the rows of what is in the mapping.
        if path in leaves or not any(leaf.startswith(f"{path}.") for leaf in leaves)
    ]
    rank = {name: place for place, name in enumerate(_FIRST)}
    return tuple(sorted(rows, key=lambda row: rank.get(row.path.partition(".")[0], len(rank))))


def _leaves(attributes: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every path that has a value of its own. Expressions and empty mappings are values."""
    for key, value in attributes.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value and "yaql_exp" not in value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _history(task: MergedTask, path: str) -> Iterator[tuple[Any, Origin]]:
    """Yield the values that `path` had, from its own record, or else from that of a mapping around it."""
    known = _recorded(task, path)
    setting = task.settings.get(known)
    if setting is None:
        return
    rest = path[len(known) + 1 :]
    for value, origin in setting.replaced:
        if not rest:
            yield value, origin
        elif isinstance(value, Mapping):
            inner = dict(_leaves(value))
            if rest in inner:
                yield inner[rest], origin


def _recorded(task: MergedTask, path: str) -> str:
    """Return the nearest path at or above `path` of which the merge recorded who set it, or an empty string."""
    while path and path not in task.settings:
        path = path.rpartition(".")[0]
    return path

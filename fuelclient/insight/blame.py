"""Blame: who set each attribute of a merged task, where, and what that replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuelclient.model.graph import MergedTask, Origin

_FIRST = ("type", "version", "stage", "tags", "roles", "groups", "tasks", "requires", "required_for")
"""Attributes that are told first, in this order; all others follow in the author's."""


@dataclass(frozen=True, slots=True)
class Blame:
    """One attribute (below a mapping, `parameters.timeout`): its value, who set it, and the values that it
    replaced, the nearest first. One that is `dropped` has no value any more; `origin` took it away."""

    path: str
    value: Any
    origin: Origin
    replaced: tuple[tuple[Any, Origin], ...] = ()
    dropped: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether a layer above gave another value, or none, to what a layer below had set."""
        return self.dropped or any(value != self.value for value, _ in self.replaced)


def blame(task: MergedTask) -> tuple[Blame, ...]:
    """Every attribute of a merged task, also those that are gone."""
    attributes = task.task.attributes
    leaves = dict(_leaves(attributes))
    history = {path: list(_history(task, path)) for path in leaves}
    for path, setting in task.settings.items():
        for value, _ in setting.replaced:
            for inner, _ in _leaves({path: value}):
                history.setdefault(inner, list(_history(task, inner)))
    rows = [_row(task, path, leaves, tuple(was)) for path, was in history.items() if _tells(path, leaves)]
    rank = {name: place for place, name in enumerate(_FIRST)}
    return tuple(sorted(rows, key=lambda row: rank.get(row.path.partition(".")[0], len(rank))))


def _row(task: MergedTask, path: str, leaves: Mapping[str, Any], was: tuple[tuple[Any, Origin], ...]) -> Blame:
    if path in leaves:
        return Blame(path, leaves[path], task.origin(path), was)
    return Blame(path, None, _origin_of_absence(task, path), was, dropped=True)


def _tells(path: str, leaves: Mapping[str, Any]) -> bool:
    """Whether a path is worth a row: one that is gone because its value is a mapping now is told by its leaves."""
    return path in leaves or not any(one.startswith(f"{path}.") for one in leaves)


def _leaves(attributes: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every path that has a value of its own; expressions and empty mappings are values."""
    for key, value in attributes.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value and "yaql_exp" not in value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _history(task: MergedTask, path: str) -> Iterator[tuple[Any, Origin]]:
    """The values that `path` had, from its own record, else from that of a mapping around it."""
    known = path
    while known and known not in task.settings:
        known = known.rpartition(".")[0]
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


def _origin_of_absence(task: MergedTask, path: str) -> Origin:
    known = path
    while known and known not in task.settings:
        known = known.rpartition(".")[0]
    return task.origin(known)

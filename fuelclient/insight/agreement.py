"""Whether two merges of one environment agree, task by task: ours, and that of whoever holds the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.model.task import DEFAULT_VERSION, Task

_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values that Nailgun does not keep, so that they are as good as none."""

_NOT_STATED = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs of one task. Without an `attribute` the whole task stands on one side only, or more often there:
    then `ours` and `theirs` are how often."""

    task: str
    attribute: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        """In one line.

        >>> print(Difference("a", "parameters.timeout", 5, None))
        task a: parameters.timeout is 5 here, and nothing on the other side
        >>> print(Difference("a", "", 1, 0))
        task a: stands here, and not on the other side
        """
        if self.attribute:
            ours, theirs = (_NOT_STATED if one is None else repr(one) for one in (self.ours, self.theirs))
            return f"task {self.task}: {self.attribute} is {ours} here, and {theirs} on the other side"
        if not (self.ours and self.theirs):
            here, there = ("here", "on the other side") if self.ours else ("on the other side", "here")
            return f"task {self.task}: stands {here}, and not {there}"
        return f"task {self.task}: stands {self.ours} times here, and {self.theirs} times on the other side"


def differences(ours: Sequence[Task], theirs: Sequence[Task]) -> tuple[Difference, ...]:
    """Everything in which two merged graphs differ, by task and attribute; mappings are compared key by key.

    Order says nothing: Nailgun returns merged tasks in reversed layers. Neither do empty attributes and a version that
    is the default one, which it adds or leaves out.

    >>> stated = Task("a", {"type": "shell", "version": "1.0.0", "requires": [], "parameters": {"cmd": "x"}})
    >>> differences([stated], [Task("a", {"type": "shell", "parameters": {"cmd": "x"}})])
    ()
    """
    mine, other = _by_id(ours), _by_id(theirs)
    found: list[Difference] = []
    for name in dict.fromkeys((*mine, *other)):
        here, there = mine.get(name, []), other.get(name, [])
        if len(here) != len(there):
            found.append(Difference(name, "", len(here), len(there)))
        else:
            for one, another in zip(here, there, strict=True):
                found += _compared(name, "", _stated(one), _stated(another))
    return tuple(found)


def _by_id(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.id, []).append(task)
    return found


def _stated(task: Task) -> dict[str, Any]:
    stated = {key: value for key, value in task.attributes.items() if not _is_empty(value)}
    return {"version": DEFAULT_VERSION, **stated}


def _is_empty(value: Any) -> bool:
    return any(value is one or (not isinstance(value, bool) and value == one) for one in _EMPTY)


def _compared(task: str, above: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Difference]:
    for key in dict.fromkeys((*ours, *theirs)):
        here, there = ours.get(key), theirs.get(key)
        if isinstance(here, Mapping) and isinstance(there, Mapping):
            yield from _compared(task, f"{above}{key}.", here, there)
        elif here != there or isinstance(here, bool) != isinstance(there, bool):
            yield Difference(task, f"{above}{key}", here, there)

"""The basis of all comparisons: compare values by their paths, and tasks by their attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuelclient.grouping import grouped
from fuelclient.model.task import DEFAULT_VERSION, Task

_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values that Nailgun does not store, so that they are equal to a missing one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of one task. Without an `attribute`, the task itself exists more often on one side: then `ours` and
    `theirs` are the numbers of tasks with that id."""

    task: str
    attribute: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        """Describe the difference on one line.

        >>> print(Difference("a", "parameters.timeout", 5, None))
        task a: parameters.timeout is 5 here, and not stated on the other side
        >>> print(Difference("a", "", 1, 0))
        task a: exists only here
        """
        if self.attribute:
            ours, theirs = ("not stated" if value is None else repr(value) for value in (self.ours, self.theirs))
            return f"task {self.task}: {self.attribute} is {ours} here, and {theirs} on the other side"
        if not (self.ours and self.theirs):
            return f"task {self.task}: exists only {'here' if self.ours else 'on the other side'}"
        return f"task {self.task}: exists {self.ours} times here, and {self.theirs} times on the other side"


def differences(ours: Sequence[Task], theirs: Sequence[Task]) -> tuple[Difference, ...]:
    """Compare two merged graphs, by task and attribute, mappings key by key.

    Order is ignored, since Nailgun returns merged tasks with their layers reversed; so are empty attributes and the
    default version, which it adds or leaves out.

    >>> stated = Task("a", {"type": "shell", "version": "1.0.0", "requires": [], "parameters": {"cmd": "x"}})
    >>> differences([stated], [Task("a", {"type": "shell", "parameters": {"cmd": "x"}})])
    ()
    """
    ours_by_id, theirs_by_id = (grouped((task.id, task) for task in tasks) for tasks in (ours, theirs))
    result: list[Difference] = []
    for name in dict.fromkeys((*ours_by_id, *theirs_by_id)):
        our_tasks, their_tasks = ours_by_id.get(name, []), theirs_by_id.get(name, [])
        if len(our_tasks) != len(their_tasks):
            result.append(Difference(name, "", len(our_tasks), len(their_tasks)))
        else:
            for task, counterpart in zip(our_tasks, their_tasks, strict=True):
                values = value_differences(_non_empty(task), _non_empty(counterpart))
                result += (Difference(name, path, *sides) for path, *sides in values)
    return tuple(result)


def _non_empty(task: Task) -> dict[str, Any]:
    return {"version": DEFAULT_VERSION} | {key: value for key, value in task.attributes.items() if value not in _EMPTY}


def value_differences(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], prefix: str = "", *, nulls: bool = False
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, after `prefix`, and both values of each difference; None for a value that does not exist. With
    `nulls`, None also differs from a missing value. True and 1 differ.

    >>> list(value_differences({"a": {"b": 1}, "c": None}, {"a": {"b": True}}))
    [('a.b', 1, True)]
    """
    for key in dict.fromkeys((*ours, *theirs)):
        our, their, path = ours.get(key), theirs.get(key), f"{prefix}{key}"
        if isinstance(our, Mapping) and isinstance(their, Mapping):
            yield from value_differences(our, their, f"{path}.", nulls=nulls)
        elif not is_equal(our, their) or (nulls and (key in ours) != (key in theirs)):
            yield path, our, their


def is_equal(value: Any, other: Any) -> bool:
    """Whether two values are equal. True and 1 differ.

    >>> is_equal(1, 1.0), is_equal(1, True)
    (True, False)
    """
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)

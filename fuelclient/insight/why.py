"""Why one task runs after another: the shortest chain between them, and the statements that make each edge."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fuelclient.graph.dag import path_to, search
from fuelclient.graph.findings import place_of
from fuelclient.graph.match import matches, pattern_error
from fuelclient.model.finding import Place
from fuelclient.model.graph import MergedTask
from fuelclient.plan.expand import Expansion


@dataclass(frozen=True, slots=True)
class Word:
    """One statement that makes an edge: the task that states it, in which attribute, the word for the other task, and
    where that is written. `place` always has the layer."""

    task: str
    attribute: str
    word: str
    place: Place

    def __str__(self) -> str:
        return f"{self.task}.{self.attribute}: {self.word}"


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a chain: two task instances, by name, merged task and vertex, and why the first precedes the
    second."""

    before: str
    after: str
    before_task: int
    after_task: int
    words: tuple[Word, ...]
    start: int
    end: int


def chain(expansion: Expansion, before: int, after: int) -> tuple[Step, ...]:
    """Return the shortest chain from an instance of merged task `before` to one of `after`, in O(V + E).

    The chain is empty if no instance of `after` waits for one of `before`. Barriers do not count as steps.
    """
    if before == after:
        return ()
    task_of = expansion.task_of
    return chain_between(
        expansion,
        [vertex for vertex, task in enumerate(task_of) if task == before],
        {vertex for vertex, task in enumerate(task_of) if task == after},
    )


def chain_between(expansion: Expansion, starts: Iterable[int], ends: set[int]) -> tuple[Step, ...]:
    """Return the shortest chain from one of the instances `starts` to one of `ends`; see `chain`."""
    parent = search(expansion.edges.successors(), starts, real=expansion.size, ends=ends)
    last = next(reversed(parent), -1)
    path = path_to(parent, last, expansion.size) if last in ends else []
    return tuple(_step(expansion, first, second) for first, second in itertools.pairwise(path))


def _step(expansion: Expansion, before: int, after: int) -> Step:
    words = tuple(
        Word(task.id, reason.attribute, reason.word, place_of(task, reason.attribute))
        for reason in expansion.edges.reasons_between(before, after)
        for task in (expansion.tasks[reason.task],)
    )
    return Step(
        expansion.name(before), expansion.name(after), expansion.task_of[before], expansion.task_of[after], words,
        before, after,
    )  # fmt: skip


def stated(before: MergedTask, after: MergedTask) -> tuple[Word, ...]:
    """Return what two tasks state of each other, the first of which directly precedes the second, or else their stage.

    Only the two definitions are read, so the cost does not depend on the size of the graph.
    """
    words = [
        *_stated_by(after, before.id, ("requires", "cross_depends")),
        *_stated_by(before, after.id, ("required_for", "cross_depended_by")),
    ]
    if words:
        return tuple(words)
    staged = after if after.task.stage else before
    return (Word(staged.id, "stage", staged.task.stage, place_of(staged, "stage")),)


def _stated_by(task: MergedTask, other: str, attributes: tuple[str, str]) -> Iterator[Word]:
    plain, cross = attributes
    words = [(plain, word) for word in task.task.names(plain)]
    words += [(cross, name) for relation in task.task.relations(cross) if isinstance(name := relation.name, str)]
    for attribute, word in words:
        if word == other or (not pattern_error(word) and matches(word, other)):
            yield Word(task.id, attribute, word, place_of(task, attribute))

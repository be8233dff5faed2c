"""Read the expressions of tasks without evaluating them, so that a mistake is known before a run (G024)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fuelclient.errors import InvalidDocument
from fuelclient.expressions import legacy, yaql_engine
from fuelclient.graph.references import check_parameters, place_of
from fuelclient.graph.validate import expressions_in
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.graph import MergedTask
from fuelclient.model.task import Task


def refusals(tasks: Iterable[Task], *, packaged: bool = False) -> Iterator[Finding]:
    """Yield what would refuse a run of the tasks of a document, or of a package, which has checks of its own for
    conditions (P062): `unreadable` expressions, and impossible parameters."""
    for task in tasks:
        yield from unreadable([task], conditions=not packaged)
        yield from check_parameters(task, packaged=packaged)


def unreadable(tasks: Iterable[Task | MergedTask], *, conditions: bool = True) -> Iterator[Finding]:
    """Yield an error for every YAQL expression that cannot be parsed, at any depth of an attribute, and, with
    `conditions`, for every condition in Fuel's own language that cannot be."""
    for stated in tasks:
        task = stated.task if isinstance(stated, MergedTask) else stated
        for attribute, value in task.attributes.items():
            for text in expressions_in(value):
                yield from _problems(yaql_engine.parse, text, stated, attribute)
        condition = task.condition
        if conditions and isinstance(condition, str):
            yield from _problems(_parse_condition, condition, stated, "condition")


def _parse_condition(text: str) -> object:
    return legacy.parse(legacy.rewrite(text))


def _problems(
    parse: Callable[[str], object], text: str, stated: Task | MergedTask, attribute: str
) -> Iterator[Finding]:
    try:
        parse(text)
    except InvalidDocument as error:
        message = f"task {stated.id}: {attribute}: {error.message.rstrip('.')}"
        yield Finding(Severity.ERROR, "G024", message, _place(stated, attribute), stated.id, error.hint)


def _place(stated: Task | MergedTask, attribute: str) -> Place:
    return place_of(stated, attribute) if isinstance(stated, MergedTask) else stated.source.place(attribute)

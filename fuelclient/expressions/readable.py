"""Read the expressions of tasks without evaluating them, so that a mistake is found before a run (G024)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fuelclient.errors import FuelError, InvalidDocument
from fuelclient.expressions import legacy, yaql_engine
from fuelclient.expressions.evaluation import chosen
from fuelclient.graph.references import check_parameters, place_of_filter
from fuelclient.graph.validate import expressions_in
from fuelclient.model.finding import Finding, Place, Severity, task_finding
from fuelclient.model.graph import GraphDocument, MergedTask
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.select import filtered


def refusals(document: GraphDocument, *, packaged: bool = False) -> Iterator[Finding]:
    """Yield what would refuse a run of a document, or of a package: unreadable expressions, and impossible
    parameters."""
    file = document.tasks[0].source.file if document.tasks else ""
    yield from unreadable_filter(document.metadata, Place(file))
    for task in document.tasks:
        yield from unreadable([task])
        yield from check_parameters(task, packaged=packaged)


def unreadable_filter(metadata: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    """Yield an error for a node filter that cannot be parsed."""
    stated = metadata.get("node_filter")
    text = stated.get(yaql_engine.YAQL) if isinstance(stated, Mapping) else stated
    if not stated or not isinstance(text, str):
        return  # without an expression to read, the parser need not be built; an empty filter is none
    try:
        yaql_engine.parse(text)
    except InvalidDocument as error:
        yield Finding(Severity.ERROR, "G024", f"node_filter: {error.message.rstrip('.')}", place, hint=error.hint)


def check_filter(snapshot: Snapshot, metadata: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield an error for the node filter in the metadata of a merged graph, if a run would refuse it: it cannot be read
    (G024), or has no value on the environment's nodes (G034). One that lets none through is a warning (G066)."""
    stated, place = metadata.get("node_filter"), place_of_filter(snapshot.layers)
    found = (*unreadable_filter(metadata, place),)
    yield from found
    if stated and not found:
        try:
            if snapshot.nodes and not filtered(snapshot.nodes, stated, chosen):
                message = "the graph's node filter lets no node through: a run has nothing to do"
                hint = "It may be so on purpose, until nodes are marked; --node names the nodes of a run."
                yield Finding(Severity.WARNING, "G066", message, place, hint=hint)
        except FuelError as error:
            message = f"node_filter: {error.message.rstrip('.')}"
            yield Finding(Severity.ERROR, "G034", message, place, hint=error.hint)


def unreadable(tasks: Iterable[Task | MergedTask]) -> Iterator[Finding]:
    """Yield an error for every YAQL expression that cannot be parsed, at any depth of an attribute that has an effect,
    and for every condition in Fuel's own language that cannot be."""
    for stated in tasks:
        task = stated.task if isinstance(stated, MergedTask) else stated
        has_expressions = any(True for _ in expressions_in(task.attributes))  # few have
        for attribute, value in task.attributes.items() if has_expressions else ():
            if attribute in task.ignored:
                continue
            for text in expressions_in(value):
                yield from _problems(yaql_engine.parse, text, stated, attribute)
        condition = task.condition
        if isinstance(condition, str):
            yield from _problems(legacy.parse_condition, condition, stated, "condition")


def _problems(
    parse: Callable[[str], object], text: str, stated: Task | MergedTask, attribute: str
) -> Iterator[Finding]:
    try:
        parse(text)
    except InvalidDocument as error:
        problem = f"{attribute}: {error.message.rstrip('.')}"
        yield task_finding(Severity.ERROR, "G024", stated, attribute, problem, error.hint)

"""`graph blame`: who set each attribute of a task."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import report
from fuelclient.commands.formatters import plain
from fuelclient.commands.graph.question import Answer, Question, aligned, place_fields, value_text, where

if TYPE_CHECKING:
    from fuelclient.insight.blame import Blame, Statement
    from fuelclient.model.graph import Layer, MergedTask

_WORDS = {
    "sets": "wins", "overridden": "overridden", "removes": "defines the task without it",
    "silent": "does not state it", "apart": "has another variant", "absent": "does not have the task",
}  # fmt: skip


class GraphBlame(Question):
    """Show who set each attribute of a task, and what that overrode

    Each line is an attribute of the merged task: its value, the layer that set it, and the file and line. The lines
    below it are the values that this overrode, from the least important layer to the most; of lists they also say which
    elements were added and removed. ATTR limits the answer to one attribute (requires), to one value
    (parameters.timeout) or to all below one (parameters). --explain shows what every layer contributes, including
    layers that do not have the task.

    If several plugins define the task, each definition is shown. A Fuel master stores no files and lines.

      fuel2 graph blame netconfig --env 1
      fuel2 graph blame netconfig parameters.timeout --env 1 --explain
      fuel2 graph blame netconfig --env 1 -f json
    """

    arguments = (
        option("task", metavar="TASK", help="id of the task"),
        option("attribute", metavar="ATTR", nargs="?", help="one attribute, or one in it"),
        flag("--explain", help="what every layer says of each attribute"),
        *Question.arguments,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.graph.merge import merge_layers
        from fuelclient.insight.blame import blame, blame_of
        from fuelclient.plan.study import named

        layers = self.snapshot(parsed_args).layers
        merged = merge_layers(layers)
        report(finding for finding in merged.findings if finding.task == parsed_args.task)
        lines: list[str] = []
        definitions = []
        for index in named(merged, parsed_args.task):
            task = merged.tasks[index]
            attribute = parsed_args.attribute
            rows = blame_of(task, attribute, layers) if attribute else blame(task, layers)
            explained = layers if parsed_args.explain else ()
            lines += [*([""] if lines else []), *_lines(task, rows, explained)]
            definitions.append(_definition(task, rows, explained))
        return Answer(lines, {"task": parsed_args.task, "definitions": definitions})


def _lines(task: MergedTask, rows: Sequence[Blame], layers: Sequence[Layer]) -> Iterator[str]:
    over = ", ".join(owner.label for owner in task.overrides)
    yield f"{task.id}: {task.owner.label}{f', over {over}' if over else ''}"
    cells = [cells for row in rows for cells in (_explained(task, row, layers) if layers else _shown(row))]
    yield from aligned(cells, "  ")


def _shown(row: Blame) -> Iterator[tuple[str, ...]]:
    value = "(removed)" if row.dropped else value_text(row.value)
    yield row.path, value, row.origin.owner.label, where(row.origin.place)
    for old, origin in reversed(row.replaced):
        yield "  overrode", value_text(old), origin.owner.label, where(origin.place)
    for word, elements in zip(("  added", "  removed"), _changes(row), strict=True):
        if elements:
            yield word, value_text(elements), "", ""


def _explained(task: MergedTask, row: Blame, layers: Sequence[Layer]) -> Iterator[tuple[str, ...]]:
    from fuelclient.insight.blame import statements

    yield row.path, "", "(removed)" if row.dropped else value_text(row.value), ""
    for said in statements(task, row, layers):
        value = value_text(said.value) if said.effect in ("sets", "overridden") else ""
        yield f"  {said.owner.label}", _WORDS[said.effect], value, where(said.place)


def _changes(row: Blame) -> tuple[list[Any], list[Any]]:
    """Return what the winning list adds to the one that it overrode, and what it removes from it."""
    if row.dropped or not row.replaced or not isinstance(row.value, list) or not isinstance(row.replaced[0][0], list):
        return [], []
    now, before = row.value, row.replaced[0][0]
    return [item for item in now if item not in before], [item for item in before if item not in now]


def _definition(task: MergedTask, rows: Sequence[Blame], layers: Sequence[Layer]) -> dict[str, Any]:
    return {
        "layer": task.owner.label,
        "overrides": [owner.label for owner in task.overrides],
        "attributes": [_row(task, row, layers) for row in rows],
    }


def _row(task: MergedTask, row: Blame, layers: Sequence[Layer]) -> dict[str, Any]:
    from fuelclient.insight.blame import statements

    added, removed = _changes(row)
    fields = {
        "attribute": row.path, "value": plain(row.value), "removed": row.dropped, "changed": row.is_changed,
        "layer": row.origin.owner.label, **place_fields(row.origin.place),
        "overrode": [
            {"value": plain(value), "layer": origin.owner.label, **place_fields(origin.place)}
            for value, origin in reversed(row.replaced)
        ],
        "elements_added": plain(added), "elements_removed": plain(removed),
    }  # fmt: skip
    if layers:
        fields["layers"] = [_statement(said) for said in statements(task, row, layers)]
    return fields


def _statement(said: Statement) -> dict[str, Any]:
    return {
        "layer": said.owner.label, "effect": str(said.effect), "value": plain(said.value), **place_fields(said.place),
    }  # fmt: skip

"""`graph blame`: who set each attribute of a task."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.base import report
from fuelclient.commands.fitting import align
from fuelclient.commands.graph.question import Answer, Question, encode, value_text, where

if TYPE_CHECKING:
    from fuelclient.insight.blame import Blame, Statement
    from fuelclient.model.graph import MergedTask

_EFFECTS = {
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
        from fuelclient.insight.blame import blame, blame_of, statements
        from fuelclient.plan.study import indices_of

        layers = self.snapshot(parsed_args).layers
        merged = merge_layers(layers)
        report(finding for finding in merged.findings if finding.task == parsed_args.task)
        lines: list[str] = []
        definitions = []
        for index in indices_of(merged, parsed_args.task):
            task = merged.tasks[index]
            attribute = parsed_args.attribute
            rows = blame_of(task, attribute, layers) if attribute else blame(task, layers)
            explained = layers if parsed_args.explain else ()
            explanations = [statements(task, row, explained) for row in rows]
            lines += [*([""] if lines else []), *_lines(task, rows, explanations)]
            attributes = [
                {**encode(row), "layers": each} if explained else row
                for row, each in zip(rows, explanations, strict=True)
            ]
            definitions.append({"layer": task.owner, "overrides": task.overrides, "attributes": attributes})
        return Answer(lines, {"task": parsed_args.task, "definitions": definitions})


def _lines(task: MergedTask, rows: Sequence[Blame], explanations: Sequence[Sequence[Statement]]) -> Iterator[str]:
    overrides = ", ".join(owner.label for owner in task.overrides)
    yield f"{task.id}: {task.owner.label}{f', over {overrides}' if overrides else ''}"
    cells = map(_explained_cells, rows, explanations) if any(explanations) else map(_cells, rows)
    yield from align(chain.from_iterable(cells), "  ")


def _cells(row: Blame) -> Iterator[tuple[str, ...]]:
    yield row.attribute, _value(row), row.origin.owner.label, where(row.origin.place)
    for overridden in row.overrode:
        yield "  overrode", value_text(overridden.value), overridden.origin.owner.label, where(overridden.origin.place)
    for word, elements in (("  added", row.elements_added), ("  removed", row.elements_removed)):
        if elements:
            yield word, value_text(elements), "", ""


def _explained_cells(row: Blame, statements: Sequence[Statement]) -> Iterator[tuple[str, ...]]:
    yield row.attribute, "", _value(row), ""
    for each in statements:
        value = value_text(each.value) if each.effect in ("sets", "overridden") else ""
        yield f"  {each.layer.label}", _EFFECTS[each.effect], value, where(each.place)


def _value(row: Blame) -> str:
    return "(removed)" if row.removed else value_text(row.value)

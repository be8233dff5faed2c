"""`graph order`: the total order of the tasks, and why each is where it is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fuelclient.commands.graph.question import Answer, OrderQuestion, aligned, place_fields, where

if TYPE_CHECKING:
    from fuelclient.insight.positions import Position
    from fuelclient.plan.study import Study


class GraphOrder(OrderQuestion):
    """Show all tasks in order, each with the reason for its position

    The order is that of a preview. The reason for a task's position is the last of its direct predecessors, with the
    statement that makes it one. Among the tasks of one stage, the reason is the rule that decides: the number after the
    stage, the name of the plugin, or the order in the file. Tasks of one generation may run at the same time; their
    order in the list is that of the merge.

      fuel2 graph order --env 1
      fuel2 graph order --env 1 --type default -f json
    """

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.positions import positions

        study = self.study(parsed_args)
        places = list(positions(study))
        header = ("#", "gen", "stage", "task", "layer", "because", "where")
        lines = aligned([header, *(_cells(study, position) for position in places)])
        return Answer(lines, {"order": [_record(study, position) for position in places]})


def _cells(study: Study, position: Position) -> tuple[str, ...]:
    row = position.row
    place = where(position.words[0].place) if position.words else ""
    return (
        str(row.order), row.generations, _stage(study, position), row.task, row.layer, _because(study, position), place,
    )  # fmt: skip


def _stage(study: Study, position: Position) -> str:
    """Return the stage as the task states it, or else that of the sync points around it."""
    return study.merged.tasks[position.index].task.stage or position.row.stage or ""


def _because(study: Study, position: Position) -> str:
    from fuelclient.graph.stage import parse_stage

    because, after = str(position.because), position.after
    if because == "priority":
        before = next(task for task in study.merged.tasks if task.id == after)
        own = parse_stage(study.merged.tasks[position.index].task.stage).priority
        return f"priority {own:g} > {parse_stage(before.task.stage).priority:g}"
    if because in ("plugin", "file", "level"):
        rule = {"plugin": "the plugin's name", "file": "the order in the file", "level": "the layer"}[because]
        return f"same priority as {after}; {rule} decides"
    if because == "dependency":
        word, more = position.words[0], len(position.words) - 1
        return f"{word.task}.{word.attribute}: {word.word}{f' (and {more} more)' if more else ''}"
    return {
        "nothing": "nothing precedes it", "nowhere": "it runs on no node", "computed": f"computed: after {after}",
        "stage": f"stage: after {after}",
    }[because]  # fmt: skip


def _record(study: Study, position: Position) -> dict[str, Any]:
    row = position.row
    statements: Iterator[dict[str, Any]] = (
        {
            "task": word.task, "attribute": word.attribute, "word": word.word, "layer": word.place.layer,
            **place_fields(word.place),
        }
        for word in position.words
    )  # fmt: skip
    return {
        "order": row.order, "first_generation": row.first_generation, "last_generation": row.last_generation,
        "stage": _stage(study, position) or None, "task": row.task, "layer": row.layer,
        "because": str(position.because), "after": position.after or None, "statements": list(statements),
    }  # fmt: skip

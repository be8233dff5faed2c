"""`graph impact`: what a task holds up."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import option
from fuelclient.commands.graph.question import Answer, OrderQuestion, aligned
from fuelclient.commands.shell import count

if TYPE_CHECKING:
    from fuelclient.insight.impact import Impact
    from fuelclient.model.graph import MergedTask


class GraphImpact(OrderQuestion):
    """Show which tasks run after a task, and so wait for it

    Each row is a task that waits for TASK, directly or indirectly, on at least one node. It shows the fewest edges
    between the two, how many instances wait, and whether every path to the task leads through TASK. If TASK fails on
    all its nodes, these instances do not run; 'fuel2 graph simulate --fail TASK/NODE' shows one failure with fault
    tolerance.

      fuel2 graph impact netconfig --env 1
      fuel2 graph impact netconfig --env 1 -f json
    """

    arguments = (
        option("task", metavar="TASK", help="id of the task"),
        *OrderQuestion.arguments,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        from fuelclient.insight.impact import impact
        from fuelclient.plan.study import named

        study = self.unordered(parsed_args)
        tasks = study.merged.tasks
        found = impact(study.expansion, named(study.merged, parsed_args.task))
        rows = [
            {
                "task": tasks[held.index].id, "layer": tasks[held.index].owner.label, "distance": held.distance,
                "instances": held.instances, "only_through": held.only,
            }
            for held in found.held
        ]  # fmt: skip
        document = {
            "task": parsed_args.task, "waiting": rows, "waiting_instances": found.instances,
            "tasks": found.placed_tasks, "instances": found.placed_instances,
        }  # fmt: skip
        return Answer(list(_lines(parsed_args.task, tasks, found)), document)


def _lines(name: str, tasks: Sequence[MergedTask], found: Impact) -> Iterator[str]:
    share = round(100 * len(found.held) / max(found.placed_tasks, 1))
    yield (
        f"{count(len(found.held), 'task')} of {found.placed_tasks} ({share} %), with "
        f"{count(found.instances, 'instance')} of {found.placed_instances}, wait for {name}."
    )
    only = sum(held.only for held in found.held)
    if found.held:
        yield f"Every path to {only} of them leads through {name}."
        yield from aligned(
            [
                ("edges", "task", "instances", "only through it", "layer"),
                *(
                    (
                        str(held.distance), tasks[held.index].id, str(held.instances), "yes" if held.only else "",
                        tasks[held.index].owner.label,
                    )
                    for held in found.held
                ),
            ],
            "  ",
        )  # fmt: skip

"""`graph query`: the tasks that an expression selects."""

from __future__ import annotations

import argparse

from fuelclient.commands.arguments import flag, option
from fuelclient.commands.graph.question import (
    Answer,
    OrderQuestion,
    aligned,
    cycle_names,
    place_fields,
    results_of,
    selected,
    where,
)
from fuelclient.commands.shell import LOG, count


class GraphQuery(OrderQuestion):
    """Select tasks by name, neighbourhood or property, in execution order

    QUERY is one or several of these, joined by 'or' (either) or by a comma or 'and' (both); ! or 'not' means all other
    tasks; brackets group. A blank alone joins nothing. A task id, in double quotes if it has blanks; a glob on ids
    (neutron-*); a pattern (/^neutron/); +TASK with all before it, TASK+ with all after it, 2+TASK+1 with those at most
    two edges before and one after it; A..B, what lies between two tasks; role:NAME; layer:release, layer:plugin,
    layer:cluster or layer:PLUGIN; type:puppet; state:added, overridden, unchanged or unplaced; stage:NAME;
    stage:NAME/<0 for the tasks that state a stage with such a priority; result:error, ready, skipped, pending or
    running for tasks with an instance of that status in the last run, or in the run that --run names.
    role:compute|cinder has either value.

    The graph may have cycles. Their tasks have no order among themselves, so stage:NAME, which needs one, is refused.

    Each line is a task id. --explain adds the layer, the place, and why the task is selected.

      fuel2 graph query '1+keystone+1' --env 1 --explain
      fuel2 graph query 'role:compute|cinder,!state:unchanged' --env 1
      fuel2 graph query 'layer:plugin,state:overridden or globals..keystone' --env 1 -f json
    """

    arguments = (
        option("query", metavar="QUERY", help="which tasks, in quotes"),
        option("--run", type=int, metavar="RUN", help="the run that result: is about (default: the last)"),
        flag("--explain", help="also say why each task is selected"),
        *OrderQuestion.arguments,
    )

    def answer(self, parsed_args: argparse.Namespace) -> Answer:
        study = self.study(parsed_args, despite_cycles=True)
        results = results_of(self.backend, parsed_args.env, parsed_args.graph_type, parsed_args.run)
        chosen = selected(study, parsed_args.query, self.app.stderr, results)
        kept = [(row, index) for row, index in zip(study.rows, study.indices, strict=True) if index in chosen]
        LOG.info("%s of %d.", count(len(kept), "task"), len(study.rows))
        places = [study.merged.tasks[index].origin().place for _, index in kept]
        lines = [row.task for row, _ in kept]
        if parsed_args.explain:
            lines = aligned(
                (row.task, "; ".join(chosen[index]), row.layer, where(place))
                for (row, index), place in zip(kept, places, strict=True)
            )
        rows = [
            {
                "task": row.task, "order": row.order, "layer": row.layer, **place_fields(place),
                "because": list(chosen[index]),
            }
            for (row, index), place in zip(kept, places, strict=True)
        ]  # fmt: skip
        return Answer(lines, {"query": parsed_args.query, "selected": rows, "cycles": cycle_names(study)})

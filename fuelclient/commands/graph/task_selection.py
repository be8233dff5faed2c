"""`--select`: the tasks that a query selects, for commands that run or show some tasks of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from fuelclient.commands.arguments import option
from fuelclient.commands.base import Command
from fuelclient.commands.graph.question import selected, tell_left_out
from fuelclient.commands.shell import LOG, count
from fuelclient.errors import NotFound, UsageError

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.plan.study import Study


SELECT = option("--select", metavar="QUERY", help="only the tasks that a query selects; see 'graph query'")
"""`select`, None for all tasks."""


def selected_tasks(command: Command, query: str, env: int, graph_types: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the tasks of a graph that a query selects, in execution order.

    Raise `UsageError` for several graphs, and `NotFound` if nothing is selected: without tasks a run would have all.
    """
    from fuelclient.backends.studies import study_of

    if len(graph_types) != 1:
        raise UsageError("--select selects tasks of one graph.", hint="Name one graph type, or use --task-names.")
    snapshot = command.backend.graphs.snapshot(env, graph_types[0])
    studied = study_of(command.backend, snapshot, despite_cycles=True)
    tasks = chosen_tasks(command, studied, query, env, graph_types[0])
    tell_left_out(studied.findings)
    LOG.info("%s of %d are selected.", count(len(tasks), "task"), len(studied.merged.tasks))
    return tasks


def chosen_tasks(command: Command, studied: Study, query: str, env: int, graph_type: str) -> tuple[str, ...]:
    """Return the ids of the tasks of a study that a query selects, in execution order. Raise `NotFound` for none."""
    chosen = selected(studied, query, command.app.stderr, results_of(command.backend, env, graph_type))
    if not chosen:
        raise NotFound(
            "task", f"that {query} selects", hint="`fuel2 graph query --explain` shows what a query selects."
        )
    ordered = studied.indices or range(len(studied.merged.tasks))  # a graph that cannot be merged has no order
    return tuple(dict.fromkeys(studied.merged.tasks[index].id for index in ordered if index in chosen))


def results_of(
    backend: Backend, env: int, graph_type: str, run_id: int | None = None
) -> Callable[[], dict[str, set[str]]]:
    """Return what reads how the instances of each task ended in a run, by default the last one."""
    from fuelclient.backends.last_run import results_of as results_in

    return cache(partial(results_in, backend, env, graph_type, run_id))

"""Requests for a run: whether they make sense, and whether their plans do anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuelclient.errors import InvalidGraph, UsageError
from fuelclient.graph.validate import require_type
from fuelclient.model.run import RunRequest
from fuelclient.plan.plan import Plan


def checked(request: RunRequest, runs_nothing: Callable[[str], bool]) -> RunRequest:
    """Return the request as it is meant. Raise `UsageError` if it makes no sense.

    `runs_nothing` tells of a kind of executor whether its tasks only tell what they would do, and raises `UsageError`
    for an unknown kind. A request that names such a kind is a noop run, so that nothing counts as done afterwards. A
    node that has such an executor itself is different: for it, there are no other runs.
    """
    if not request.graph_types:
        raise UsageError("There is no graph to execute.", hint="Name at least one graph type.")
    if request.dry_run and request.noop:
        raise UsageError("A run is a dry run or a noop run, not both.", hint="Choose --dry-run or --noop.")
    for graph_type in request.graph_types:
        require_type(graph_type)
    is_noop = bool(request.executor) and runs_nothing(request.executor)
    return replace(request, noop=True) if is_noop and not request.dry_run else request


def require_something(made: Plan) -> None:
    """Raise `InvalidGraph` if a plan has no task instances but sync points."""
    if made.places_nothing:
        nodes = ", ".join(map(str, made.node_ids)) or "no node: none can be deployed now, or the node filter gives none"
        raise InvalidGraph(
            f"The {made.graph_type} graph places nothing: it would run on {nodes}.",
            findings=made.findings,
            hint="Name nodes that have its roles (--node), or see `fuel2 graph preview`.",
        )


def nothing_selected(request: RunRequest) -> InvalidGraph:
    """Return the error for a request whose filters leave nothing of any of its graphs."""
    options = (("--task-names", request.task_names), ("--subgraphs", request.subgraphs))
    named = " and ".join(f"{option} {', '.join(names)}" for option, names in options if names)
    types = list(dict.fromkeys(request.graph_types))
    graphs = f"{types[0]} graph" if len(types) == 1 else f"{', '.join(types[:-1])} and {types[-1]} graphs"
    return InvalidGraph(
        f"The selection leaves nothing of the {graphs}: no task instance that would run is in {named}.",
        hint="The start of a subgraph comes before its end; `fuel2 graph execute --dry-run` shows what is left out.",
    )

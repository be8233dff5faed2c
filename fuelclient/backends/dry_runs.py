"""Dry runs: what would run, as it is computed here and, on a Fuel master, as the master decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from fuelclient.backends.base import Backend
from fuelclient.backends.plans import planned
from fuelclient.errors import InvalidDocument, NotFound
from fuelclient.model.finding import Finding
from fuelclient.model.run import Action, DryGraph, DryRun, Run, RunRequest
from fuelclient.support import supports

_PAUSE = 0.5
"""Seconds between two looks at the master's dry run."""


def dry_run(
    backend: Backend,
    request: RunRequest,
    *,
    action: Action | None = None,
    timeout: float | None = None,
    begun: Callable[[Run], None] = lambda run: None,  # noqa: ARG005 (what a caller's function is given)
    assume: str = "",
) -> DryRun:
    """Return what a request, or the master's own `action` on its nodes, would run.

    A Fuel master is asked for its decision, which it keeps as a run: `begun` is told of it before the wait for its end,
    which takes at most `timeout` seconds. It is not asked about the nodes that `assume` describes. Raise what
    `Runs.begin` raises for a request that cannot run.
    """
    if assume or not supports(backend.runs.act):
        return DryRun(tuple(DryGraph(plan.graph_type, plan) for plan in planned(backend, request, assume)))
    started = backend.runs.begin(request) if action is None else backend.runs.act(action, request)
    begun(started)
    run = _waited(backend, started.id, timeout)
    if not run.is_final:
        return DryRun(run=run)
    parts = [part for part in run.children if part.graph_type]
    return DryRun(
        tuple(_graph(backend, part, request, after_earlier=position > 0) for position, part in enumerate(parts)), run
    )


def _waited(backend: Backend, run_id: int, timeout: float | None) -> Run:
    """Return the run when it has ended, or as it is after `timeout` seconds."""
    until = None if timeout is None else time.monotonic() + timeout
    while not (run := backend.runs.get(run_id)).is_final:
        if until is not None and time.monotonic() >= until:
            break
        time.sleep(_PAUSE)
    return run


def _graph(backend: Backend, part: Run, request: RunRequest, *, after_earlier: bool) -> DryGraph:
    """Return a graph of an ended dry run on a master, with the plan that is computed here."""
    decided = backend.runs.decided(part, request)
    try:
        (plan,) = planned(backend, replace(request, graph_types=(part.graph_type,)))
    except (InvalidDocument, NotFound) as error:
        found = tuple(finding for finding in getattr(error, "findings", ()) if isinstance(finding, Finding))
        return DryGraph(part.graph_type, None, decided, str(error), found)
    return DryGraph(part.graph_type, replace(plan, after_earlier=after_earlier), decided)

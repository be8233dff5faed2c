"""The evaluation of a graph's computed dependencies, for every question about it.

A module of its own, because questions about a graph without such dependencies end here: what they do not need, they do
not import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.plan.evaluate import Evaluation
    from fuelclient.plan.preview import PreviewOptions


def evaluation_for(backend: Backend, snapshot: Snapshot, options: PreviewOptions | None = None) -> Evaluation | None:
    """Return the evaluation of the dependencies that are expressions, on the facts that a preview and a run use. It is
    None if no task has any, or if there are no facts."""
    if not any(True for layer in snapshot.layers for task in layer.tasks for _ in task.computed_attributes()):
        return None
    if supports(backend.runs.act):  # all inputs of a master are many requests
        from fuelclient.expressions.evaluation import Expressions

        return Expressions(backend.facts.effective(snapshot.cluster.id)) if snapshot.nodes else None
    from fuelclient.backends.plans import dependencies
    from fuelclient.plan.preview import PreviewOptions

    return dependencies(backend, snapshot, options or PreviewOptions())

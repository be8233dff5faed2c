"""The evaluation of a graph's expressions on the facts that a Fuel master serves.

A module of its own, because questions about a graph of the embedded engine end here: what they do not need, they do
not import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.snapshot import Snapshot
    from fuelclient.plan.evaluate import Evaluation


def evaluation_for(backend: Backend, snapshot: Snapshot) -> Evaluation | None:
    """Return the evaluation of dependencies that are expressions, for the preview of an environment of a Fuel master.

    A master serves the facts that they read. They are asked for only if a task has such dependencies.
    """
    asks = any(True for layer in snapshot.layers for task in layer.tasks for _ in task.computed_attributes())
    if backend.capabilities.inputs or not snapshot.nodes or not asks:
        return None
    from fuelclient.expressions.evaluation import Expressions

    return Expressions(backend.facts.effective(snapshot.cluster.id))

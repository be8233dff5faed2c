"""The facts for a console that evaluates expressions, from any backend: the current ones, or those of a run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound, Unsupported
from fuelclient.expressions.console import COMMON, Console
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import PARENT, Run
from fuelclient.plan.inputs import is_deployed_anew
from fuelclient.printing import ids_text
from fuelclient.serializers.values import deep_merged


@dataclass(frozen=True, slots=True)
class ConsoleFacts:
    """The new and the old facts of an environment, and the run that saw the old ones (0: none).

    The nodes in `forgotten` are deployed anew, so they have no old facts. `uncounted` means that dry or noop runs,
    which do not count, have succeeded after that run.
    """

    new: DeploymentFacts
    old: DeploymentFacts | None = None
    run_id: int = 0
    forgotten: tuple[str, ...] = ()
    uncounted: bool = False

    def at(self, node: str = "") -> Console:
        """Open a console on a node; without one, on the facts that all nodes share. Raise `NotFound`."""
        if node and node not in self.new.nodes:
            known = [uid for uid in self.new.nodes if uid != "null"]
            raise NotFound("fact", f"of node {node}", hint=f"Nodes with facts: {ids_text(known)}.")
        old = None if node in self.forgotten else self.old
        return Console(self.new, old, node or COMMON)

    def seen_by(self, node: str = "") -> Mapping[str, Any]:
        """All facts of a node, or those that all nodes share."""
        return deep_merged(self.new.common, self.new.nodes.get(node, {}))


def console_facts(backend: Backend, cluster_id: int, before: int | None = None) -> ConsoleFacts:
    """The facts of an environment now, and those of the last successful run that was not a dry run.

    With `before`, the id of a run, both are as that run found them when it began. Raise `NotFound` if that run is on
    another environment, or recorded no facts.
    """
    run = None if before is None else backend.runs.get(before)
    if run is not None and run.cluster_id != cluster_id:
        hint = f"`fuel2 task list --env {cluster_id}` has its runs."
        raise NotFound("run", f"{before} of environment {cluster_id}", hint=hint)
    old, run_id, uncounted = _last(backend, cluster_id, (run.parent_id or run.id) if run else None)
    if run is not None:
        return ConsoleFacts(backend.runs.deployment_info(run.id), old, run_id, uncounted=uncounted)
    nodes = backend.clusters.environment(cluster_id).nodes
    forgotten = tuple(str(node.id) for node in nodes if is_deployed_anew(node))
    return ConsoleFacts(backend.facts.effective(cluster_id), old, run_id, forgotten, uncounted)


def _last(backend: Backend, cluster_id: int, before: int | None) -> tuple[DeploymentFacts | None, int, bool]:
    """The facts of the last run that counts, its id, and whether later runs succeeded that do not count.

    With `before`, only runs before this one are considered. Without such a run, the facts are None and the id is 0.
    """
    try:
        runs: list[Run] = list(backend.runs.list(cluster_id=cluster_id, statuses=["ready"], names=[PARENT]))
    except Unsupported:  # a backend that cannot run anything has no runs
        return None, 0, False
    uncounted = False
    for run in sorted((run for run in runs if before is None or run.id < before), key=lambda run: -run.id):
        if run.dry_run:
            uncounted = True
            continue
        with suppress(NotFound):
            return backend.runs.deployment_info(run.id), run.id, uncounted
    return None, 0, uncounted

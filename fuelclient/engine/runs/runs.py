"""The facet of runs. What it needs executors for is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from fuelclient.engine.runs.records import Records
from fuelclient.model.graph import DEFAULT_TYPE
from fuelclient.store.database import Database
from fuelclient.support import unsupported

if TYPE_CHECKING:
    from fuelclient.engine.runs.jobs import Provider
    from fuelclient.engine.runs.operations import Operations, Start
    from fuelclient.model.diagnosis import Diagnosis
    from fuelclient.model.run import Logs, Run, RunRequest
    from fuelclient.plan.inputs import Inputs
    from fuelclient.plan.plan import Check


class Runs(Records):
    """Runs; see `backends.base.Runs`. `start` starts a runner, and `provider` makes its executor."""

    pause = 0.0
    act = unsupported(
        "Graphs define how environments are deployed and reset here.",
        hint="Run such a graph with `fuel2 graph execute`.",
    )
    decided = unsupported("Plans are computed from their inputs here.", hint="Plan the request.")

    def __init__(self, database: Database, *, start: Start | None = None, provider: Provider | None = None) -> None:
        super().__init__(database)
        self._start, self._provider = start, provider

    @cached_property
    def _operations(self) -> Operations:
        from fuelclient.engine.runs import runner
        from fuelclient.engine.runs.jobs import executor_for
        from fuelclient.engine.runs.operations import Operations

        return Operations(self._database, self._start or runner.start, self._provider or executor_for)

    def begin(self, request: RunRequest, *, may_idle: bool = False, check: bool = True, digest: str = "") -> Run:
        return self._operations.begin(request, may_idle=may_idle, check=check, digest=digest)

    def check(self, node_ids: Sequence[int], graph_type: str = DEFAULT_TYPE) -> Sequence[Diagnosis]:
        return self._operations.check(node_ids, graph_type)

    def checker(self, request: RunRequest, fetched: Inputs) -> Check:
        """The executor of the engine's settings is asked."""
        return self._operations.checker(request, fetched)

    def stop(self, run_id: int, *, kill: bool = False) -> Run:
        return self._operations.stop(run_id, kill=kill)

    def stop_cluster(self, cluster_id: int, *, kill: bool = False) -> Run:
        return self._operations.stop_cluster(cluster_id, kill=kill)

    def resume(self, run_id: int, *, rerun_interrupted: bool = False) -> Run:
        """Start a new runner."""
        return self._operations.resume(run_id, rerun_interrupted=rerun_interrupted)

    def delete(self, *run_ids: int, force: bool = False) -> tuple[str, ...]:
        return self._operations.delete(*run_ids, force=force)

    def logs(self, run_id: int, task: str, node: str) -> Logs:
        return self._operations.logs(run_id, task, node)

"""Runs that the process of the test executes, instead of a runner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from fuelclient.engine.runs.background import Prepared
from fuelclient.engine.runs.runner import execute
from fuelclient.engine.runs.runs import Runs
from fuelclient.model.run import Run, RunRequest
from fuelclient.store.database import Database


class InProcessRuns(Runs):
    """Runs that end before `begin` and `resume` return. `before` is called when everything has been checked; `waiting`
    is how their connections wait for the engine file."""

    def __init__(self, database: Database, before: Callable[[], object] = bool, **waiting: Any) -> None:
        def start(engine: str, run_id: int, rerun_interrupted: bool, prepared: Prepared | None) -> None:
            before()
            with closing(Database(engine, **waiting)) as other:
                execute(other, run_id, rerun_interrupted=rerun_interrupted, prepared=prepared)

        super().__init__(database, start=start)

    def begin(self, request: RunRequest, **options: Any) -> Run:
        return self.get(super().begin(request, **options).id)

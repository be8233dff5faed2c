"""The facet of runs. Operations that need executors are loaded when one of them is first used."""

from __future__ import annotations

from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from fuelclient.engine.runs.records import Records
from fuelclient.store.database import Database

if TYPE_CHECKING:
    from fuelclient.engine.runs.jobs import Provider
    from fuelclient.engine.runs.operations import Operations, Start


def _operation(name: str) -> Any:
    """Make a property of `Runs` that returns the method of `Operations` with this name."""
    return property(attrgetter(f"_operations.{name}"))


class Runs(Records):
    """Runs; see `backends.base.Runs`. `start` starts a runner, and `provider` creates its executor."""

    begin, resume, stop, stop_cluster = map(_operation, ("begin", "resume", "stop", "stop_cluster"))
    check, checker, delete, logs = map(_operation, ("check", "checker", "delete", "logs"))

    def __init__(self, database: Database, *, start: Start | None = None, provider: Provider | None = None) -> None:
        super().__init__(database)
        self._start, self._provider = start, provider

    @cached_property
    def _operations(self) -> Operations:
        from fuelclient.engine.runs import runner
        from fuelclient.engine.runs.jobs import executor_for
        from fuelclient.engine.runs.operations import Operations

        return Operations(self._database, self._start or runner.start, self._provider or executor_for)

"""Read runs: what is known of them, and what they are planned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from fuelclient.engine.facet import Facet, reads
from fuelclient.engine.reading import lookup
from fuelclient.engine.runs import history, processes
from fuelclient.engine.runs.guards import existing, parent_of, with_runner
from fuelclient.engine.runs.paths import last_words
from fuelclient.environment.checks import (
    require_instance_statuses,
    require_recorded,
    require_run_names,
    require_run_statuses,
)
from fuelclient.errors import NotFound
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import Event, HistoryFilter, HistoryRow, Run, RunRequest
from fuelclient.plan.inputs import Inputs
from fuelclient.store import events, facts, nodes, runs
from fuelclient.store.database import Connection

EVERYTHING = HistoryFilter()


class Records(Facet):
    """The part of `backends.base.Runs` that only reads. Questions and lists load no more than this."""

    def inputs(self, request: RunRequest) -> Inputs:
        """As `base.Runs`, from one read, with the durations of earlier runs."""
        from fuelclient.engine.reading.computed_facts import settle  # lists of runs need no facts
        from fuelclient.engine.runs import inputs

        if not self._database.is_reading:
            settle(self._database, request.cluster_id)
        with self._database.read() as connection:
            return inputs.with_durations(connection, inputs.read(connection, request))

    def list(
        self, *, cluster_id: int | None = None, statuses: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Sequence[Run]:
        """As `base.Runs`."""
        require_run_statuses(statuses)
        require_run_names(names)
        with self._database.read() as connection:
            if cluster_id is not None:
                lookup.cluster(connection, cluster_id)
            selected = runs.every(connection, cluster_id=cluster_id, statuses=statuses, kinds=names)
            return [with_runner(connection, run) for run in selected]

    @reads
    def get(self, connection: Connection, run_id: int) -> Run:
        """As `base.Runs`."""
        run = with_parts(connection, run_id)
        if run.runner != processes.GONE or run.message:
            return run
        return replace(run, message=last_words(self._database.path, run.id))

    @reads
    def removable(self, connection: Connection, age: timedelta, cluster_id: int | None = None) -> Sequence[int]:
        """As `base.Runs`."""
        if cluster_id is not None:
            lookup.cluster(connection, cluster_id)
        return [run.id for run in runs.ended_by_age(connection, processes.later(-age), cluster_id)]

    def history(self, run_id: int, filters: HistoryFilter = EVERYTHING) -> Sequence[HistoryRow]:
        """As `base.Runs`."""
        require_instance_statuses(filters.statuses)
        run, found = self._history(run_id, filters)

        def every() -> tuple[Sequence[HistoryRow], Sequence[int]]:
            _, rows = self._history(run_id, EVERYTHING)
            with self._database.read() as connection:
                return rows, nodes.ids(connection)

        require_recorded(run, filters, found, every)
        return found

    @reads
    def _history(self, connection: Connection, run_id: int, filters: HistoryFilter) -> tuple[Run, Sequence[HistoryRow]]:
        run = existing(connection, run_id)
        run = replace(run, children=tuple(runs.children(connection, run.id)))
        return run, [row for part in run.children or (run,) for row in history.rows(connection, part, filters)]

    @reads
    def events(self, connection: Connection, run_id: int, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """As `base.Runs`."""
        return events.after(connection, parent_of(connection, run_id).id, after, limit)

    @reads
    def deployment_info(self, connection: Connection, run_id: int) -> DeploymentFacts:
        """As `base.Runs`."""
        seen = facts.seen(connection, _last_planned(connection, run_id).id)
        if seen.is_empty:
            raise _nothing_recorded("deployment info", run_id)
        return seen

    def settings(self, run_id: int) -> Mapping[str, Any]:
        """As `base.Runs`."""
        return self._recorded(run_id, facts.SETTINGS, "settings")

    def network_configuration(self, run_id: int) -> Mapping[str, Any]:
        """As `base.Runs`."""
        return self._recorded(run_id, facts.NETWORKS, "network configuration")

    @reads
    def _recorded(self, connection: Connection, run_id: int, part: str, noun: str) -> Mapping[str, Any]:
        recorded = facts.part_of(connection, _last_planned(connection, run_id).id, part)
        if recorded is None:
            raise _nothing_recorded(noun, run_id)
        return recorded


def with_parts(connection: Connection, run_id: int) -> Run:
    """Return a run with its graphs, and whether its runner lives."""
    run = with_runner(connection, existing(connection, run_id))
    return replace(run, children=tuple(runs.children(connection, run.id)))


def _last_planned(connection: Connection, run_id: int) -> Run:
    """Return the child of a run that was planned last; the run itself if it has none, or is a child."""
    run = existing(connection, run_id)
    return next((child for child in reversed(runs.children(connection, run.id)) if child.digest), run)


def _nothing_recorded(noun: str, run_id: int) -> NotFound:
    return NotFound(noun, f"of run {run_id}", hint="It is recorded when a graph begins.")

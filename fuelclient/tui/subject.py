"""What the screens of one environment show: the study of its graph, and what is derived from it once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fuelclient.insight.reduction import Reach
from fuelclient.insight.roles import tasks_of_roles
from fuelclient.insight.study import Study, study
from fuelclient.model.finding import Finding
from fuelclient.model.graph import GraphSummary
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Subject:
    """One graph of one environment, ready to be shown.

    `reach` is about rows of the study, by their order. `tasks_of` has the merged tasks of each role. `graphs` are all
    graphs of the environment. `plugins` are those that are installed, enabled here or not, and `clashes` what they
    bring twice.
    """

    study: Study
    release: Release
    reach: Reach
    tasks_of: Mapping[str, frozenset[int]]
    graphs: tuple[GraphSummary, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    clashes: Mapping[int, tuple[Finding, ...]] | None = None

    @property
    def env(self) -> int:
        """The id of the environment."""
        return self.study.snapshot.cluster.id

    @property
    def types(self) -> tuple[str, ...]:
        """The graph types that the environment has, whichever layer brings them."""
        return tuple(sorted({graph.type for graph in self.graphs} | {self.study.snapshot.graph_type}))


def subject(
    snapshot: Snapshot,
    release: Release,
    graphs: tuple[GraphSummary, ...],
    plugins: tuple[Plugin, ...],
    clashes: Mapping[int, tuple[Finding, ...]],
) -> Subject:
    """A snapshot made ready. It takes as long as a preview, so it belongs into a worker."""
    studied = study(snapshot)
    following = [
        [studied.row_of[after] for after in studied.after[index] if after in studied.row_of]
        for index in studied.indices
    ]
    return Subject(
        studied, release, Reach(following), tasks_of_roles(studied.merged.tasks, snapshot), graphs, plugins, clashes
    )

"""The requests of the UI to a backend. Each request reads its own answer.

The gateway calls `read` in a worker thread, so expensive computations belong there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from fuelclient.backends.base import Backend
from fuelclient.backends.earlier_runs import results_of
from fuelclient.backends.plugins import if_enabled, plugins_on
from fuelclient.backends.studies import study_of
from fuelclient.environment.clashes import Contributor, clashes
from fuelclient.errors import InvalidGraph, NotFound, Unsupported
from fuelclient.insight.comparison import Comparison
from fuelclient.insight.lanes import Reach
from fuelclient.insight.stats import tasks_of_roles
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE, GraphSummary, Level
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.model.run import PARENT, Run
from fuelclient.plan.study import Study
from fuelclient.printing import plain_lines
from fuelclient.support import supports

_Answer_co = TypeVar("_Answer_co", covariant=True)


class Request(ABC, Generic[_Answer_co]):
    """A request to a backend. Equal requests share one cached answer until the data changes."""

    __slots__ = ()
    WHAT: ClassVar[str]
    """The name of the answer in messages; `{0}` is the request."""

    @property
    def what(self) -> str:
        return self.WHAT.format(self)

    @abstractmethod
    def read(self, backend: Backend) -> _Answer_co:
        """Read the answer from the backend, and raise its errors."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the backend supports. Screens need it because they have no backend."""

    kill: bool = True
    resume: bool = True
    executors: bool = True


def _abilities(backend: Backend) -> Abilities:
    runs = backend.runs
    return Abilities(supports(runs.stop, "kill"), supports(runs.resume), supports(runs.check))


@dataclass(frozen=True, slots=True)
class Overview:
    clusters: tuple[Cluster, ...]
    releases: tuple[Release, ...]
    nodes: tuple[Node, ...]
    plugins: tuple[Plugin, ...]
    graphs: tuple[GraphSummary, ...]
    abilities: Abilities = Abilities()


@dataclass(frozen=True, slots=True)
class AskOverview(Request[Overview]):
    WHAT = "the environments"

    def read(self, backend: Backend) -> Overview:
        clusters = tuple(backend.clusters.list())
        return Overview(
            clusters,
            tuple(backend.releases.list()),
            tuple(backend.nodes.list()),
            plugins_on(backend, (cluster.id for cluster in clusters)),
            tuple(backend.graphs.list()),
            _abilities(backend),
        )


@dataclass(frozen=True, slots=True)
class AskGraph(Request["GraphData"]):
    WHAT = "the {0.graph_type} graph of environment {0.env}"
    env: int
    graph_type: str = DEFAULT_TYPE

    def read(self, backend: Backend) -> GraphData:
        with backend.reading():
            snapshot = backend.graphs.snapshot(self.env, self.graph_type)
            release = backend.releases.get(snapshot.cluster.release_id)
            graphs = tuple(backend.graphs.list(self.env))
            plugins = plugins_on(backend, [self.env])
            everywhere = backend.graphs.list(levels=[Level.RELEASE, Level.PLUGIN])
            clashes = _clashes(self.env, release, plugins, everywhere)
            return GraphData(study_of(backend, snapshot), release, graphs, plugins, clashes, _abilities(backend))


_CONTEXT = 4
"""The number of lines of a file that are shown above, and below, a line."""


@dataclass(frozen=True, slots=True)
class AskSource(Request[tuple[tuple[int, str], ...]]):
    """The lines around one line of a file on this machine, with their numbers; empty if it cannot be read."""

    WHAT = "{0.file}"
    file: str
    line: int

    def read(self, backend: Backend) -> tuple[tuple[int, str], ...]:  # noqa: ARG002 (files are local)
        try:
            with Path(self.file).open(encoding="utf-8", errors="replace") as stream:
                lines = islice(enumerate(stream, start=1), max(0, self.line - 1 - _CONTEXT), self.line + _CONTEXT)
                return tuple((number, text.rstrip("\n")) for number, text in lines)
        except OSError:
            return ()


@dataclass(frozen=True, slots=True)
class AskRuns(Request[tuple[Run, ...]]):
    """The runs of an environment, or of all if `env` is 0, the last one first."""

    env: int = 0

    @property
    def what(self) -> str:
        return f"the runs of environment {self.env}" if self.env else "the runs"

    def read(self, backend: Backend) -> tuple[Run, ...]:
        try:
            runs = backend.runs.list(cluster_id=self.env or None, names=[PARENT])
        except Unsupported:  # a backend that cannot run anything has no runs
            return ()
        return tuple(sorted(runs, key=lambda run: -run.id))


@dataclass(frozen=True, slots=True)
class AskResults(Request[Mapping[str, Collection[str]] | str]):
    """The results of each task's instances in the last run of a graph, or why they are unknown."""

    WHAT = "the last run of the {0.graph_type} graph"
    env: int
    graph_type: str

    def read(self, backend: Backend) -> Mapping[str, Collection[str]] | str:
        try:
            return results_of(backend, self.env, self.graph_type)
        except (NotFound, Unsupported) as error:
            return str(error)


@dataclass(frozen=True, slots=True)
class AskEnabling(Request[Comparison | str]):
    """What enabling a plugin would change in a graph, or why that cannot be computed."""

    WHAT = "what plugin {0.plugin} would change"
    env: int
    graph_type: str
    plugin: int

    def read(self, backend: Backend) -> Comparison | str:
        try:
            return if_enabled(backend, self.env, self.graph_type, self.plugin)
        except (InvalidGraph, NotFound, Unsupported) as error:
            return str(error)


@dataclass(frozen=True, slots=True)
class AskLog(Request[tuple[str, ...]]):
    """The last lines that a task instance printed, errors last, or why there are none. They are limited because
    wrapping them takes time."""

    WHAT = "the log of {0.task}/{0.node}"
    run: int
    task: str
    node: str

    def read(self, backend: Backend) -> tuple[str, ...]:
        try:
            logs = backend.runs.logs(self.run, self.task, self.node)
        except (NotFound, Unsupported) as error:
            return (str(error),)
        lines = tail(logs.errors, _MAX_LINES)
        lines = [*tail(logs.output, max(2, _MAX_LINES - len(lines)), _MAX_CHARACTERS - sum(map(len, lines))), *lines]
        if logs.return_code is not None:
            lines.append(f"(return code {logs.return_code})")
        return tuple(lines)


_MAX_LINES, _MAX_CHARACTERS, _MAX_LINE_CHARACTERS = 500, 32_000, 2_000
"""The largest numbers of lines and characters of a log that are shown, and of characters of a line."""


def tail(text: str, lines: int, characters: int = _MAX_CHARACTERS) -> list[str]:
    """The last lines of an output, below the number of characters left out. Long lines are cut at their beginning,
    because commands report results at the end.

    >>> tail("a\\nb\\nc\\n", 2), tail("ab" * 2000, 5)[0][:33]
    (['[4 characters are left out]', 'c'], '[2000 characters are left out] ab')
    """
    kept: list[str] = []
    end, used = len(text.removesuffix("\n")), 0
    while end >= 0 and text:
        start = text.rfind("\n", 0, end) + 1
        line = text[max(start, end - _MAX_LINE_CHARACTERS) : end]
        used += len(line) + 1
        if kept and (len(kept) + bool(start) >= lines or used > characters):
            return [f"[{end + 1} characters are left out]", *reversed(kept)]
        omitted = end - start - len(line)
        shown_line = (plain_lines(line) or [""])[-1]
        kept.append(f"[{omitted} characters are left out] {shown_line}" if omitted else shown_line)
        end = start - 1
    return kept[::-1]


def _clashes(
    env: int, release: Release, plugins: Sequence[Plugin], graphs: Sequence[GraphSummary]
) -> Mapping[int, tuple[Finding, ...]]:
    """The conflicts of plugins with the release and the enabled plugins, by plugin id; none for the release's own."""

    def contributor(level: Level, owner: Release | Plugin) -> Contributor:
        owned = [graph for graph in graphs if (graph.owner.level, graph.owner.id) == (level, owner.id)]
        return Contributor(owner, {graph.type: graph.task_ids for graph in owned})

    base = contributor(Level.RELEASE, release)
    parties = {plugin.id: contributor(Level.PLUGIN, plugin) for plugin in plugins}
    enabled = [plugin.id for plugin in plugins if env in plugin.clusters]
    return {
        plugin.id: clashes(parties[plugin.id], base, [parties[other] for other in enabled if other != plugin.id])
        for plugin in plugins
        if release.id not in plugin.releases
    }


@dataclass(slots=True)
class GraphData:
    """A graph of an environment. It is computed in a worker, because that takes as long as a preview.

    `reach` is indexed by row, `tasks_of` by role. `graphs` are those of the environment; `plugins` are all installed
    ones, and `clashes` has their conflicts with the release and the enabled plugins.
    """

    study: Study
    release: Release
    graphs: tuple[GraphSummary, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    clashes: Mapping[int, tuple[Finding, ...]] = field(default_factory=dict)
    abilities: Abilities = Abilities()
    reach: Reach = field(init=False)
    tasks_of: Mapping[str, frozenset[int]] = field(init=False)

    def __post_init__(self) -> None:
        study, row_of = self.study, self.study.row_of
        rows_after = [[row_of[after] for after in study.after[index] if after in row_of] for index in study.indices]
        self.reach = Reach(rows_after)
        self.tasks_of = tasks_of_roles(study.merged.tasks, study.snapshot)
        _ = study.findings  # screens show them

    @property
    def env(self) -> int:
        return self.study.snapshot.cluster.id

    @property
    def types(self) -> tuple[str, ...]:
        """The graph types of all layers."""
        return tuple(sorted({graph.type for graph in self.graphs} | {self.study.snapshot.graph_type}))

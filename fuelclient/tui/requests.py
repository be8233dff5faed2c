"""What the UI asks of a backend: each request is a value that knows how to read its answer.

Only the gateway calls `read`, in a thread of its own; what is expensive to derive from the answer is derived there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from fuelclient.backends.base import Backend
from fuelclient.errors import NotFound, Unsupported
from fuelclient.model.cluster import Cluster
from fuelclient.model.finding import Finding
from fuelclient.model.graph import DEFAULT_TYPE, GraphSummary, Level
from fuelclient.model.node import Node
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.model.run import PARENT, Run
from fuelclient.plugins.clashes import Contributor, clashes
from fuelclient.tui.presenters.words import printable
from fuelclient.tui.subject import Subject, subject
from fuelclient.tui.watched import Watched

_Answer_co = TypeVar("_Answer_co", covariant=True)


class Request(Protocol[_Answer_co]):
    """Something to ask for; equal requests have the same answer until somebody changes the data."""

    @property
    def what(self) -> str:
        """What is asked for, for people who wait for it."""

    def read(self, backend: Backend) -> _Answer_co:
        """Ask the backend. Raises its errors."""


@dataclass(frozen=True, slots=True)
class Overview:
    """All environments, and what there is beside them."""

    clusters: tuple[Cluster, ...]
    releases: tuple[Release, ...]
    nodes: tuple[Node, ...]
    plugins: tuple[Plugin, ...]
    graphs: tuple[GraphSummary, ...]
    target: str


@dataclass(frozen=True, slots=True)
class AskOverview:
    """Ask for an `Overview`."""

    @property
    def what(self) -> str:
        return "the environments"

    def read(self, backend: Backend) -> Overview:
        return Overview(
            tuple(backend.clusters.list()),
            tuple(backend.releases.list()),
            tuple(backend.nodes.list()),
            tuple(backend.plugins.list()),
            tuple(backend.graphs.list()),
            backend.target,
        )


@dataclass(frozen=True, slots=True)
class AskSubject:
    """Ask for one graph of one environment."""

    env: int
    graph_type: str = DEFAULT_TYPE

    @property
    def what(self) -> str:
        return f"the {self.graph_type} graph of environment {self.env}"

    def read(self, backend: Backend) -> Subject:
        snapshot = backend.graphs.snapshot(self.env, self.graph_type)
        release = backend.releases.get(snapshot.cluster.release_id)
        graphs = tuple(backend.graphs.list(self.env))
        plugins = tuple(backend.plugins.list())
        everywhere = backend.graphs.list(levels=[Level.RELEASE, Level.PLUGIN])
        return subject(snapshot, release, graphs, plugins, _clashes(self.env, release, plugins, everywhere))


@dataclass(frozen=True, slots=True)
class AskSource:
    """Ask for the lines around one line of a file on this machine; there are none where it cannot be read."""

    file: str
    line: int
    around: int = 4

    @property
    def what(self) -> str:
        return self.file

    def read(self, backend: Backend) -> tuple[tuple[int, str], ...]:  # noqa: ARG002 (files lie beside any backend)
        try:
            with Path(self.file).open(encoding="utf-8", errors="replace") as stream:
                first = max(1, self.line - self.around)
                return tuple(
                    (number, text.rstrip("\n"))
                    for number, text in enumerate(stream, start=1)
                    if first <= number <= self.line + self.around
                )
        except OSError:
            return ()


@dataclass(frozen=True, slots=True)
class AskRuns:
    """Ask for the executions of an environment (0: of all), the last one first."""

    env: int = 0

    @property
    def what(self) -> str:
        return f"the runs of environment {self.env}" if self.env else "the runs"

    def read(self, backend: Backend) -> tuple[Run, ...]:
        try:
            found = backend.runs.list(cluster_id=self.env or None, names=[PARENT])
        except Unsupported:  # a backend without executions has had none
            return ()
        return tuple(sorted(found, key=lambda one: -one.id))


@dataclass(frozen=True, slots=True)
class AskRun:
    """Ask for one execution with its task instances."""

    id: int

    @property
    def what(self) -> str:
        return f"run {self.id}"

    def read(self, backend: Backend) -> Watched:
        found = backend.runs.get(self.id)
        if found.parent_id is not None:
            found = backend.runs.get(found.parent_id)
        return Watched(found, backend.runs.history(found.id))


@dataclass(frozen=True, slots=True)
class AskLog:
    """Ask for what a task instance of a run printed: its last lines, those of its errors last. Where there is none,
    the answer says why. It is bounded in lines and in characters, since whoever shows it wraps it."""

    run: int
    task: str
    node: str
    most: int = 500

    @property
    def what(self) -> str:
        return f"the log of {self.task}/{self.node}"

    def read(self, backend: Backend) -> tuple[str, ...]:
        try:
            logs = backend.runs.logs(self.run, self.task, self.node)
        except (NotFound, Unsupported) as error:
            return (str(error),)
        lines = tail(logs.errors, self.most)
        lines = [*tail(logs.output, max(2, self.most - len(lines)), _SHOWN - sum(map(len, lines))), *lines]
        if logs.return_code is not None:
            lines.append(f"(return code {logs.return_code})")
        return tuple(lines)


_SHOWN, _LINE = 32_000, 2_000
"""How many characters of a log are shown, and how many of one line."""


def tail(text: str, lines: int, shown: int = _SHOWN) -> list[str]:
    """The end of an output in at most so many lines and so many characters, below a line that says how much is left
    out. Of a long line the end is kept too: that is where commands say how they ended.

    >>> tail("a\\nb\\nc\\n", 2), tail("ab" * 2000, 5)[0][:33]
    (['[4 characters are left out]', 'c'], '[2000 characters are left out] ab')
    """
    kept: list[str] = []
    end, used = len(text.removesuffix("\n")), 0
    while end >= 0 and text:
        start = text.rfind("\n", 0, end) + 1
        line = text[max(start, end - _LINE) : end]
        used += len(line) + 1
        if kept and (len(kept) + bool(start) >= lines or used > shown):
            return [f"[{end + 1} characters are left out]", *reversed(kept)]
        without = end - start - len(line)
        told = (printable(line) or [""])[-1]
        kept.append(f"[{without} characters are left out] {told}" if without else told)
        end = start - 1
    return kept[::-1]


def _clashes(
    env: int, release: Release, plugins: Sequence[Plugin], graphs: Sequence[GraphSummary]
) -> Mapping[int, tuple[Finding, ...]]:
    """For each plugin, in what it meets the environment's release and the plugins that are enabled there."""
    tasks: dict[tuple[Level, int], dict[str, tuple[str, ...]]] = {}
    for graph in graphs:
        tasks.setdefault((graph.owner.level, graph.owner.id), {})[graph.type] = graph.task_ids
    parties = {
        plugin.id: Contributor(
            plugin.id, plugin.name, plugin.version, plugin.metadata, tasks.get((Level.PLUGIN, plugin.id), {})
        )
        for plugin in plugins
    }
    base = Contributor(0, release.name, metadata=release.metadata, tasks=tasks.get((Level.RELEASE, release.id), {}))
    found = {}
    for plugin in plugins:
        if release.id in plugin.releases:
            continue  # it brought the release itself
        others = [parties[one.id] for one in plugins if env in one.clusters and one.id != plugin.id]
        found[plugin.id] = clashes(parties[plugin.id], base, others)
    return found

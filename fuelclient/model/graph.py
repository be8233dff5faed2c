"""Graphs, the layers from which they are merged, and the origin of each attribute of a merged graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fuelclient.model.finding import NO_PLACE, Finding, Place
from fuelclient.model.task import Task

DEFAULT_TYPE = "default"
"""The graph type that is used if none is given."""

METADATA = ("node_filter", "on_success", "on_error", "on_stop")
"""The metadata that a graph may have besides its tasks and its name."""


class Level(StrEnum):
    """The three levels of owners, in rising importance."""

    RELEASE = "release"
    PLUGIN = "plugin"
    CLUSTER = "cluster"


class MergePolicy(StrEnum):
    """How a record with a `type` treats the task below it: `replace` takes its place, `overlay` overrides
    attribute by attribute. A record without a `type` always overrides attribute by attribute."""

    REPLACE = "replace"
    OVERLAY = "overlay"


def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """The sort key of a version: numbers by value, and words (`rc1`) before the version without them.

    >>> version_key("1.10.0") > version_key("1.9.3") > version_key("1.9.3-rc1")
    True
    """
    parts = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.findall(r"\d+|[A-Za-z]+", version)]
    return (*parts, (1, -1, ""))


@dataclass(frozen=True, slots=True)
class Owner:
    """A release, plugin or cluster that owns graphs. Plugins are ordered by `name` and `version`."""

    level: Level
    id: int
    name: str = ""
    version: str = ""

    @property
    def order(self) -> tuple[int, str, tuple[tuple[int, int, str], ...], int]:
        """A sort key among layers: release, plugins by (name, version), cluster.

        The names of releases and environments do not count, since users choose them.

        >>> Owner(Level.PLUGIN, 1, "b", "0.9").order < Owner(Level.CLUSTER, 1, "a").order
        True
        """
        is_plugin = self.level is Level.PLUGIN
        rank = (Level.RELEASE, Level.PLUGIN, Level.CLUSTER).index(self.level)
        return rank, self.name if is_plugin else "", version_key(self.version) if is_plugin else (), self.id

    @property
    def label(self) -> str:
        """The layer as people see it: `release`, `plugin NAME-VERSION`, `cluster`."""
        if self.level is not Level.PLUGIN:
            return str(self.level)
        return f"plugin {self.name}-{self.version}" if self.version else f"plugin {self.name}"

    def __str__(self) -> str:
        """The owner as the command line names it, with its id: `release 1`, `plugin 2`, `environment 1`."""
        return f"{'environment' if self.level is Level.CLUSTER else self.level} {self.id}"


@dataclass(frozen=True, slots=True)
class OwnerRef:
    """A release, plugin or environment by its id, as the owner of a graph, a role or a tag."""

    level: Level
    id: int


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A graph from a file or a caller, before it has an owner.

    If the document has no `name` (None), or lacks a key of `metadata`, an upload keeps the stored value. `nulls` has
    the places of keys whose value is null, which counts as absent.
    """

    tasks: tuple[Task, ...]
    name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    nulls: Mapping[str, Place] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Graph:
    """A stored graph, one per owner and type. Its id stays the same if it is uploaded again.

    `warnings` are about its document, such as duplicate keys, which the tasks may no longer show.
    """

    id: int
    type: str
    owner: Owner
    tasks: tuple[Task, ...]
    name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Finding, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The result of an upload: the stored graph, whether it is new, and the warnings about it.

    `replaced` is how many tasks the graph had before.
    """

    graph: Graph
    created: bool
    findings: tuple[Finding, ...] = ()
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """A stored graph for listings, without the bodies of its tasks."""

    id: int
    type: str
    owner: Owner
    name: str | None
    task_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """The tasks that one owner contributes to a merged graph.

    A plugin adds two defaults to its own whole records: the working directory of its tasks (`cwd`), and the fault
    tolerance of the groups named after its roles. `warnings` are those of its `Graph`.
    """

    owner: Owner
    tasks: tuple[Task, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    cwd: str = ""
    fault_tolerance: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Finding, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """The layer that set a value, and the place where it is written."""

    owner: Owner
    place: Place = NO_PLACE

    def __str__(self) -> str:
        return f"{self.owner.label} ({self.place})" if str(self.place) else self.owner.label


@dataclass(frozen=True, slots=True)
class Setting:
    """Where an attribute (`parameters.timeout` inside a mapping) was set, and the values that it replaced.

    `replaced` has (value, origin) pairs, the nearest first. An attribute that a whole definition lacks is `dropped`:
    it no longer has a value, and `origin` is that definition.
    """

    origin: Origin
    replaced: tuple[tuple[Any, Origin], ...] = ()
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class MergedTask:
    """A task of the merged graph: its effective definition, the owner of the most important layer that defines it, the
    owners that this one overrides, and where each attribute was set."""

    task: Task
    owner: Owner
    overrides: tuple[Owner, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.task.id

    def origin(self, attribute: str = "") -> Origin:
        """The layer and place that set `attribute`, or the task's own if that is not recorded."""
        setting = self.settings.get(attribute)
        return setting.origin if setting else Origin(self.owner, self.task.source.place(attribute))

    def place(self, attribute: str = "") -> Place:
        """The layer in which an attribute was set, with file and line if they are known."""
        origin = self.origin(attribute)
        return Place(origin.place.file, origin.place.line, origin.owner.label)


@dataclass(frozen=True, slots=True)
class MergedGraph:
    """The result of a merge: tasks in the release's declaration order with overrides in place, then those that plugins
    add, then those that the cluster adds."""

    tasks: tuple[MergedTask, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

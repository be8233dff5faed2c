"""Copies of environments, and what differs between two environments: graphs, settings and facts.

Ids of releases, plugins and environments do not count, because each place has its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuelclient import redact
from fuelclient.environment import settings
from fuelclient.graph.merge import merge_layers
from fuelclient.insight.differences import differences, value_differences
from fuelclient.model.environment import Environment
from fuelclient.model.fact import NO_FACTS, DeploymentFacts
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.run import HistoryRow, Run
from fuelclient.model.task import Task, TaskType
from fuelclient.plan.inputs import Inputs

GRAPH, SETTINGS, FACTS = "graph", "settings", "facts"
COPY, ORIGINAL, BOTH = "copy", "original", "both"
"""Where a graph was changed after the copy was made."""

COMMON = "common"
"""The place of the facts that all nodes share."""

_BOOKS = frozenset({"plugin_id", "chosen_id", "versions", "default"})
"""What a master notes in the settings about a plugin and its versions, most of it by their ids."""


GraphKey = tuple[Level, str, str, str]
"""A graph by its level, the name and version of its plugin (empty for other owners), and its type: ids differ between
the places that an environment is copied between."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """The run of one graph that ended: the facts that it saw, and the task instances that succeeded."""

    run: Run
    facts: DeploymentFacts
    succeeded: tuple[HistoryRow, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentCopy:
    """An environment with its graphs of all types, effective and uploaded facts, network configuration and past runs.

    `inputs.environment.own_networks` counts only if `has_parts`: a Fuel master states networks only in `networks`, and
    no disks or interfaces. `graph_names` has the names of the graphs that have one.
    """

    inputs: Inputs
    networks: Mapping[str, Any]
    graph_names: Mapping[GraphKey, str] = field(default_factory=dict)
    past: tuple[PastRun, ...] = ()
    has_parts: bool = True
    uploaded: DeploymentFacts = NO_FACTS


@dataclass(frozen=True, slots=True)
class CopiedPart:
    """How much of a part of an environment was copied (`count`), with a note for the user."""

    part: str
    count: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Copied:
    """The result of a copy: the id of the new environment, and what became of each part."""

    cluster_id: int
    parts: tuple[CopiedPart, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """A value that differs. None means that one side does not have it.

    `part` is graph, settings or facts. `place` is the graph, as `graph_label` names it, the section of the settings, or
    the uid of the node.
    """

    part: str
    place: str
    path: str
    ours: Any
    theirs: Any

    @property
    def masked(self) -> tuple[Any, Any]:
        """Both values without secrets, for people.

        >>> EnvironmentDifference(FACTS, COMMON, "keystone.db_password", "x", None).masked
        ('***', None)
        """
        return masked_value(self.path, self.ours), masked_value(self.path, self.theirs)


def graph_key(owner: Owner, graph_type: str) -> GraphKey:
    """The name of a graph without ids, so that it is the same in a copy of its environment."""
    is_plugin = owner.level is Level.PLUGIN
    return owner.level, owner.name if is_plugin else "", owner.version if is_plugin else "", graph_type


def graph_label(key: GraphKey) -> str:
    """The name of a graph for people, in a comparison of environments.

    >>> graph_label((Level.PLUGIN, "lma", "0.10.2", "default"))
    'plugin lma-0.10.2, type default'
    """
    level, name, version, graph_type = key
    return f"{Owner(level, 0, name, version).label}, type {graph_type}"


def layers_by_key(inputs: Inputs) -> dict[GraphKey, Layer]:
    return {
        graph_key(layer.owner, graph_type): layer for graph_type, layers in inputs.layers.items() for layer in layers
    }


def environment_differences(ours: Inputs, theirs: Inputs) -> tuple[EnvironmentDifference, ...]:
    return (
        *graph_differences(ours, theirs),
        *settings_differences(ours.environment, theirs.environment),
        *facts_differences(ours.facts, theirs.facts),
    )


def graph_differences(ours: Inputs, theirs: Inputs) -> Iterator[EnvironmentDifference]:
    """Compare all graphs by task and attribute. The order of tasks does not count."""
    here, there = layers_by_key(ours), layers_by_key(theirs)
    for key in sorted({*here, *there}):
        label, mine, other = graph_label(key), here.get(key), there.get(key)
        if mine is None or other is None:
            yield EnvironmentDifference(GRAPH, label, "", _size(mine), _size(other))
            continue
        yield from _tasks_compared(label, mine.tasks, other.tasks)
        yield from _compared(GRAPH, label, "metadata.", _stated(mine.metadata), _stated(other.metadata))


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a run of one graph left behind: its tasks by id, with secrets masked; the settings, which may not have been
    recorded; the facts."""

    definitions: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any] | None
    facts: DeploymentFacts


def drift(then: Remembered, now: Inputs, graph_type: str) -> tuple[EnvironmentDifference, ...]:
    """Compare a run with now: `ours` is what it saw, `theirs` what is there now.

    Secrets are compared as they are masked, since runs do not remember them. Groups are left out, as runs have none.
    """
    tasks = [task.task for task in merge_layers(now.layers[graph_type]).tasks if task.task.type != TaskType.GROUP]
    masked = [replace(task, attributes=redact.masked_document(task.attributes)) for task in tasks]
    remembered = [Task(name, definition) for name, definition in then.definitions.items()]
    found = [*_tasks_compared(f"type {graph_type}", remembered, masked)]
    if then.settings is not None:
        found += _sections(then.settings, settings.effective(now.environment))
    return (*found, *facts_differences(then.facts, now.facts))


def graph_digest(tasks: Sequence[Task], metadata: Mapping[str, Any]) -> str:
    """A digest that is equal for two graphs without differences. The order of tasks and attributes does not count."""
    given = sorted(json.dumps([task.id, task.attributes], sort_keys=True, default=str) for task in tasks)
    return digest([given, _stated(metadata)])


def digest(value: object) -> str:
    """A digest that is the same for equal values. The order of keys does not count."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def graph_digests(inputs: Inputs) -> dict[str, str]:
    return {graph_label(key): graph_digest(layer.tasks, layer.metadata) for key, layer in layers_by_key(inputs).items()}


def changed_sides(base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Find out where each graph was changed since `base`: in the copy, the original, or both. Equal ones are left out.

    >>> changed_sides({"a": "1", "b": "1"}, {"a": "2", "b": "1", "c": "1"}, {"a": "3", "b": "2"})
    {'a': 'both', 'b': 'original', 'c': 'copy'}
    """
    sides = {}
    for label in sorted({*ours, *theirs}):
        here, there = ours.get(label), theirs.get(label)
        if here != there:
            before = base.get(label)
            sides[label] = COPY if there == before else ORIGINAL if here == before else BOTH
    return sides


def without_bookkeeping(section: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a section of settings what a master notes in it about a plugin and its versions.

    >>> without_bookkeeping({"metadata": {"class": "plugin", "chosen_id": 3}, "url": {"value": "x"}})
    {'metadata': {'class': 'plugin'}, 'url': {'value': 'x'}}
    """
    about = section.get("metadata")
    if not isinstance(about, Mapping):
        return dict(section)
    return {**section, "metadata": {key: value for key, value in about.items() if key not in _BOOKS}}


def settings_differences(ours: Environment, theirs: Environment) -> Iterator[EnvironmentDifference]:
    return _sections(settings.effective(ours), settings.effective(theirs))


def _sections(here: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[EnvironmentDifference]:
    for name in sorted({*here, *there}):
        yield from _compared(
            SETTINGS, name, "", without_bookkeeping(here.get(name, {})), without_bookkeeping(there.get(name, {}))
        )


def facts_differences(ours: DeploymentFacts, theirs: DeploymentFacts) -> Iterator[EnvironmentDifference]:
    """Compare facts: the common part first, then each node."""
    yield from _compared(FACTS, COMMON, "", ours.common, theirs.common)
    for uid in sorted({*ours.nodes, *theirs.nodes}):
        yield from _compared(FACTS, uid, "", ours.nodes.get(uid, {}), theirs.nodes.get(uid, {}))


def differences_below(name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[EnvironmentDifference]:
    """Compare one value of the facts, with the name of the value before each path."""
    return _compared(FACTS, "", f"{name}." if name else "", ours, theirs)


def masked_value(path: str, value: Any) -> Any:
    """Mask the secrets in a value, or all of it if a name on its path is that of a secret."""
    if value and any(map(redact.is_secret, path.split("."))) and not isinstance(value, bool):
        return redact.MASK
    return redact.masked_document({"value": value})["value"]


def _stated(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if value not in (None, "")}


def _size(layer: Layer | None) -> str | None:
    return None if layer is None else f"{len(layer.tasks)} tasks"


def _presence(number: int) -> str | None:
    return None if not number else "exists" if number == 1 else f"exists {number} times"


def _compared(
    part: str, place: str, above: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Iterator[EnvironmentDifference]:
    for difference in value_differences(ours, theirs, above, nulls=True):
        yield EnvironmentDifference(part, place, *difference)


def _tasks_compared(label: str, ours: Sequence[Task], theirs: Sequence[Task]) -> Iterator[EnvironmentDifference]:
    for each in differences(ours, theirs):
        path = ".".join(filter(None, (each.task, each.attribute)))
        both = (each.ours, each.theirs)
        yield EnvironmentDifference(GRAPH, label, path, *(both if each.attribute else map(_presence, both)))

"""Copies of environments, and the differences of two environments in their graphs, settings and facts.

Ids of releases, plugins and environments are not compared, because each engine or master has its own.
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

_BOOKKEEPING_KEYS = frozenset({"plugin_id", "chosen_id", "versions", "default"})
"""The keys under which a master keeps records of a plugin and its versions in the settings, mostly ids."""


GraphKey = tuple[Level, str, str, str]
"""The level of a graph, the name and version of its plugin (empty for other owners), and its type. It contains no ids,
because a copy has others."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A finished run of one graph: the facts that it used, and the task instances that succeeded."""

    run: Run
    facts: DeploymentFacts
    succeeded: tuple[HistoryRow, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentCopy:
    """An environment with its graphs of all types, effective and uploaded facts, network configuration and past runs.

    `has_parts` is false for a Fuel master, which provides networks only in `networks`, and no disks or interfaces; then
    `inputs.environment.own_networks` is ignored. `graph_names` has the names of the graphs that have one.
    """

    inputs: Inputs
    networks: Mapping[str, Any]
    graph_names: Mapping[GraphKey, str] = field(default_factory=dict)
    past: tuple[PastRun, ...] = ()
    has_parts: bool = True
    uploaded: DeploymentFacts = NO_FACTS


@dataclass(frozen=True, slots=True)
class CopiedPart:
    """A part of an environment, the number of its copied items, and a note for the user."""

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
    """Identify a graph without ids, so that the key is the same in a copy of its environment."""
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
    """Compare all graphs by task and attribute. The order of tasks is ignored."""
    our_layers, their_layers = layers_by_key(ours), layers_by_key(theirs)
    for key in sorted({*our_layers, *their_layers}):
        label, our, their = graph_label(key), our_layers.get(key), their_layers.get(key)
        if our is None or their is None:
            yield EnvironmentDifference(GRAPH, label, "", _size(our), _size(their))
            continue
        yield from _task_differences(label, our.tasks, their.tasks)
        yield from _mapping_differences(GRAPH, label, "metadata.", _non_empty(our.metadata), _non_empty(their.metadata))


@dataclass(frozen=True, slots=True)
class Remembered:
    """The record of a run of one graph: its tasks by id with masked secrets, its settings (None if they were not
    recorded), and its facts."""

    definitions: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any] | None
    facts: DeploymentFacts


def drift(then: Remembered, now: Inputs, graph_type: str) -> tuple[EnvironmentDifference, ...]:
    """Compare the inputs of a run (`ours`) with the present ones (`theirs`).

    Secrets are masked before the comparison, since runs do not record them. Groups are left out, as runs have none.
    """
    tasks = [task.task for task in merge_layers(now.layers[graph_type]).tasks if task.task.type != TaskType.GROUP]
    masked = [replace(task, attributes=redact.masked_document(task.attributes)) for task in tasks]
    remembered = [Task(name, definition) for name, definition in then.definitions.items()]
    found = [*_task_differences(f"type {graph_type}", remembered, masked)]
    if then.settings is not None:
        found += _section_differences(then.settings, settings.effective(now.environment))
    return (*found, *facts_differences(then.facts, now.facts))


_encode = json.JSONEncoder(sort_keys=True, default=str).encode
"""One encoder is kept, because making one for each task takes longer than using it."""


def graph_digest(tasks: Sequence[Task], metadata: Mapping[str, Any]) -> str:
    """A digest that is equal for two graphs without differences. The order of tasks and attributes is ignored."""
    given = sorted(_encode([task.id, task.attributes]) for task in tasks)
    return digest([given, _non_empty(metadata)])


def digest(value: object) -> str:
    """A digest that is the same for equal values. The order of keys is ignored."""
    return hashlib.sha256(_encode(value).encode()).hexdigest()


def graph_digests(inputs: Inputs) -> dict[str, str]:
    return {graph_label(key): graph_digest(layer.tasks, layer.metadata) for key, layer in layers_by_key(inputs).items()}


def changed_sides(base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Find out where each graph was changed since `base`: in the copy, the original, or both. Equal graphs are omitted.

    >>> changed_sides({"a": "1", "b": "1"}, {"a": "2", "b": "1", "c": "1"}, {"a": "3", "b": "2"})
    {'a': 'both', 'b': 'original', 'c': 'copy'}
    """
    sides = {}
    for label in sorted({*ours, *theirs}):
        our_digest, their_digest = ours.get(label), theirs.get(label)
        if our_digest != their_digest:
            before = base.get(label)
            sides[label] = COPY if their_digest == before else ORIGINAL if our_digest == before else BOTH
    return sides


def without_bookkeeping(section: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a section of settings without a master's records of a plugin and its versions.

    >>> without_bookkeeping({"metadata": {"class": "plugin", "chosen_id": 3}, "url": {"value": "x"}})
    {'metadata': {'class': 'plugin'}, 'url': {'value': 'x'}}
    """
    metadata = section.get("metadata")
    if not isinstance(metadata, Mapping):
        return dict(section)
    return {**section, "metadata": {key: value for key, value in metadata.items() if key not in _BOOKKEEPING_KEYS}}


def settings_differences(ours: Environment, theirs: Environment) -> Iterator[EnvironmentDifference]:
    return _section_differences(settings.effective(ours), settings.effective(theirs))


def _section_differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[EnvironmentDifference]:
    for name in sorted({*ours, *theirs}):
        yield from _mapping_differences(
            SETTINGS, name, "", without_bookkeeping(ours.get(name, {})), without_bookkeeping(theirs.get(name, {}))
        )


def facts_differences(ours: DeploymentFacts, theirs: DeploymentFacts) -> Iterator[EnvironmentDifference]:
    """Compare facts: the common part first, then each node."""
    yield from _mapping_differences(FACTS, COMMON, "", ours.common, theirs.common)
    for uid in sorted({*ours.nodes, *theirs.nodes}):
        yield from _mapping_differences(FACTS, uid, "", ours.nodes.get(uid, {}), theirs.nodes.get(uid, {}))


def differences_below(name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[EnvironmentDifference]:
    """Compare two values of the fact `name`, which is put before each path."""
    return _mapping_differences(FACTS, "", f"{name}." if name else "", ours, theirs)


def masked_value(path: str, value: Any) -> Any:
    """Mask the secrets in a value, or the whole value if a name on its path is that of a secret."""
    if value and any(map(redact.is_secret, path.split("."))) and not isinstance(value, bool):
        return redact.MASK
    return redact.masked_document({"value": value})["value"]


def _non_empty(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if value not in (None, "")}


def _size(layer: Layer | None) -> str | None:
    return None if layer is None else f"{len(layer.tasks)} tasks"


def _presence(count: int) -> str | None:
    return None if not count else "exists" if count == 1 else f"exists {count} times"


def _mapping_differences(
    part: str, place: str, above: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Iterator[EnvironmentDifference]:
    for difference in value_differences(ours, theirs, above, nulls=True):
        yield EnvironmentDifference(part, place, *difference)


def _task_differences(label: str, ours: Sequence[Task], theirs: Sequence[Task]) -> Iterator[EnvironmentDifference]:
    for each in differences(ours, theirs):
        path = ".".join(filter(None, (each.task, each.attribute)))
        sides = (each.ours, each.theirs)
        yield EnvironmentDifference(GRAPH, label, path, *(sides if each.attribute else map(_presence, sides)))

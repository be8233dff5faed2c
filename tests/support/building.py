"""Build tasks, layers, fleets and snapshots from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import METADATA, Layer, Level, MergedTask, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Role
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Source, Task
from fuelclient.plan.expand import Edges, Expansion
from fuelclient.plan.fleet import MASTER, Fleet, FleetNode
from fuelclient.serializers.task import task_from

RELEASE = Owner(Level.RELEASE, 1)
CLUSTER = Owner(Level.CLUSTER, 1)

STAGES: tuple[Mapping[str, Any], ...] = (
    {"id": "pre_deployment_start", "type": "stage"},
    {"id": "pre_deployment_end", "type": "stage", "requires": ["pre_deployment_start"]},
    {"id": "deploy_start", "type": "stage", "requires": ["pre_deployment_end"]},
    {"id": "deploy_end", "type": "stage", "requires": ["deploy_start"]},
    {"id": "post_deployment_start", "type": "stage", "requires": ["deploy_end"]},
    {"id": "post_deployment_end", "type": "stage", "requires": ["post_deployment_start"]},
)
"""The stages that every release of Fuel has."""


def plugin(name: str, version: str = "1.0.0", plugin_id: int = 1) -> Owner:
    return Owner(Level.PLUGIN, plugin_id, name, version)


def task(task_id: str, *, source: Source | None = None, **attributes: Any) -> Task:
    """Return a task with attributes under their canonical names."""
    return Task(task_id, attributes, source or Source())


def tasks_from(records: Sequence[Any], owner_label: str = "") -> tuple[Task, ...]:
    """Return the tasks of records in Fuel's own spelling; all of them must be valid."""
    tasks = []
    for position, record in enumerate(records, start=1):
        read, findings = task_from(record, file="", owner_label=owner_label, position=position)
        assert read is not None, [str(finding) for finding in findings]
        tasks.append(read)
    return tuple(tasks)


def layer(owner: Owner, *tasks: Task, **rest: Any) -> Layer:
    return Layer(owner, tasks, **rest)


def layers_from(stated: Mapping[str, Any]) -> tuple[Layer, ...]:
    """Return layers from labels (`release`, `plugin NAME VERSION`, `cluster`) and contents: a list of records, or a
    mapping with `tasks`, metadata, `cwd` and `fault_tolerance`."""
    layers = []
    for number, (label, content) in enumerate(stated.items(), start=1):
        level, _, rest = label.partition(" ")
        name, _, version = rest.partition(" ")
        body = content if isinstance(content, Mapping) else {"tasks": content}
        assert set(body) <= {"tasks", "cwd", "fault_tolerance", *METADATA}, body
        layers.append(
            Layer(
                Owner(Level(level), number, name, version),
                tasks_from(body.get("tasks", ()), name),
                {key: body[key] for key in METADATA if key in body},
                body.get("cwd", ""),
                body.get("fault_tolerance", {}),
            )
        )
    return tuple(layers)


def merged(*tasks: Task, owner: Owner = RELEASE) -> tuple[MergedTask, ...]:
    return tuple(MergedTask(task, owner) for task in tasks)


def fleet(nodes: Mapping[int, Iterable[str]]) -> Fleet:
    """Return nodes by id with their tags, after the sync points and the master."""
    return Fleet((FleetNode(None), FleetNode(MASTER), *(FleetNode(uid, tuple(nodes[uid])) for uid in sorted(nodes))))


def roles(*names: str, **tags: Sequence[str]) -> dict[str, Role]:
    """Return roles tagged with their own name, and roles with the given tags."""
    plain = {name: Role(name, (name,)) for name in names}
    return plain | {name: Role(name, tuple(carried)) for name, carried in tags.items()}


def snapshot(
    layers: Iterable[Layer],
    nodes: Iterable[Node] = (),
    known: Mapping[str, Role] | None = None,
    primary: Iterable[str] = (),
) -> Snapshot:
    return Snapshot(Cluster(1, "prod", 1), tuple(layers), tuple(nodes), known or {}, frozenset(primary))


def instances(expansion: Expansion) -> set[str]:
    return {expansion.name(vertex) for vertex in range(expansion.size)}


def barriers(edges: Edges) -> int:
    """Return how many barriers there are."""
    return edges.vertices - edges.real


def edges(expansion: Expansion) -> set[str]:
    """Return every edge as `before@node -> after@node`, with barriers dissolved."""
    return {f"{expansion.name(before)} -> {expansion.name(after)}" for before, after in expansion.edges.pairs()}

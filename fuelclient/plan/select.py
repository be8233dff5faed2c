"""Select the nodes and the task instances of a run.

Other task instances stay in the graph and are skipped, so that the order does not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuelclient.errors import InvalidGraph, NotFound, UsageError
from fuelclient.graph.dag import reachable
from fuelclient.grouping import grouped
from fuelclient.model.node import DEPLOY_ERROR, Node, NodeStatus
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import MASTER, NO_NODES, PRIMARY, Fleet, fleet_of

Filter = Callable[[Any, Sequence[Mapping[str, Any]]], Sequence[Any]]
"""Evaluates a `node_filter` on nodes (mappings), and returns the ids of those that it lets through. It may raise
`FuelError`."""

_COPIED_FIELDS = ("id", "name", "ip", "mac", "online", "pending_addition", "pending_deletion")
_GRAMMAR = "Write [start[/nodes]][:end[/nodes]], for example primary-database/1,3:keystone-db/5-7."
_NODES = re.compile(r"(?:\d{1,10}(?:-\d{1,10})?|master)(?:,(?:\d{1,10}(?:-\d{1,10})?|master))*")
_MAX_BOUNDARY_NODES = 100_000
"""The most nodes that a boundary may name."""

_MAX_COLONS = 100
"""The most colons that a subgraph may have, since it may have to be split at each of them."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """One end of a subgraph: a task on some nodes, or on all of its nodes if `nodes` is empty."""

    task: str
    nodes: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return f"{self.task}/{','.join(map(str, self.nodes))}" if self.nodes else self.task


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The task instances between two boundaries, both included. None leaves that end open."""

    start: Boundary | None
    end: Boundary | None


def subgraph_from(text: str, known: Collection[str]) -> Subgraph:
    """Parse a subgraph: `[start[/nodes]][:end[/nodes]]`, nodes as `1,3-5,master`.

    `known` are the ids of all tasks, which may contain colons and slashes. Blanks around names are ignored. Raise
    `UsageError` for a text that cannot be read, `NotFound` for an unknown task, with the nearest known one. Upstream
    runs everything in both cases.

    >>> subgraph_from("a/1,3:b/1-2", {"a", "b"})
    Subgraph(start=Boundary(task='a', nodes=(1, 3)), end=Boundary(task='b', nodes=(1, 2)))
    >>> subgraph_from(" a/1,3 : b/1-2", {"a", "b"}) == subgraph_from("a/1,3:b/1-2", {"a", "b"})
    True
    >>> subgraph_from(":b", {"b"}).start is None
    True
    """
    problem: Exception | None = None
    if is_open(text):
        raise UsageError(f"The subgraph {text!r} names no task.", hint=_GRAMMAR)
    if text.count(":") > _MAX_COLONS:
        raise UsageError(f"The subgraph {text[:60]!r}... has more than {_MAX_COLONS} colons.", hint=_GRAMMAR)
    for start, end in _splits(text):
        try:
            subgraph = Subgraph(_boundary(start.strip(), text, known), _boundary(end.strip(), text, known))
        except (NotFound, UsageError) as error:
            problem = problem or error
            continue
        if subgraph.start or subgraph.end:
            return subgraph
    raise problem or UsageError(f"The subgraph {text!r} cannot be read.", hint=_GRAMMAR)


def is_open(text: str) -> bool:
    """Whether a subgraph has neither a start nor an end.

    >>> is_open(":"), is_open(":a")
    (True, False)
    """
    return text.strip() in ("", ":")


def _splits(text: str) -> list[tuple[str, str]]:
    """The ways to split the text: at its only colon, or else (since ids may have colons) nowhere or at any colon."""
    cuts = [(text[:index], text[index + 1 :]) for index, character in enumerate(text) if character == ":"]
    return [*cuts, (text, "")] if len(cuts) == 1 else [(text, ""), *cuts]


def _boundary(text: str, whole: str, known: Collection[str]) -> Boundary | None:
    if not text:
        return None
    if text in known:
        return Boundary(text)
    name, slash, nodes = text.rpartition("/")
    if not slash:
        raise NotFound("task", text, known=sorted(known))
    if not name or not _NODES.fullmatch(nodes):
        raise UsageError(f"The subgraph {whole!r} cannot be read: {text!r} is not TASK/NODES.", hint=_GRAMMAR)
    require_tasks((name,), known)
    return Boundary(name, tuple(dict.fromkeys(_node_list(nodes, whole))))


def _node_list(text: str, whole: str) -> Iterator[int | str]:
    count = 0
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if part == MASTER:
            yield part
        elif not dash:
            yield int(part)
        elif not int(first) <= int(last) <= int(first) + _MAX_BOUNDARY_NODES - count:
            raise UsageError(f"The subgraph {whole!r} has the range {part}, which is empty or too wide.", hint=_GRAMMAR)
        else:
            yield from range(int(first), int(last) + 1)
            count += int(last) - int(first)


def instances_inside(expansion: Expansion, subgraphs: Iterable[Subgraph]) -> set[int]:
    """The instances that follow the start and precede the end of at least one of `subgraphs`.

    Raise `NotFound` for a node on which a boundary's task does not run, with the nodes on which it does. A boundary
    whose task is not in the graph makes its subgraph empty. Source: Astute `fuel_deployment/cluster.rb`.
    """
    following, preceding = expansion.successors, expansion.predecessors
    placed = grouped((expansion.task(vertex).id, vertex) for vertex in range(expansion.size))
    kept: set[int] = set()
    for subgraph in subgraphs:
        after = reachable(following, _vertices_of(expansion, subgraph.start, placed)) if subgraph.start else None
        before = reachable(preceding, _vertices_of(expansion, subgraph.end, placed)) if subgraph.end else None
        kept |= (after if before is None else before if after is None else after & before) or set()
    return {vertex for vertex in kept if vertex < expansion.size}


def _vertices_of(expansion: Expansion, boundary: Boundary, placed: Mapping[str, Sequence[int]]) -> list[int]:
    by_uid = {expansion.uid(vertex): vertex for vertex in placed.get(boundary.task, ())}
    if not boundary.nodes or not by_uid:
        return list(by_uid.values())
    for uid in boundary.nodes:
        if uid not in by_uid:
            where = [str(other) for other in by_uid if other is not None] or ["no node: it is a sync point"]
            raise NotFound(
                "task instance", f"{boundary.task}/{uid}", hint=f"Task {boundary.task} runs on {', '.join(where)}."
            )
    return [by_uid[uid] for uid in boundary.nodes]


def require_tasks(names: Iterable[str], known: Collection[str]) -> None:
    """Raise `NotFound`, with the nearest known task, for the first of `names` that is not a task."""
    for name in names:
        if name not in known:
            raise NotFound("task", name, known=sorted(known))


def fleet_for(snapshot: Snapshot, node_ids: Sequence[int], node_filter: Any, choose: Filter) -> Fleet:
    """The nodes of a run.

    These are the nodes of `node_ids`, whatever the graph's `node_filter`; or else those that the filter lets through;
    without a filter, those that can be deployed (`is_deployable`). Offline nodes are left out (`Fleet.absent`).
    Raise `NotFound` for an unknown node, `InvalidGraph` for a filter that yields anything but ids.
    Source: Nailgun `TransactionsManager`.
    """
    if node_ids:
        return fleet_of(snapshot, node_ids=node_ids)
    if node_filter:
        chosen = filtered(snapshot.nodes, node_filter, choose)
    else:
        chosen = [node.id for node in snapshot.nodes if is_deployable(node)]
    if not chosen:
        return NO_NODES
    return fleet_of(snapshot, node_ids=chosen)


def is_deployable(node: Node) -> bool:
    """Whether a graph without a filter of its own runs on the node.

    A node that is to be added runs no graph before it is provisioned. A node whose deployment was stopped or failed
    runs it again.

    >>> is_deployable(Node(1, "a", status="ready")), is_deployable(Node(1, "a", status="discover"))
    (True, False)
    """
    began = node.status in (NodeStatus.PROVISIONED, NodeStatus.STOPPED) or node.error_type == DEPLOY_ERROR
    if node.pending_deletion or (node.pending_addition and not began):
        return False
    return began or node.status == NodeStatus.READY


def filtered(nodes: Sequence[Node], node_filter: Any, choose: Filter) -> list[int]:
    """The ids of the nodes that a filter lets through. Raise `InvalidGraph` if it yields anything but node ids."""
    chosen = choose(node_filter, [node_fields(node) for node in nodes])
    known = {node.id for node in nodes}
    for node_id in chosen:
        if not isinstance(node_id, int) or isinstance(node_id, bool) or node_id not in known:
            raise InvalidGraph(
                f"The node filter {node_filter!r} yields {node_id!r}, which is not a node of the environment.",
                hint="Write a condition on one node, such as $.status = ready.",
            )
    return sorted(set(chosen))


def node_fields(node: Node) -> dict[str, Any]:
    """The fields of a node for a node filter, under Nailgun's names. They override the attributes of the node."""
    return {
        "hostname": node.name,
        "meta": {},
        **node.attributes,
        "attributes": dict(node.attributes),
        **{name: getattr(node, name) for name in _COPIED_FIELDS},
        **{name: list(getattr(node, name)) for name in ("roles", "pending_roles", "all_roles", "primary_tags")},
        "uid": str(node.id),
        "cluster": node.cluster_id,
        "status": str(node.status),
        "error_type": node.error_type or None,
        "labels": dict(node.labels),
    }


def with_primaries(nodes: Iterable[Node], fleet: Fleet) -> list[Node]:
    """The nodes of a fleet, each with the tags of which it is the primary.

    A run stores them, so that the next run has the same primaries.
    """
    tags = {
        fleet_node.uid: tuple(tag.removeprefix(PRIMARY) for tag in fleet_node.tags if tag.startswith(PRIMARY))
        for fleet_node in fleet.nodes
    }
    return [replace(node, primary_tags=tags[node.id]) for node in nodes if node.id in tags]

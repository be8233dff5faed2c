"""Selection: which nodes and which task instances a run is limited to.

What is left out of a run stays in its graph as something that is skipped, so that the order is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuelclient.errors import InvalidGraph, NotFound, UsageError
from fuelclient.model.node import DEPLOY_ERROR, Node, NodeStatus
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.expand import Expansion
from fuelclient.plan.fleet import MASTER, Fleet, FleetNode, fleet_of

Filter = Callable[[Any, Sequence[Mapping[str, Any]]], Sequence[Any]]
"""What a `node_filter` gives for nodes as mappings: the ids of those that it lets through; may raise `FuelError`."""

_GRAMMAR = "Write [start[/nodes]][:end[/nodes]], for example primary-database/1,3:keystone-db/5-7."
_NODES = re.compile(r"(?:\d+(?:-\d+)?|master)(?:,(?:\d+(?:-\d+)?|master))*")
_WIDEST = 100_000
_DEPLOYABLE = frozenset({NodeStatus.READY, NodeStatus.PROVISIONED, NodeStatus.STOPPED})


@dataclass(frozen=True, slots=True)
class Boundary:
    """One end of a subgraph: a task, on these nodes, or on all of its nodes when `nodes` is empty."""

    task: str
    nodes: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return f"{self.task}/{','.join(map(str, self.nodes))}" if self.nodes else self.task


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What lies between two boundaries, which belong to it; an end that is None is open."""

    start: Boundary | None
    end: Boundary | None


def subgraph_from(text: str, known: Collection[str]) -> Subgraph:
    """The subgraph that `text` describes: `[start[/nodes]][:end[/nodes]]`, nodes as `1,3-5,master`.

    `known` are the ids of all tasks, which may have colons and slashes themselves; blanks around names do not count.
    Raises `UsageError` for a text that cannot be read, `NotFound` for a task that is not known, with the nearest that
    is. Upstream runs everything in both cases.

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
    for one, other in _halves(text):
        try:
            found = Subgraph(_boundary(one.strip(), text, known), _boundary(other.strip(), text, known))
        except (NotFound, UsageError) as error:
            problem = problem or error
            continue
        if found.start or found.end:
            return found
    raise problem or UsageError(f"The subgraph {text!r} cannot be read.", hint=_GRAMMAR)


def is_open(text: str) -> bool:
    """Whether a subgraph has neither a start nor an end.

    >>> is_open(":"), is_open(":a")
    (True, False)
    """
    return text.strip() in ("", ":")


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Where the text can be cut: at its only colon, or, since ids may have colons, at any of them or at none."""
    colons = [index for index, character in enumerate(text) if character == ":"]
    if len(colons) != 1:
        yield text, ""
    for index in colons:
        yield text[:index], text[index + 1 :]
    if len(colons) == 1:
        yield text, ""


def _boundary(text: str, whole: str, known: Collection[str]) -> Boundary | None:
    if not text:
        return None
    if text in known:
        return Boundary(text)
    name, slash, nodes = text.rpartition("/")
    if not slash:
        raise NotFound("task", text, known=sorted(known))
    if not name or not _NODES.fullmatch(nodes):
        raise UsageError(f"The subgraph {whole!r} cannot be read: {text!r} is no task with nodes.", hint=_GRAMMAR)
    if name not in known:
        raise NotFound("task", name, known=sorted(known))
    return Boundary(name, tuple(dict.fromkeys(_range(nodes, whole))))


def _range(text: str, whole: str) -> Iterator[int | str]:
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if part == MASTER:
            yield part
        elif not dash:
            yield int(part)
        elif not int(first) <= int(last) <= int(first) + _WIDEST:
            raise UsageError(f"The subgraph {whole!r} has the range {part}, which is empty or too wide.", hint=_GRAMMAR)
        else:
            yield from range(int(first), int(last) + 1)


def inside(expansion: Expansion, subgraphs: Iterable[Subgraph]) -> set[int]:
    """The instances that belong to at least one of `subgraphs`: what follows its start and precedes its end.

    Raises `NotFound` for nodes where a boundary's task does not run, with those where it does. A subgraph whose
    tasks this graph does not have at all holds nothing. Source: Astute `fuel_deployment/cluster.rb`.
    """
    following = expansion.edges.successors()
    preceding: list[list[int]] = [[] for _ in following]
    for vertex, others in enumerate(following):
        for other in others:
            preceding[other].append(vertex)
    placed: dict[str, list[int]] = {}
    for vertex, task in enumerate(expansion.task_of):
        placed.setdefault(expansion.tasks[task].id, []).append(vertex)
    kept: set[int] = set()
    for one in subgraphs:
        after = _reached(following, _at(expansion, one.start, placed)) if one.start else None
        before = _reached(preceding, _at(expansion, one.end, placed)) if one.end else None
        kept |= (after if before is None else before if after is None else after & before) or set()
    return {vertex for vertex in kept if vertex < expansion.size}


def _at(expansion: Expansion, boundary: Boundary, placed: Mapping[str, Sequence[int]]) -> list[int]:
    by_uid = {expansion.fleet.nodes[expansion.node_of[one]].uid: one for one in placed.get(boundary.task, ())}
    if not boundary.nodes or not by_uid:
        return list(by_uid.values())
    for uid in boundary.nodes:
        if uid not in by_uid:
            where = [str(one) for one in by_uid if one is not None] or ["no node: it is a sync point"]
            raise NotFound(
                "task instance", f"{boundary.task}/{uid}", hint=f"Task {boundary.task} runs on {', '.join(where)}."
            )
    return [by_uid[uid] for uid in boundary.nodes]


def _reached(edges: Sequence[Sequence[int]], start: Iterable[int]) -> set[int]:
    seen = set(start)
    queue = list(seen)
    for vertex in queue:
        for other in edges[vertex]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return seen


def require_tasks(names: Iterable[str], known: Collection[str]) -> None:
    """Nothing happens when all of `names` are tasks; `NotFound` for the first that is none, with the nearest."""
    for name in names:
        if name not in known:
            raise NotFound("task", name, known=sorted(known))


def fleet_for(snapshot: Snapshot, node_ids: Sequence[int], node_filter: Any, choose: Filter) -> Fleet:
    """The nodes that take part in a run.

    Those of `node_ids`, whatever the filter says; else those that the graph's `node_filter` lets through; else those
    that can be deployed: neither added nor deleted next, and ready, provisioned, stopped, or failed in a
    deployment. Nodes that are offline are left out (`Fleet.absent`). An empty choice runs on no nodes. Raises
    `NotFound` for an unknown node, `InvalidGraph` for a filter that gives something else than ids. Source:
    Nailgun `TransactionsManager`.
    """
    if node_ids:
        return fleet_of(snapshot, node_ids=node_ids)
    if node_filter:
        chosen = _filtered(snapshot.nodes, node_filter, choose)
    else:
        chosen = [node.id for node in snapshot.nodes if is_deployable(node)]
    if not chosen:
        return Fleet((FleetNode(None), FleetNode(MASTER)))
    return fleet_of(snapshot, node_ids=chosen)


def is_deployable(node: Node) -> bool:
    """Whether a graph without a filter of its own runs on the node.

    A node that waits to be added waits for its provisioning: one that is provisioned waits no more, and
    neither does one whose deployment was stopped or failed, so that it can be tried again.
    """
    began = node.status in (NodeStatus.PROVISIONED, NodeStatus.STOPPED) or node.error_type == DEPLOY_ERROR
    if node.pending_deletion or (node.pending_addition and not began):
        return False
    return began or node.status in _DEPLOYABLE


def _filtered(nodes: Sequence[Node], node_filter: Any, choose: Filter) -> list[int]:
    found = choose(node_filter, [node_fields(node) for node in nodes])
    known = {node.id for node in nodes}
    for one in found:
        if not isinstance(one, int) or isinstance(one, bool) or one not in known:
            raise InvalidGraph(
                f"The node filter {node_filter!r} gives {one!r}, which is no node of the environment.",
                hint="Write a condition on one node, such as $.status = ready.",
            )
    return sorted(set(found))


def node_fields(node: Node) -> dict[str, Any]:
    """What a node filter sees of a node: Nailgun's names, and the node's own attributes below them."""
    return {
        **node.attributes,
        "id": node.id,
        "uid": str(node.id),
        "name": node.name,
        "cluster": node.cluster_id,
        "status": str(node.status),
        "roles": list(node.roles),
        "pending_roles": list(node.pending_roles),
        "all_roles": list(node.all_roles),
        "primary_tags": list(node.primary_tags),
        "ip": node.ip,
        "mac": node.mac,
        "online": node.online,
        "error_type": node.error_type or None,
        "pending_addition": node.pending_addition,
        "pending_deletion": node.pending_deletion,
        "labels": dict(node.labels),
    }


def with_primaries(nodes: Iterable[Node], fleet: Fleet) -> list[Node]:
    """The nodes of a fleet, each with the tags of which it is the primary now: what a run has to remember, so that
    the next one finds the same primaries."""
    prefix = "primary-"
    tags = {
        place.uid: tuple(tag.removeprefix(prefix) for tag in place.tags if tag.startswith(prefix))
        for place in fleet.nodes
    }
    return [replace(node, primary_tags=tags[node.id]) for node in nodes if node.id in tags]

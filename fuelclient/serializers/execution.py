"""What is asked to run, as `POST graphs/execute/` takes it, and back.

Nailgun takes nodes and tasks with each graph of a request, and a subgraph as two lists of boundaries with one entry
each, of which `null` is an open one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.errors import UsageError
from fuelclient.model.run import RunRequest
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.values import kind


def execution_to(request: RunRequest) -> dict[str, Any]:
    """The body of `POST graphs/execute/`; `executor` only where one is named, since no master knows it."""
    limits: dict[str, Any] = {}
    if request.node_ids:
        limits["nodes"] = list(request.node_ids)
    if request.task_names:
        limits["tasks"] = list(request.task_names)
    body: dict[str, Any] = {
        "cluster": request.cluster_id,
        "graphs": [{"type": one, **limits} for one in request.graph_types],
    }
    if request.subgraphs:
        body["subgraphs"] = [subgraph_to(one) for one in request.subgraphs]
    body.update(dry_run=request.dry_run, noop_run=request.noop, force=request.force, debug=request.trace)
    if request.executor:
        body["executor"] = request.executor
    return body


def execution_from(data: Any) -> RunRequest:
    """The request that such a body states.

    Raises `UsageError` for graphs that differ in their nodes or tasks, and for an empty list of nodes: Nailgun
    would run nothing on an empty list, and report success.
    """
    answer = Answer(data, "request")
    graphs = [Answer(one, "graph of a request") for one in answer.items("graphs")]
    nodes = {one.numbers("nodes") for one in graphs}
    tasks = {one.texts("tasks") for one in graphs}
    for word, found in (("nodes", nodes), ("tasks", tasks)):
        if len(found) > 1:
            raise UsageError(
                f"The graphs of one execution differ in their {word}.", hint="Execute them one after another."
            )
    if any(one.data.get("nodes") == [] for one in graphs):
        raise UsageError("An empty list of nodes runs nothing.", hint="Leave `nodes` out for all that can be deployed.")
    return RunRequest(
        answer.identifier("cluster"),
        tuple(one.stated("type") for one in graphs),
        next(iter(nodes), ()),
        next(iter(tasks), ()),
        tuple(subgraph_from(one) for one in answer.items("subgraphs")),
        force=answer.truth("force"),
        dry_run=answer.truth("dry_run"),
        noop=answer.truth("noop_run"),
        trace=answer.truth("debug"),
        executor=answer.text("executor"),
    )


def subgraph_to(text: str) -> dict[str, Any]:
    """A subgraph `[start[/nodes]][:end[/nodes]]` as its two boundaries; cut at the last colon.

    >>> subgraph_to("a/1,2:b/3-5"), subgraph_to("a")
    ({'start': ['a/1,2'], 'end': ['b/3-5']}, {'start': ['a'], 'end': [None]})
    """
    start, colon, end = text.rpartition(":")
    if not colon:
        start, end = end, ""
    return {"start": [start or None], "end": [end or None]}


def subgraph_from(data: Any) -> str:
    """The text of a subgraph: boundaries are texts, or lists of one text, and null is an open one.

    Raises `UsageError` for anything else.

    >>> subgraph_from({"start": ["a/1,2"], "end": [None]}), subgraph_from({"end": "b"}), subgraph_from("a:b")
    ('a/1,2', ':b', 'a:b')
    """
    if isinstance(data, str):
        return data
    if not isinstance(data, Mapping):
        raise UsageError(f"A subgraph is a mapping of start and end, not {kind(data)}.")
    start, end = (_boundary(data.get(word), word) for word in ("start", "end"))
    return f"{start}:{end}" if end else start


def _boundary(value: Any, word: str) -> str:
    found = [value] if isinstance(value, str) or value is None else value
    if not isinstance(found, list) or len(found) != 1 or not (found[0] is None or isinstance(found[0], str)):
        raise UsageError(
            f"The {word} of a subgraph is one task, not {kind(value)}.", hint='Write {"start": ["task/1,2"]}.'
        )
    return found[0] or ""

"""Runs, their history and requests for runs in Nailgun's shapes, and back.

Nailgun calls a run a transaction. `POST graphs/execute/` takes nodes and tasks with each graph of a request, and a
subgraph as two lists of boundaries with one entry each, where `null` means an open end. A row of a history is the
definition of the task, overlaid with the status of its instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.model.run import NO_CLUSTER, HistoryRow, NodeKey, Run, RunRequest
from fuelclient.model.status import RunStatus
from fuelclient.serializers.answer import Answer
from fuelclient.serializers.fact import facts_from, info_to
from fuelclient.serializers.task import nailgun_record
from fuelclient.serializers.values import in_words, plain


def nailgun_transaction_to(run: Run, *, with_parent: bool = False) -> dict[str, Any]:
    """Write a run as a transaction.

    A parent has no `graph_type`, a run that succeeded has no message, and `result` is always empty. Nailgun names the
    parent (`with_parent`) only in tasks and in answers to requests that begin something.
    """
    done = run.status == RunStatus.READY and not run.dry_run
    return {
        "id": run.id,
        "cluster": run.cluster_id,
        "uuid": run.uuid,
        "name": run.name,
        "result": {},
        "message": None if done else run.message or None,
        "status": str(run.status),
        "progress": run.progress,
        "dry_run": run.dry_run,
        "graph_type": run.graph_type or None,
        **({"parent_id": run.parent_id} if with_parent else {}),
        "time_start": run.time_start,
        "time_end": run.time_end,
    }


_RUN_FIELDS = ("uuid", "name", "graph_type", "parent_id", "progress", "message", "result", "time_start", "time_end")


def run_from(data: Any) -> Run:
    """Read a run. Raise `InvalidDocument` if it is not one.

    A master returns only these parts of the request: the environment, the graph type, and whether it is a dry run.
    """
    answer = Answer(data, "transaction")
    cluster_id, graph_type = answer.number("cluster", NO_CLUSTER), answer.text("graph_type")
    request = RunRequest(cluster_id, (graph_type,) if graph_type else (), dry_run=answer.truth("dry_run"))
    return answer.into(Run, "id", "status", optional=_RUN_FIELDS, cluster_id=cluster_id, request=request)


_EXTRA_FIELDS = ("executor", "on_originals", "unknown")
"""Fields of a request that Nailgun lacks."""


def execution_to(request: RunRequest) -> dict[str, Any]:
    """Write the body of `POST graphs/execute/`. Fields that Nailgun lacks, such as `executor`, are left out if
    empty."""
    limits = {
        **({"nodes": list(request.node_ids)} if request.node_ids or request.master_only else {}),
        **({"tasks": list(request.task_names)} if request.task_names else {}),
    }
    extra = {name: value for name in _EXTRA_FIELDS if (value := getattr(request, name))}
    return {
        "cluster": request.cluster_id,
        "graphs": [{"type": graph_type, **limits} for graph_type in request.graph_types],
        **({"subgraphs": list(map(subgraph_to, request.subgraphs))} if request.subgraphs else {}),
        "dry_run": request.dry_run,
        "noop_run": request.noop,
        "force": request.force,
        "debug": request.trace,
        **extra,
        **({} if request.assumed.is_empty else {"assumed_facts": info_to(request.assumed)}),
    }


def execution_from(data: Any) -> RunRequest:
    """Read the body of `POST graphs/execute/`.

    An empty list of nodes selects only the stages and the tasks of the master, as on a Fuel master. Raise `UsageError`
    if the graphs differ in their nodes or tasks.
    """
    answer = Answer(data, "request")
    graphs = [Answer(graph, "graph of a request") for graph in answer.items("graphs")]
    nodes = {None if graph.data.get("nodes") is None else graph.numbers("nodes") for graph in graphs}
    tasks = {graph.texts("tasks") for graph in graphs}
    for word, limits in (("nodes", nodes), ("tasks", tasks)):
        if len(limits) > 1:
            raise UsageError(f"The graphs of one run cannot have different {word}.", hint="Run them one after another.")
    return answer.into(
        RunRequest, optional=("force", "dry_run", *_EXTRA_FIELDS), cluster_id=answer.identifier("cluster"),
        graph_types=tuple(graph.required("type") for graph in graphs), node_ids=next(filter(None, nodes), ()),
        task_names=next(iter(tasks), ()), subgraphs=tuple(map(subgraph_from, answer.items("subgraphs"))),
        noop=answer.truth("noop_run"), trace=answer.truth("debug"), master_only=nodes == {()},
        assumed=facts_from(answer.data.get("assumed_facts") or {}),
    )  # fmt: skip


def subgraph_to(text: str) -> dict[str, Any]:
    """The boundaries of a subgraph `[start[/nodes]][:end[/nodes]]`, split at the last colon.

    >>> subgraph_to("a/1,2:b/3-5"), subgraph_to("a")
    ({'start': ['a/1,2'], 'end': ['b/3-5']}, {'start': ['a'], 'end': [None]})
    """
    start, colon, end = text.rpartition(":")
    if not colon:
        start, end = end, ""
    return {"start": [start or None], "end": [end or None]}


def subgraph_from(data: Any) -> str:
    """The text of a subgraph. Boundaries are strings or lists of one string, and null means an open end.

    Raise `UsageError` for anything else.

    >>> subgraph_from({"start": ["a/1,2"], "end": [None]}), subgraph_from({"end": "b"}), subgraph_from("a:b")
    ('a/1,2', ':b', 'a:b')
    """
    if isinstance(data, str):
        return data
    if not isinstance(data, Mapping):
        raise UsageError(f"A subgraph is a mapping of start and end, not {in_words(data)}.")
    start, end = (_boundary(data.get(word), word) for word in ("start", "end"))
    return f"{start}:{end}" if end else start


def _boundary(value: Any, word: str) -> str:
    names = [value] if isinstance(value, str) or value is None else value
    if not isinstance(names, list) or len(names) != 1 or not (names[0] is None or isinstance(names[0], str)):
        hint = 'Write {"start": ["task/1,2"]}.'
        raise UsageError(f"The {word} of a subgraph is one task, not {in_words(value)}.", hint=hint)
    return names[0] or ""


_INSTANCE_FIELDS = ("task_name", "node_id", "status", "time_start", "time_end")


def history_row_to(row: HistoryRow, *, include_summary: bool = False) -> dict[str, Any]:
    """Write a row: the task's definition without id, in Nailgun's spellings, and the status of the instance."""
    definition = nailgun_record({key: value for key, value in plain(row.definition).items() if key != "id"})
    record = {
        "task_name": row.task,
        "node_id": None if row.node is None else str(row.node),
        "status": str(row.status),
        "time_start": row.time_start,
        "time_end": row.time_end,
    }
    summary = {"summary": plain(row.summary)} if include_summary else {}
    return {**record, **{key: value for key, value in definition.items() if key not in record}, **summary}


def history_row_from(data: Any, run_id: int = 0, graph_type: str = "") -> HistoryRow:
    """Read a row. Raise `InvalidDocument` if it is not one.

    `run_id` is the child run and `graph_type` the type of its graph, which rows do not contain. Fuel 9.0 has
    `deployment_graph_task_name` instead of `task_name`.
    """
    answer = Answer(data, "row of a history")
    old = "deployment_graph_task_name"
    definition = answer.rest(*_INSTANCE_FIELDS, "summary", old)
    return answer.into(
        HistoryRow, "status", optional=("time_start", "time_end", "summary"), run_id=run_id, graph_type=graph_type,
        task=answer.required("task_name" if "task_name" in answer.data else old),
        node=node_key_from(answer.data.get("node_id")), type=str(definition.get("type") or ""), definition=definition,
    )  # fmt: skip


def node_key_from(value: Any) -> NodeKey:
    """The node of an instance: numbers are node ids, other strings are kept. Raise `InvalidDocument` for other values.

    >>> node_key_from("3"), node_key_from(3), node_key_from("master"), node_key_from("null")
    (3, 3, 'master', None)
    """
    if value is None or value == "null":  # sync points, as filters of nodes name them
        return None
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidDocument(f"A row of a history has {in_words(value)} instead of a node.")
    return int(value) if isinstance(value, int) or value.isdecimal() else value

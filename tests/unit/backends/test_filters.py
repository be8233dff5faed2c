"""Filters hold whether a master reads them, ignores them (Fuel 9.0), or adds what they leave out (Fuel 9.0.1)."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from faulty_master import Request, serving
from hypothesis import given
from hypothesis import strategies as st

from fuelclient.backends.base import Backend
from fuelclient.backends.connected import connected
from fuelclient.model.run import HistoryFilter
from fuelclient.settings.master import Master

TASKS, NODES, STATUSES = ["a", "b", "c"], ["1", "2", "master", None], ["pending", "ready", "error", "skipped"]
ROWS = [
    {"deployment_graph_task_name": task, "node_id": node, "status": STATUSES[(at + by) % 4], "type": "shell"}
    for at, task in enumerate(TASKS)
    for by, node in enumerate(NODES)
]
RUNS = [
    {"id": at, "uuid": f"u{at}", "cluster": 1 + at % 2, "name": ["deploy", "deployment", "provision"][at % 3],
     "status": ["ready", "error"][at % 5 % 2], "graph_type": None, "progress": 100}
    for at in range(1, 13)
]  # fmt: skip
VERSION = {
    "release": "9.0",
    "api": "1",
    "auth_required": False,
    "feature_groups": [],
    "openstack_version": "mitaka-9.0",
}

Query = Mapping[str, list[str]]


def reads(query: Query, row: Mapping[str, Any], adds: bool) -> bool:
    told = {"nodes": str(row.get("node_id") or "null"), "statuses": row["status"], "transaction_types": row.get("name"),
            "tasks_names": row.get("deployment_graph_task_name"), "cluster_id": str(row.get("cluster"))}  # fmt: skip
    skipped = adds and row["status"] == "skipped"
    return skipped or all(told[key] in query[key][0].split(",") for key in told if key in query)


@pytest.fixture(scope="module", params=["9.0", "9.0.1", "10.0"])
def master(request: pytest.FixtureRequest) -> Iterator[Backend]:
    def answer(asked: Request) -> None:
        parts = urllib.parse.urlsplit(asked.path)
        query = urllib.parse.parse_qs(parts.query)
        path = parts.path.removeprefix("/api/v1/").rstrip("/")
        known: Any = {"version": VERSION, "transactions": RUNS, "tasks": [], "transactions/2/deployment_history": ROWS,
                      "transactions/2": dict(RUNS[1], graph_type="default")}[path]  # fmt: skip
        if isinstance(known, list) and request.param != "9.0":
            known = [row for row in known if reads(query, row, request.param == "9.0.1")]
        asked.json(known)

    with serving(answer) as server:
        backend = connected(Master(server.url))
        yield backend
        backend.close()


def some(words: list[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(words), unique=True).map(tuple)


@given(some(TASKS), some(["1", "2", "master", "null"]), some(STATUSES))
def test_a_history_has_what_passes_and_nothing_else(
    master: Backend, tasks: tuple[str, ...], nodes: tuple[str, ...], statuses: tuple[str, ...]
) -> None:
    query = {"tasks_names": tasks, "nodes": nodes, "statuses": statuses}
    stated = {key: [",".join(values)] for key, values in query.items() if values}
    found = master.runs.history(2, HistoryFilter(nodes, statuses, tasks))
    expected = [row for row in ROWS if reads(stated, row, adds=False)]
    assert [(row.task, str(row.node or "null"), str(row.status)) for row in found] == [
        (row["deployment_graph_task_name"], row["node_id"] or "null", row["status"]) for row in expected
    ]


@given(st.sampled_from([None, 1, 2]), some(["ready", "error"]), some(["deployment", "provision", "dump"]))
def test_a_list_of_runs_has_what_passes_and_nothing_else(
    master: Backend, cluster_id: int | None, statuses: tuple[str, ...], names: tuple[str, ...]
) -> None:
    query = {"cluster_id": (str(cluster_id),) if cluster_id else (), "statuses": statuses, "transaction_types": names}
    stated = {key: [",".join(values)] for key, values in query.items() if values}
    found = master.runs.list(cluster_id=cluster_id, statuses=statuses, names=names)
    assert [run.id for run in found] == [run["id"] for run in RUNS if reads(stated, run, adds=False)]

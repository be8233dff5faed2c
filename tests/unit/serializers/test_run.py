"""Transactions and their history as a master tells of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from refusals import refused

from fuelclient.errors import (
    InvalidDocument,
)
from fuelclient.model.finding import Finding, Place, Severity
from fuelclient.model.run import HistoryRow, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus
from fuelclient.serializers.run import history_row_from, history_row_to, nailgun_transaction_to, run_from

FINDING = Finding(Severity.ERROR, "G050", "a waits for b", Place(layer="cluster"), "a", "Mend it.")
REQUEST = RunRequest(1, ("a", "b"), (1,), ("t",), ("t:",), force=True, noop=True, executor="noop")
CHILD = Run(9, "u9", 1, "deployment", RunStatus.PENDING, REQUEST, "a", parent_id=8, digest="d", findings=(FINDING,))
PARENT = Run(
    8, "u8", 1, "deploy", RunStatus.ERROR, REQUEST, progress=40, message="m", result={"a": [1]},
    time_start="2016-03-25T17:22:10.687135", time_end="2016-03-25T17:22:30.830701", stop="kill", runner="gone",
    children=(CHILD, replace(CHILD, id=10, graph_type="b")),
)  # fmt: skip
ROW = HistoryRow(
    9, "a", "hiera", 1, InstanceStatus.ERROR, "puppet", "dep_failed", "x@1", "said", "2016-03-25T17:22:10", None, 7, 2,
    {"resources": 3}, {"type": "puppet", "roles": ["controller"], "parameters": {"timeout": 3600}},
)  # fmt: skip


@pytest.mark.parametrize("run", [PARENT, CHILD], ids=["parent", "child"])
def test_a_transaction_reads_as_a_master_tells_it(run: Run) -> None:
    record = nailgun_transaction_to(run, with_parent=True)
    assert json.loads(json.dumps(record)) == record
    found = run_from(record)
    assert (found.id, found.parent_id, found.graph_type) == (run.id, run.parent_id, run.graph_type)
    assert (found.status, found.progress, found.message) == (run.status, run.progress, run.message)
    assert (record["graph_type"], record["cluster"]) == (run.graph_type or None, 1)


def test_a_master_says_less_of_a_run() -> None:
    told = {
        "id": 7, "cluster": 1, "uuid": "u", "name": "deploy", "result": {}, "message": "", "status": "ready",
        "progress": 100, "dry_run": True, "graph_type": "default", "parent_id": None, "time_start": None,
        "time_end": None,
    }  # fmt: skip
    found = run_from(told)
    assert found.request == RunRequest(1, ("default",), dry_run=True)
    assert (found.dry_run, found.graph_type, found.progress, found.children) == (True, "default", 100, ())


def test_a_status_that_nobody_knows_is_an_error() -> None:
    with refused(InvalidDocument, "'lost'"):
        run_from({**nailgun_transaction_to(CHILD), "status": "lost"})


def test_a_row_reads_as_a_master_tells_it() -> None:
    record = history_row_to(ROW, include_summary=True)
    assert json.loads(json.dumps(record)) == record
    found = history_row_from(record, run_id=9)
    assert (found.run_id, found.task, found.status, found.summary) == (9, "hiera", ROW.status, ROW.summary)
    for node in ("master", None, "-"):
        assert history_row_from(history_row_to(replace(ROW, node=node))).node == node


def test_row_for_nailgun_clients_has_only_the_task() -> None:
    assert history_row_to(ROW) == {
        "task_name": "hiera", "node_id": "1", "status": "error", "time_start": "2016-03-25T17:22:10", "time_end": None,
        "type": "puppet", "roles": ["controller"], "role": ["controller"], "version": "1.0.0",
        "parameters": {"timeout": 3600},
    }  # fmt: skip


def test_an_old_master_names_the_task_otherwise() -> None:
    told = {"deployment_graph_task_name": "hiera", "node_id": "1", "status": "ready", "type": "puppet"}
    row = history_row_from(told, run_id=5)
    assert (row.task, row.node, row.run_id, row.type) == ("hiera", 1, 5, "puppet")

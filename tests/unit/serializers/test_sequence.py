"""Sequences and requests to execute, as they go over a connection."""

from __future__ import annotations

from typing import Any

import pytest
from refusals import refused

from fuelclient.errors import InvalidDocument, UsageError
from fuelclient.model.run import RunRequest
from fuelclient.model.sequence import DeploymentSequence
from fuelclient.serializers.run import execution_from, execution_to
from fuelclient.serializers.sequence import sequence_from, sequence_to

SEQUENCE = DeploymentSequence(2, 1, "seq", ("default", "fix"))
REQUEST = RunRequest(
    1, ("a", "b"), (1, 2), ("t1", "t2"), ("t1/1,2:t2/3-5", "t1", ":t2"), force=True, noop=True, trace=True
)


def test_a_sequence_reads_as_it_was() -> None:
    record = sequence_to(SEQUENCE)
    assert record == {"id": 2, "name": "seq", "graphs": [{"type": "default"}, {"type": "fix"}], "release_id": 1}
    assert sequence_from(record) == SEQUENCE


def test_a_request_is_written_as_the_original_client_does() -> None:
    limits = {"nodes": [1, 2], "tasks": ["t1", "t2"]}
    assert execution_to(REQUEST) == {
        "cluster": 1,
        "graphs": [{"type": "a", **limits}, {"type": "b", **limits}],
        "subgraphs": [
            {"start": ["t1/1,2"], "end": ["t2/3-5"]},
            {"start": ["t1"], "end": [None]},
            {"start": [None], "end": ["t2"]},
        ],
        "dry_run": False,
        "noop_run": True,
        "force": True,
        "debug": True,
    }


@pytest.mark.parametrize(
    "request_",
    [REQUEST, RunRequest(1), RunRequest(1, dry_run=True, executor="noop", subgraphs=("a:b:c",))],
)
def test_a_request_reads_as_it_was(request_: RunRequest) -> None:
    assert execution_from(execution_to(request_)) == request_


def test_boundaries_of_subgraphs_may_be_texts() -> None:
    body = {"cluster": 1, "graphs": [{"type": "a"}], "subgraphs": [{"start": "x", "end": "y"}]}
    assert execution_from(body).subgraphs == ("x:y",)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"graphs": [{"type": "a", "nodes": [1]}, {"type": "b"}]}, "nodes"),
        ({"graphs": [{"type": "a", "tasks": ["x"]}, {"type": "b", "tasks": ["y"]}]}, "tasks"),
        ({"graphs": [{"type": "a", "nodes": []}, {"type": "b"}]}, "nodes"),
        ({"graphs": [{"type": "a"}], "subgraphs": [3]}, "not the number 3"),
        ({"graphs": [{"type": "a"}], "subgraphs": [{"start": ["a", "b"]}]}, "start of a subgraph"),
        ({"graphs": [{"type": "a"}], "subgraphs": [{"end": [1]}]}, "end of a subgraph"),
    ],
)
def test_what_cannot_be_asked_for(body: dict[str, Any], told: str) -> None:
    with refused(UsageError, told):
        execution_from({"cluster": 1, **body})


def test_an_empty_list_of_nodes_is_none_of_them() -> None:
    body = {"cluster": 1, "graphs": [{"type": "a", "nodes": []}, {"type": "b", "nodes": []}]}
    request = execution_from(body)
    assert (request.node_ids, request.master_only) == ((), True)
    assert execution_to(request)["graphs"] == body["graphs"]
    assert not execution_from({"cluster": 1, "graphs": [{"type": "a", "nodes": None}]}).master_only


def test_a_sequence_without_types_of_its_graphs_is_none() -> None:
    with refused(InvalidDocument, "graph of a sequence"):
        sequence_from({"id": 1, "release_id": 1, "name": "a", "graphs": ["default"]})

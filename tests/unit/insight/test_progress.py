"""What an ended run left, as command lines."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from typing import Any

import pytest

from fuelclient.commands.graph.execute import GraphExecute
from fuelclient.commands.shell import FuelShell
from fuelclient.insight.progress import rest_of
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.run import Run, RunRequest
from fuelclient.model.status import RunStatus

STATED: dict[str, Any] = {
    "node_ids": (2, 3),
    "subgraphs": ("a:b",),
    "force": True,
    "trace": True,
    "executor": "noop",
    "on_originals": True,
    "unknown": "skip",
    "assumed": DeploymentFacts({"a": 1}),
}
"""A value of each field of a request that the rest of a run must keep."""
ELSEWHERE = {
    "cluster_id": "always stated",
    "graph_types": "always stated",
    "task_names": "part of the query",
    "dry_run": "leaves nothing",
    "noop": "leaves nothing: it is a dry run too",
    "master_only": "no option: only the end of an environment asks for it",
}


def ended(request: RunRequest) -> Run:
    return Run(1, "u", 1, "deploy", RunStatus.ERROR, request)


def test_every_field_is_thought_of() -> None:
    assert {field.name for field in fields(RunRequest)} == {*STATED, *ELSEWHERE}


@pytest.mark.parametrize("name", STATED)
def test_the_rest_keeps_each_option_of_the_run(name: str) -> None:
    plain = rest_of(ended(RunRequest(1)))
    told = rest_of(ended(replace(RunRequest(1), **{name: STATED[name]})))
    assert told.startswith(plain.rstrip("`"))
    assert told != plain
    parser = GraphExecute(FuelShell(), None).get_parser("fuel2 graph execute")
    parsed = vars(parser.parse_args(shlex.split(told.strip("`"))[3:]))
    kept = parsed[{"node_ids": "nodes", "assumed": "assume_facts"}.get(name, name)]
    assert kept == {"node_ids": [2, 3], "subgraphs": ["a:b"], "assumed": "FILE"}.get(name, STATED[name])

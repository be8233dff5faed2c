"""What every backend begins although nothing of it would run, where a caller says that it may be so."""

from __future__ import annotations

from typing import Any

import pytest
from executions import Executions, shell, stage
from refusals import refused

from fuelclient.errors import InvalidGraph, UsageError
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Task

IDLE = Task("idle", {"type": "skipped", "roles": ["compute"]})


@pytest.mark.parametrize("selection", [{"task_names": ("idle",)}, {"task_names": ("s",)}, {"subgraphs": ("idle/1",)}])
def test_tasks_that_do_nothing(env: Executions, selection: dict[str, Any]) -> None:
    env.graph(stage("s"), IDLE, shell("a", env.note("a")))
    request = RunRequest(1, **selection)
    with refused(InvalidGraph, "selection", "default graph", *next(iter(selection.values()))):
        env.backend.runs.begin(request)

    begun = env.backend.runs.begin(request, may_idle=True)

    assert env.ended(begun.id).status == "ready"
    assert env.noted() == []
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}


def test_a_part_of_nothing_is_refused_all_the_same(env: Executions) -> None:
    env.graph(IDLE, shell("a"), shell("b", requires=["a"]))
    with refused(InvalidGraph, "selection", "default graph", "b:a"):
        env.backend.runs.begin(RunRequest(1, subgraphs=("b:a",)), may_idle=True)
    assert env.backend.runs.list() == []


def test_a_subgraph_without_ends_fails_when_its_turn_comes(env: Executions) -> None:
    env.graph(shell("a", env.note("a")))
    request = RunRequest(1, subgraphs=("a", ":"))
    with refused(UsageError, "subgraph"):
        env.backend.runs.begin(request)

    begun = env.backend.runs.begin(request, may_idle=True)

    ended = env.ended(begun.id)
    assert ended.status == "error"
    assert "names no task" in ended.message
    assert env.noted() == []
    assert env.statuses() == {1: "provisioned", 2: "provisioned", 3: "provisioned"}

"""`graph execute --dry-run` on a real master: the master is asked, and its decision is shown beside our plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from command_line import Done, fuel2
from recorded_dry_run import SMALL, Recorded
from recordings import TOKEN, Line, Replay

from fuelclient.model.run import Run, RunRequest
from fuelclient.model.status import RunStatus

pytestmark = pytest.mark.corpus


def dry_run(replay: Replay, *words: str) -> Done:
    with replay.served() as url:
        return fuel2("--server", url, "graph", "execute", "--env", 1, "--type", "small", "--dry-run", *words)


def test_the_history_of_a_dry_run_is_the_decision() -> None:
    runs = Replay(495, 498).backend().runs
    part = Run(37, "", 1, "deployment", RunStatus.READY, RunRequest(1, ("small",)), "small", 36)
    assert runs.decided(part, RunRequest(1, ("small",))) == SMALL


def test_tasks_that_were_not_selected_do_not_run() -> None:
    runs = Replay(487, 490).backend().runs
    part = Run(33, "", 1, "deployment", RunStatus.READY, RunRequest(1, ("small",)), "small", 32)
    told = runs.decided(part, RunRequest(1, ("small",), task_names=("two",)))
    assert [key for key, runs_there in told.items() if runs_there] == [("two", 2), ("two", 3)]
    assert set(told) == set(SMALL)


class Pending(Replay):
    """A master whose orchestrator only draws the graph of a dry run: the rows of its history stay as they began."""

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Line:
        answered = super().answer(method, path, headers, body)
        if "deployment_history" not in path:
            return answered
        rows = [row if row["node_id"] == "-" else {**row, "status": "pending"} for row in answered.response_body]
        return replace(answered, response_body=rows)


def test_pending_history_is_decided_by_serialized_tasks() -> None:
    replay = Pending(495, 498)
    runs = replay.backend().runs
    part = Run(37, "", 1, "deployment", RunStatus.READY, RunRequest(1, ("small",)), "small", 36)
    assert runs.decided(part, RunRequest(1, ("small",))) == SMALL
    assert replay.asked[-1] == "GET clusters/1/serialized_tasks/?graph_type=small"
    assert runs.decided(part, RunRequest(1, ("small",), force=True)) == {}


def test_the_masters_decision_is_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_TOKEN", TOKEN)
    replay = Recorded("runs: the other ways to ask for one")
    done = dry_run(replay, "--format", "json")
    assert done.code == 0, done
    assert replay.posted == {
        "cluster": 1, "graphs": [{"type": "small"}], "dry_run": True, "noop_run": False, "force": False, "debug": False,
    }  # fmt: skip
    (graph,) = done.json
    told = {(one["task"], one["node"]): (one["runs"], one["master"]) for one in graph["instances"]}
    assert {key: (runs, runs) for key, runs in SMALL.items()} == told
    assert graph["only_on_master"] == []

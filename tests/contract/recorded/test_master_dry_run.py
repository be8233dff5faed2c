"""`graph execute --dry-run` on a real master: the master is asked, and its decision is shown beside our plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from command_line import Done, fuel2
from recordings import TOKEN, Line, Replay, line

from fuelclient.model.run import Run, RunRequest
from fuelclient.model.status import RunStatus

pytestmark = pytest.mark.corpus

SMALL = {
    ("one", 1): True, ("two", 2): True, ("two", 3): True, ("three", 2): True, ("three", 3): True,
    ("never", 1): False, ("never", 2): False, ("never", 3): False, ("last", 1): True, ("last", 2): True,
    ("last", 3): True,
}  # fmt: skip
"""What the master would run of the recorded graph; the task plug is placed nowhere."""


class Recorded(Replay):
    """The recorded dry run of a whole graph, whose request names fewer options than ours.

    All transactions of the environment are in a later answer; the master has forgotten the tasks of this run by then.
    """

    posted: Any = None

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Line:
        if method == "POST":
            self.asked.append(f"{method} {path}")
            self.posted = body
            return line(495)
        if "/orchestrator/deployment/?" in path:  # the facts that were uploaded before are deleted
            return replace(line(382), response_body=[])
        if "/transactions/?cluster_id=1" in path:
            names = ["deployment"] if "transaction_types=" in path else ["deploy", "deployment"]
            every = line(583).response_body
            own = [one for one in every if one["cluster"] == 1 and 30 <= one["id"] <= 37 and one["name"] in names]
            return replace(line(583), response_body=own)
        everything = super().answer(method, path.replace("&statuses=ready", ""), headers, body)
        if "&statuses=ready" not in path:
            return everything
        rows = [row for row in everything.response_body if row["status"] == "ready"]
        return replace(everything, response_body=rows)


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


def test_where_the_history_stays_pending_the_serialized_tasks_are_the_decision() -> None:
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

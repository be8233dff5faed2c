"""`graph preview --verify`: the merge of the other side, compared task by task."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from command_line import CommandLine, Done
from faulty_master import Request, Server, serving

from fuelclient.commands.shell import FuelShell

RELEASE_TASKS: list[dict[str, Any]] = [
    {"id": "base", "type": "stage", "version": "2.0.0"},
    {"id": "conf", "type": "shell", "version": "2.0.0", "roles": ["compute"], "requires": ["base"],
     "parameters": {"cmd": "true", "timeout": 5}},
]  # fmt: skip
OWN_TASKS = [{**RELEASE_TASKS[1], "parameters": {"cmd": "true", "timeout": 7}}]
MERGED = [*OWN_TASKS, RELEASE_TASKS[0]]


class Master:
    """A Fuel master with one environment; `merged` is what it says it merges to, `refusal` why it merges nothing."""

    def __init__(self) -> None:
        self.refusal = ""
        self.answers: dict[str, Any] = {}
        self.merged: list[dict[str, Any]] = [
            {**task, "task_name": task["id"], "condition": None, "cross-depends": []} for task in MERGED
        ]

    def __call__(self, request: Request) -> None:
        answers: dict[str, Any] = {
            "version": {"auth_required": False, "release": "9.0"},
            "clusters/1/": {"id": 1, "name": "env1", "release_id": 1, "status": "new"},
            "clusters/1/attributes": {"editable": {}, "generated": {}},
            "clusters/1/roles/": [{"name": "compute", "meta": {"name": "Compute"}}],
            "clusters/1/deployment_graphs/": [graph("cluster", OWN_TASKS)],
            "clusters/1/deployment_tasks/?graph_type=default": self.merged,
            "releases/1/": {"id": 1, "name": "Mitaka", "version": "mitaka-9.0"},
            "releases/1/deployment_graphs/": [graph("release", RELEASE_TASKS)],
            "nodes/?cluster_id=1": [
                {"id": 1, "name": "n1", "cluster": 1, "status": "provisioned", "pending_roles": ["compute"],
                 "roles": [], "online": True, "ip": "10.20.0.3"},
            ],
        }  # fmt: skip
        answers |= self.answers
        path = request.path.removeprefix("/api/v1/")
        if path == "clusters/1/tags/":  # masters before Fuel 10 know no tags
            request.json({"message": "not found"}, 404)
        elif path.startswith("clusters/1/deployment_tasks/") and self.refusal:
            request.text(self.refusal, 400, "text/plain")
        else:
            request.json(answers[path])


def graph(model: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    relation = {"type": "default", "model": model, "model_id": 1}
    return {"id": 1, "name": None, "tasks": tasks, "relations": [relation]}


@pytest.fixture
def master() -> Master:
    return Master()


@pytest.fixture
def server(master: Master) -> Iterator[Server]:
    with serving(master) as found:
        yield found


def verified(server: Server, *words: str) -> Done:
    out, err = io.StringIO(), io.StringIO()
    line = ["--server", server.url, "graph", "preview", "--env", "1", "--verify", *words]
    return Done(FuelShell(io.StringIO(), out, err).run(line), out.getvalue(), err.getvalue())


def test_the_same_is_one_line(server: Server) -> None:
    done = verified(server, "--exit-code", "-f", "json")
    assert (done.code, [row["task"] for row in json.loads(done.out)]) == (0, ["base", "conf"])
    assert "The other side merges to the same 2 tasks." in done.err


def test_differences_are_listed(server: Server, master: Master) -> None:
    master.merged[0]["parameters"] = {"cmd": "true", "timeout": 5}
    master.merged.append({"id": "extra", "type": "stage", "version": "2.0.0"})
    done = verified(server, "-f", "json")
    assert done.code == 0
    assert "task conf: parameters.timeout is 7 here, and 5 on the other side" in done.err
    assert "task extra: exists only on the other side" in done.err
    assert "2 differences" in done.err
    assert verified(server, "--exit-code").code == 10


REFUSAL = (
    "Plugin extra-1.0.0 is overlapping with plugin main-2.0.0 by introducing the same deployment task with id shared"
)
"""The whole answer of a master: a text, not JSON."""


def test_a_master_with_a_task_of_two_plugins_merges_nothing(server: Server, master: Master) -> None:
    shared = {"id": "shared", "type": "shell", "version": "2.0.0", "roles": ["compute"], "parameters": {"cmd": "true"}}
    versions = {1: ("main", "2.0.0"), 2: ("extra", "1.0.0")}
    master.answers["clusters/1/attributes"] = {
        "editable": {
            name: {"metadata": {"class": "plugin", "enabled": True, "chosen_id": number}}
            for number, (name, _) in versions.items()
        }
    }
    master.answers["plugins/"] = [
        {"id": number, "name": name, "version": version, "title": name} for number, (name, version) in versions.items()
    ]
    for number in versions:
        master.answers[f"plugins/{number}/deployment_graphs/"] = [graph("plugin", [shared])]
    master.refusal = REFUSAL
    done = verified(server, "-f", "json")
    assert done.code == 7, done
    assert {"base", "conf", "shared"} == {row["task"] for row in json.loads(done.out)}
    assert "[G049]" in done.err
    assert REFUSAL in done.err
    with_findings = [row for row in json.loads(done.out) if any(one["code"] == "G049" for one in row["findings"])]
    assert {row["task"] for row in with_findings} == {"shared"}


def test_the_exit_code_needs_a_comparison(tiny: CommandLine) -> None:
    done = tiny("graph", "preview", "--env", "1", "--exit-code")
    assert (done.code, done.out) == (2, "")
    assert "--verify" in done.err


def test_an_engine_file_has_no_other_merge(tiny: CommandLine) -> None:
    done = tiny("graph", "preview", "--env", "1", "--verify", "--exit-code")
    assert (done.code, done.out) == (2, "")
    assert "no master is named. Name one with --server" in done.err

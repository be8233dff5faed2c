"""What the history of a Fuel master says about earlier runs: the last success of each task on each node counts."""

from __future__ import annotations

from typing import Any

from building import RELEASE, layer, task

from fuelclient.backends.nailgun.runs import History, memory_of
from fuelclient.errors import NotFound
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.model.release import Release
from fuelclient.model.run import CHILD, HistoryRow, Run, RunRequest
from fuelclient.model.status import InstanceStatus, RunStatus

ENVIRONMENT = Environment(
    Cluster(1, "prod", 1), Release(1, "Tiny", "tiny-1.0"),
    nodes=(Node(1, "a", 1, status="ready"), Node(2, "b", 1, status="ready"), Node(3, "c", 1, status="discover")),
)  # fmt: skip
ASKS, PLAIN = task("asks", condition={"yaql_exp": "changedAny($.a, $.b)"}), task("plain", condition={"yaql_exp": "$.a"})
LAYERS = {"default": [layer(RELEASE, ASKS, PLAIN)]}


class Master:
    """Three ended runs: the first succeeded everywhere, the second on node 2, and the third with another task only."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.rows = {7: [("asks", 1), ("asks", 2), ("asks", 3)], 8: [("asks", 2)], 9: [("plain", 1)]}
        runs = [Run(n, "", 1, CHILD, RunStatus.READY, RunRequest(1), "default") for n in self.rows]
        self.history = History(runs, self.succeeded, self.facts)

    def succeeded(self, run: Run) -> list[HistoryRow]:
        self.asked.append(run.id)
        return [HistoryRow(run.id, "default", name, node, InstanceStatus.READY) for name, node in self.rows[run.id]]

    def facts(self, run_id: int) -> DeploymentFacts:
        self.asked.append(("facts", run_id))
        return DeploymentFacts({"run": run_id}, {})


def test_the_last_success_counts() -> None:
    master = Master()
    memory = memory_of(master.history, ENVIRONMENT, LAYERS)
    assert memory is not None
    assert memory.last == {("asks", "1"): 7, ("asks", "2"): 8}
    assert memory.forgotten == ("3",)  # it is deployed anew
    assert {run_id: facts.common for run_id, facts in memory.facts.items()} == {7: {"run": 7}, 8: {"run": 8}}
    assert master.asked == [9, 8, ("facts", 8), 7, ("facts", 7)]


def test_no_history_is_read_without_changes_or_when_forced() -> None:
    master = Master()
    memories = [
        memory_of(master.history, ENVIRONMENT, {"default": [layer(RELEASE, PLAIN)]}),
        memory_of(master.history, ENVIRONMENT, LAYERS, force=True),
    ]
    assert [(memory.last, memory.forgotten) for memory in memories if memory] == 2 * [({}, ("3",))]
    assert master.asked == []


def test_without_the_facts_of_a_run_nothing_is_known() -> None:
    master = Master()

    def absent(run_id: int) -> DeploymentFacts:
        raise NotFound("deployment info", f"of run {run_id}")

    assert memory_of(History(master.history.ended, master.succeeded, absent), ENVIRONMENT, LAYERS) is None

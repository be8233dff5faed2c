"""What a real Nailgun would send to its orchestrator, answered by our server: types, dependencies and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from http_api import Api
from openapi_answers import documented
from recorded_expansion import CASES, filled, recorded

from fuelclient.engine.runs import inputs
from fuelclient.server.app import application
from fuelclient.store import facts

pytestmark = pytest.mark.corpus

Instance = tuple[str, str | None]
EDGES = {"1": 1914, "2": 747, "4a": 2023, "4b": 1863, "6a": 303, "7": 18}
"""The edges of each case; three of case 4b and three of case 6a lead from an instance to itself."""


@pytest.fixture(scope="module", params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def answer(name: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The serialized tasks of the case. The facts are the recorded ones only, without those of the engine itself."""
    case = recorded(name)
    backend = filled(tmp_path_factory.mktemp("case"), case)
    nodes = ",".join(node["uid"] for node in case["nodes"] if node["participates"])
    query = f"graph_type={case['options']['graph_type']}&nodes={nodes}"
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                inputs, "effective", lambda connection, target, _default: facts.uploaded(connection, target.cluster.id)
            )
            app = documented(application(lambda: backend))
            found: Mapping[str, Any] = Api(app).ask("GET", f"clusters/1/serialized_tasks/?{query}")
    finally:
        backend.close()
    return found


def tasks_of(answer: Mapping[str, Any]) -> Iterator[tuple[Instance, Mapping[str, Any]]]:
    for uid, tasks in answer["tasks_graph"].items():
        for task in tasks:
            yield (task["id"], None if uid == "null" else uid), task


def stated(rows: Sequence[Sequence[Any]]) -> set[tuple[Instance, Instance]]:
    return {((row[0], row[1]), (row[2], row[3])) for row in rows}


def test_the_types_are_nailguns(name: str, answer: Mapping[str, Any]) -> None:
    found = {instance: task["type"] for instance, task in tasks_of(answer)}
    assert found == {(task, uid): type_ for task, uid, type_ in recorded(name)["expected"]["vertices"]}


def test_the_edges_are_nailguns_and_stated_on_the_same_side(name: str, answer: Mapping[str, Any]) -> None:
    """`policy: any` lets an instance wait for any node of several. Nailgun's choice is arbitrary, ours the first: edges
    from the other one are compared as if they came from ours."""
    expected = recorded(name)["expected"]
    chosen = {choice["chosen"][0]: choice["candidates"][0] for choice in expected.get("policy_any") or ()}
    differing = {theirs: ours for theirs, ours in chosen.items() if theirs != ours}
    assert bool(differing) == (name == "6a")
    edges: set[tuple[Instance, Instance]] = set()
    for word in ("requires", "required_for"):
        found = {
            (instance, (other["name"], other["node_id"]))
            for instance, task in tasks_of(answer)
            for other in task.get(word, ())
        }
        wanted = stated(expected[word])
        if differing:
            missing, extra = wanted - found, found - wanted
            assert {(first, (task, differing[str(uid)])) for first, (task, uid) in missing} == extra
        else:
            assert found == wanted
        edges |= found if word == "required_for" else {(before, after) for after, before in found}
    assert len(edges) == EDGES[name]


def test_the_parameters_are_nailguns(name: str, answer: Mapping[str, Any]) -> None:
    found = dict(tasks_of(answer))
    compared = 0
    for task, by_node in recorded(name)["expected"]["parameters_sample"].items():
        for uid, wanted in by_node.items():
            record = found[task, uid]
            assert {key: record.get(key) for key in wanted} == wanted, (task, uid)
            compared += 1
    assert compared >= 10


def test_the_fault_tolerance_is_nailguns(name: str, answer: Mapping[str, Any]) -> None:
    groups = answer["tasks_metadata"]["fault_tolerance_groups"]
    ordered = sorted(groups, key=lambda group: str(group["name"]))
    assert ordered == recorded(name)["expected"]["fault_tolerance_groups"]

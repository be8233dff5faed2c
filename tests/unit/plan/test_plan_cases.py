"""The recorded vectors of planning (N1 to N35 where facts or a request take part): one file is one case.

`plan` asks the whole plan; `skips` asks conditions alone, of a graph that no plan can order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from building import fleet, layers_from, merged, snapshot, tasks_from
from building import roles as plain_roles
from case_files import all_cases, case_files

from fuelclient.errors import FuelError, InvalidDocument
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.plan.evaluate import evaluate
from fuelclient.plan.expand import expand
from fuelclient.plan.plan import Plan, plan, require_decided
from fuelclient.plan.work import InstanceKind

Data = Mapping[str, Any]
KEYS = {"nodes", "primary_tags", "tasks", "metadata", "facts", "request"}
RENDERED = ("type", "parameters", "fail_on_error")


def _facts(given: Data) -> DeploymentFacts:
    """The facts of a case; every node has a part, be it an empty one."""
    stated = given.get("facts", {})
    parts: dict[str, Data] = {uid: {} for uid in (*map(str, given["nodes"]), "master", "null")}
    return DeploymentFacts(
        stated.get("common", {}), parts | {str(uid): one for uid, one in stated.get("nodes", {}).items()}
    )


def _nodes(given: Data) -> list[Node]:
    """A list stands for the roles of a node of which nothing else is known."""
    result = []
    for uid, stated in given["nodes"].items():
        fields = dict(stated) if isinstance(stated, Mapping) else {"roles": stated}
        names = tuple(fields.pop("roles"))
        result.append(Node(uid, f"node-{uid}", 1, executor="local", roles=names, **fields))
    return result


def _plan(given: Data) -> object:
    assert set(given) <= KEYS, given
    members = _nodes(given)
    layers = layers_from({"release": {"tasks": given["tasks"], **given.get("metadata", {})}})
    known = plain_roles(*sorted({role for node in members for role in node.all_roles}))
    taken = snapshot(layers, members, known, given.get("primary_tags", ()))
    stated: dict[str, Any] = {key: tuple(value) for key, value in given.get("request", {}).items()}
    try:
        made = plan(taken, RunRequest(1, **stated), Expressions(_facts(given)))
        require_decided(made)
    except FuelError as error:
        result = error.findings if isinstance(error, InvalidDocument) else ()
        told = [
            f"{finding.code} {finding.message}"
            for finding in result
            if isinstance(finding, Finding) and finding.is_error
        ]
        return {"error": str(error.message), "findings": told}
    return _told(made)


def _told(made: Plan) -> Data:
    work = made.work
    return {
        "instances": {
            work.name(v): "runs" if work.kinds[v] is InstanceKind.REAL else str(work.passed_because(v))
            for v in range(work.size)
        },
        "rendered": {
            work.name(v): {key: attributes[key] for key in RENDERED} for v, attributes in made.rendered.items()
        },
        "order": [work.name(v) for v in sorted(range(work.size), key=lambda v: (made.order.generation[v], v))],
        "edges": sorted(f"{work.name(a)} -> {work.name(b)}" for a, b in made.expansion.edges.pairs()),
        "nodes": list(made.node_ids),
        "tags": {node.uid: list(node.tags) for node in made.fleet.nodes if isinstance(node.uid, int)},
        "fault_tolerance": {
            one.group: [[made.fleet.nodes[node].uid for node in one.nodes], one.tolerated]
            for one in work.fault_tolerance
        },
        "fails": {work.name(v): work.fail_on_error[v] for v in made.rendered},
        "findings": [f"{finding.code} {finding.message}" for finding in made.findings],
    }


def _skips(given: Data) -> object:
    places = fleet(given["nodes"])
    expansion = expand(merged(*tasks_from(given["tasks"])), places)
    evaluation = Expressions(_facts(given))

    def holds(task: int, node: int) -> bool:
        return evaluation.condition(expansion.tasks[task].task, places.nodes[node].uid)[0]

    reasons = evaluate(expansion, holds)
    return {"instances": {expansion.name(v): str(why) if why else "runs" for v, why in enumerate(reasons)}}


CHECKS: dict[str, Callable[[Data], object]] = {"plan": _plan, "skips": _skips}


@case_files("plan", keys=("check", "input", "expected"))
def test_case(case: dict[str, Any]) -> None:
    answer, expected = CHECKS[case["check"]](case["input"]), case["expected"]

    assert isinstance(answer, dict)
    assert "instances" in expected or "error" in expected
    assert set(expected) <= set(answer), answer
    assert {key: answer[key] for key in expected} == expected, case["says"]


def test_every_check_has_cases() -> None:
    assert {case["check"] for case in all_cases("plan")} == set(CHECKS)

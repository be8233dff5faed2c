"""What the pure floors answer for small inputs; most of the answers are those of a real Nailgun.

README.md beside this file explains the keys of a case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from building import STAGES, edges, fleet, instances, layers_from, roles, snapshot, tasks_from
from case_files import case_files
from orders import ordered

from fuelclient.errors import CycleDetected
from fuelclient.graph.match import matches
from fuelclient.graph.merge import merge_layers
from fuelclient.model.graph import MergedTask, MergePolicy
from fuelclient.model.node import Node
from fuelclient.model.task import Task
from fuelclient.plan.expand import expand
from fuelclient.plan.place import Resolver, tolerated_failures
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview
from fuelclient.serializers.task import task_to

Data = Mapping[str, Any]


def _name_match(given: Data) -> object:
    return matches(given["pattern"], given["name"])


def _resolve_role(given: Data) -> object:
    places = fleet(given["nodes"]).nodes
    placement = tasks_from([{"id": "x", "type": "shell", "roles": given["roles"]}])[0].placement[1]
    return [places[index].uid for index in Resolver(places).resolve(placement)]


def _fault_tolerance(given: Data) -> object:
    return tolerated_failures(given["value"], given["total"])


def _record(task: Task) -> dict[str, Any]:
    return task_to(task)


def _merge(given: Data) -> object:
    merged = merge_layers(layers_from(given["layers"]), MergePolicy(given.get("policy", "replace")))
    answer: dict[str, Any] = {"tasks": [_record(task.task) for task in merged.tasks]}
    if merged.findings:
        answer["findings"] = [f"{finding.code} {finding.task}" for finding in merged.findings]
    return answer


def _merge_meta(given: Data) -> object:
    return dict(merge_layers(layers_from(given["layers"])).metadata)


def _expand(given: Data) -> object:
    release = layers_from({"release": []})[0].owner
    merged = [MergedTask(task, release) for task in tasks_from(given["tasks"])]
    expansion = expand(merged, fleet(given["nodes"]))
    answer: dict[str, Any] = {"instances": sorted(instances(expansion)), "edges": sorted(edges(expansion))}
    if expansion.placement.fault_tolerance:
        answer["fault_tolerance"] = {
            group.group: [[expansion.fleet.nodes[node].uid for node in group.nodes], group.tolerated]
            for group in expansion.placement.fault_tolerance
        }
    if expansion.placement.findings:
        answer["findings"] = [f"{one.code} {one.message}" for one in expansion.placement.findings]
    try:
        ordered(expansion)
    except CycleDetected as error:
        answer["cycle"] = list(error.cycle)
    return answer


def _stage_order(given: Data) -> object:
    """The legacy entries of plugins in the order of a preview, each as it was written and by whom."""
    stated = {f"plugin {name} 1.0.0": entries for name, entries in given["plugins"].items()}
    layers = layers_from(
        {"release": given.get("release", STAGES)}
        | {
            owner: [{"stage": stage, "type": "shell", "role": "*", "parameters": {"cmd": "true"}} for stage in entries]
            for owner, entries in stated.items()
        }
    )
    node = Node(1, "node-1", roles=("controller",))
    found = preview(snapshot(layers, [node], roles("controller")), PreviewOptions())
    written = {task.id: f"{task.stage} #{layer.owner.name}" for layer in layers for task in layer.tasks}
    rows = [row for row in found.rows if row.priority is not None]
    generations = [row.first_generation for row in rows]
    assert len(set(generations)) == len(rows), "entries of one stage run one after another"
    return [written[row.task] for row in rows]


def _preview(given: Data) -> object:
    """The rows of a preview with the columns that the case asks for, and the codes of its findings."""
    nodes = [
        Node(
            number, f"node-{number}", roles=tuple(taken), primary_tags=tuple(given.get("primaries", {}).get(number, ()))
        )
        for number, taken in given.get("nodes", {}).items()
    ]
    known = roles(**given["roles"])
    taken = snapshot(layers_from(given["layers"]), nodes, known, given.get("primary_tags", ()))
    options = PreviewOptions(assume=given.get("assume", ""), policy=MergePolicy(given.get("policy", "replace")))
    found = preview(taken, options)
    rows = []
    for row in found.rows:
        values = {column: getattr(row, column) for column in given["columns"]}
        rows.append([list(value) if isinstance(value, tuple) else value for value in values.values()])
    return {"rows": rows, "findings": [f"{one.code} {one.task}".strip() for one in found.findings]}


CHECKS: dict[str, Callable[[Data], object]] = {
    "name-match": _name_match,
    "resolve-role": _resolve_role,
    "fault-tolerance": _fault_tolerance,
    "merge": _merge,
    "merge-meta": _merge_meta,
    "expand": _expand,
    "stage-order": _stage_order,
    "preview": _preview,
}
"""What is asked in each directory of cases."""


def _sorted_lists(answer: Any) -> Any:
    """Instances and edges are sets: a case lists them in whatever order reads best."""
    for key in ("instances", "edges"):
        if isinstance(answer, dict) and key in answer:
            answer[key] = sorted(answer[key])
    return answer


@case_files(*CHECKS, keys=("input", "expected"))
def test_case(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    answer = CHECKS[request.node.callspec.params["case"].path.parent.name](case["input"])

    assert answer == _sorted_lists(case["expected"]), case["says"]

"""What a Fuel master refuses or does otherwise: one test for each rule, and the graphs that a real one planned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from building import CLUSTER, RELEASE, layer, plugin, roles, snapshot, task
from corpus_graphs import default_graph
from recorded_expansion import CASES, recorded
from recorded_snapshots import snapshot as recorded_snapshot

from fuelclient.environment.as_master import (
    in_documents,
    in_graph,
    in_tasks,
    node_filter,
    strict,
)
from fuelclient.expressions.evaluation import Expressions
from fuelclient.expressions.yaql_engine import root_names
from fuelclient.files import load
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding, Place, Severity, errors_in
from fuelclient.model.node import Node
from fuelclient.model.task import ORCHESTRATOR_TYPES, Task, TaskType
from fuelclient.plan.study import Study
from fuelclient.serializers.graph import document_from

NODES = (Node(1, "a", roles=("db",)), Node(2, "b", roles=("db",)))
FACTS = DeploymentFacts({"x": 1, "on": False}, {"1": {"uid": "1"}, "2": {"uid": "2", "y": {"z": 1}}})


def seen(
    *tasks: Task, facts: DeploymentFacts | None = FACTS, metadata: Mapping[str, Any] | None = None
) -> list[Finding]:
    """The findings about an environment with two nodes of the role db."""
    stated = snapshot([layer(RELEASE, *tasks, metadata=metadata or {})], NODES, roles("db"))
    evaluation = Expressions(facts) if facts else None
    return list(in_graph(Study(strict(stated), facts=lambda: evaluation, conditions=True)))


def kinds(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.code, str(finding.severity), finding.task) for finding in findings]


def yaql(text: str) -> dict[str, str]:
    return {"yaql_exp": text}


def test_an_expression_that_fails_in_a_skipped_task_is_an_error() -> None:
    by_type = task("t", type="skipped", roles=["db"], parameters={"a": yaql("1 + $.uid")})
    by_condition = task("c", type="shell", roles=["db"], condition=yaql("$.on"), parameters={"a": yaql("len($.x)")})
    sound = task("s", type="shell", roles=["db"], condition=yaql("$.on"), parameters={"a": yaql("$.x + 1")})
    nowhere = task("n", type="shell", roles=["web"], parameters={"a": yaql("1 + $.uid")})

    findings = seen(by_type, by_condition, sound, nowhere)
    assert kinds(findings) == [("G059", "error", "t"), ("G059", "error", "c")]
    assert "t@1 and 1 more: parameters" in findings[0].message


def test_unknown_fact_is_a_warning_with_the_first_node() -> None:
    [finding] = seen(task("t", type="skipped", roles=["db"], parameters={"a": [yaql("$.y.z")]}))
    assert (finding.code, finding.severity) == ("G059", Severity.WARNING)
    assert "t@1: parameters" in finding.message
    assert "$.y.z" in finding.message


def test_expressions_of_stages_are_evaluated_too() -> None:
    assert kinds(seen(task("s_start", type="stage", condition=yaql("1 + 'a'")))) == [("G059", "error", "s_start")]


def test_a_condition_that_fails_anyway_is_not_said_twice() -> None:
    assert not seen(task("t", type="shell", roles=["db"], condition=yaql("1 + $.uid")))


def test_tasks_with_unevaluated_expressions_are_named() -> None:
    plain = task("p", type="shell", roles=["db"], parameters={"cmd": "true"})
    computed = task("t", type="shell", roles=["db"], condition=yaql("$.on"), parameters={"a": {"b": yaql("$.y")}})

    [finding] = seen(plain, computed, facts=None)
    assert (finding.code, finding.severity, finding.task) == ("G059", Severity.INFO, "t")
    assert "condition, parameters" in finding.message


@pytest.mark.parametrize("other", ["shell", "skipped", ""])
def test_two_plugins_with_one_task_of_any_type_are_an_error(other: str) -> None:
    one = layer(plugin("one", plugin_id=1), task("t", type="shell", roles=["db"]))
    two = layer(plugin("two", plugin_id=2), task("t", type=other, roles=["web"]))
    stated = snapshot([layer(RELEASE, task("t", type="shell", roles=["db"])), one, two], NODES, roles("db", "web"))

    assert "G049" not in {finding.code for finding in Study(stated).findings}
    assert "G049" in {finding.code for finding in Study(strict(stated)).findings}


def test_types_that_only_the_orchestrator_knows() -> None:
    found = {finding.task for finding in in_tasks(task(kind, type=kind) for kind in TaskType)}
    assert found == set(ORCHESTRATOR_TYPES) == {"upload_files", "cobbler_sync", "noop"}


def test_records_without_type_name_their_layer() -> None:
    below = layer(RELEASE, task("t", type="shell", roles=["db"]))
    above = layer(CLUSTER, task("t", parameters={"cmd": "true"}))
    stated = snapshot([below, above], NODES, roles("db"))

    [finding] = in_graph(Study(stated))
    assert (finding.code, finding.task, finding.place) == ("G054", "t", Place(layer="cluster"))


@pytest.mark.parametrize(("attribute", "expected"), [("requires", ["G057"]), ("cross_depends", [])])
def test_expressions_where_only_names_can_be_stored(attribute: str, expected: list[str]) -> None:
    stated = Task("t", {"type": "shell", "roles": ["db"], attribute: [yaql("[t2]")]})
    assert [finding.code for finding in in_tasks([stated])] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$.status = ready and $.meta.memory > 1 and $.roles.any($.online)", {}),
        ("not $.online", {"online": "error"}),
        ("$.get(rack) = 7", {"rack": "warning"}),
        ("$.get(ip) = 1 or $.ip = 2", {"ip": "error"}),
        ("$.(", {}),
    ],
)
def test_node_filters_on_fields_that_a_master_does_not_serve(text: str, expected: dict[str, str]) -> None:
    findings = list(node_filter({"node_filter": text}, Place()))
    assert {finding.code for finding in findings} <= {"G058"}
    assert {str(f.message).split()[4].rstrip(","): str(f.severity) for f in findings} == expected


def test_the_filter_that_counts_is_the_merged_one() -> None:
    sound, broken = {"node_filter": "$.status = ready"}, {"node_filter": "$.online"}
    layers = [layer(RELEASE, metadata=broken), layer(CLUSTER, metadata=sound)]
    assert not in_graph(Study(snapshot(layers)))
    layers = [layer(RELEASE, metadata=sound), layer(CLUSTER, metadata=broken)]
    [finding] = in_graph(Study(snapshot(layers)))
    assert (finding.code, finding.place) == ("G058", Place(layer="cluster"))


def test_a_null_in_a_document_is_an_error_at_its_line(tmp_path: Path) -> None:
    text = "node_filter: null\nname: ~\non_stop: {}\nid: ~\ntasks:\n- {id: t, type: shell}\n"
    (tmp_path / "g.yaml").write_text(text, encoding="utf-8")
    document = document_from(load(tmp_path / "g.yaml"), owner_label="cluster")

    found = {finding.place.line: finding.code for finding in in_documents([document])}
    assert found == {1: "G056", 2: "G056"}
    assert not document.findings


LONG = "x" * 256
REFUSED = [
    f"- {{id: {LONG}, type: skipped}}",
    f"- {{id: t, type: skipped, roles: [{LONG}]}}",
    f"- {{id: t, type: skipped, required_for: [{LONG}]}}",
    f"name: {LONG}\ntasks: []",
    f"node_filter: $.id > {'1' * 4100}\ntasks: []",
    "- {id: t, type: skipped, cross-depends: [{name: a, role: null}]}",
    "- {id: t, type: skipped, requires: a}",
    "- {id: t, type: skipped, required_for: a}",
    "- {id: t, type: skipped, condition: {yaql_exp: true}}",
    "- {id: t, type: shell, parameters: {cmd: {yaql_exp: 5}}}",
    "- {id: t, type: group, fault_tolerance: ''}",
    "- {id: t, type: group, fault_tolerance: ' '}",
    "- {id: t, type: group, fault_tolerance: [1]}",
    "- {id: t, type: skipped, condition: '  '}",
]
"""Documents with one value each that is accepted here."""
TAKEN = [
    f"- {{id: {LONG[1:]}, type: skipped, roles: [{LONG[1:]}]}}",
    f"name: {LONG[1:]}\nnode_filter: $.id > {'1' * 4000}\ntasks: []",
    "- {id: t, type: skipped, role: null, requires: [a], cross-depends: [{name: a, role: [b]}]}",
    "- {id: t, type: skipped, role: '*', tags: '*'}",
    "- {id: t, type: group, fault_tolerance: a%}",
    "- {id: t, type: skipped, fault_tolerance: '', condition: ''}",
]


@pytest.mark.parametrize("text", [*REFUSED, *TAKEN], ids=lambda text: f"{text[:40]}-{len(text)}")
def test_values_that_a_master_refuses(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(text, encoding="utf-8")
    document = document_from(load(tmp_path / "g.yaml"), owner_label="cluster")

    assert not errors_in(document.findings)
    found = [finding.code for finding in in_documents([document]) if finding.is_error]
    assert found == ["G026"] * (text in REFUSED)


def test_a_search_in_what_is_missing_ends_the_run_of_a_master() -> None:
    searching = task("t", type="shell", roles=["db"], condition="'a' in settings:common.no.value or cluster:id == 1")
    stated = snapshot([layer(RELEASE, searching)], NODES, roles("db"))
    evaluation = Expressions(DeploymentFacts({"cluster": {"id": 1}}, {}))
    study = Study(stated, facts=lambda: evaluation, conditions=True)

    assert not errors_in(study.findings)
    [finding] = in_graph(study)
    assert (finding.code, finding.is_error) == ("G059", True)
    assert "'a' in settings:common.no.value" in finding.message


def test_names_that_an_expression_reads_of_the_node_itself() -> None:
    text = "$.a.b in [$.c] and not ($?.d = 1) and $.e.where($.f = 1) and $['g'] and $.get('h', 1)"
    assert root_names(text) == {"a": False, "c": False, "d": False, "e": False, "h": True}


@pytest.mark.corpus
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_said_about_what_a_real_master_planned(name: str) -> None:
    case = recorded(name)
    evaluation = Expressions(DeploymentFacts(case["facts"]["common"], case["facts"]["nodes"]))
    study = Study(strict(recorded_snapshot(case)), facts=lambda: evaluation, conditions=True)

    assert not in_graph(study)


@pytest.mark.corpus
@pytest.mark.parametrize("library", ["9.0", "newton"])
def test_a_master_stores_the_graphs_of_fuel(library: str) -> None:
    assert not list(in_tasks(default_graph(library).tasks))

"""Plans: what would run, what would not and why, and what is refused before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from building import CLUSTER, RELEASE, layer, plugin, roles, snapshot, task

from fuelclient.errors import CycleDetected, InvalidGraph, NotFound, Unavailable
from fuelclient.expressions import child_process
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.finding import Finding
from fuelclient.model.graph import Layer
from fuelclient.model.node import Node
from fuelclient.model.run import RunRequest
from fuelclient.model.task import Source, Task
from fuelclient.plan.plan import Plan, plan, require_decided
from fuelclient.plan.study import Study
from fuelclient.plan.work import InstanceKind

FACTS = DeploymentFacts(
    {"public_ssl": {"hostname": "localhost"}, "cluster": {"id": 1}},
    {"1": {"uid": "1"}, "2": {"uid": "2"}, "3": {"uid": "3"}, "master": {}, "null": {}},
)


def sh(name: str, **attributes: Any) -> Task:
    return task(name, **{"type": "shell", "roles": ["web"], "parameters": {"cmd": "true"}, **attributes})


def node(number: int, *taken: str, **rest: Any) -> Node:
    return Node(number, f"node-{number}", 1, pending_roles=taken or ("web",), **{"executor": "local", **rest})


def planned(
    *tasks: Task,
    nodes: Iterable[Node] = (),
    layers: Sequence[Layer] = (),
    facts: DeploymentFacts = FACTS,
    **request: Any,
) -> Plan:
    members = list(nodes) or [node(1), node(2)]
    stated = layers or [layer(RELEASE, *tasks)]
    names = {role for member in members for role in member.all_roles}
    taken = snapshot(stated, members, roles(*sorted(names)))
    return plan(taken, RunRequest(1, **request), Expressions(facts))


def told(made: Plan) -> dict[str, str]:
    """By instance: that it runs, or why not."""
    work = made.work
    return {
        work.name(vertex): "runs" if work.kinds[vertex] is InstanceKind.REAL else str(work.passed_because(vertex))
        for vertex in range(work.size)
    }


def refused(*tasks: Task, **rest: Any) -> dict[str, str]:
    """By code: the message of the findings that keep a graph from running."""
    with pytest.raises(InvalidGraph) as caught:
        planned(*tasks, **rest)
    return {
        finding.code: finding.message
        for finding in caught.value.findings
        if isinstance(finding, Finding) and finding.is_error
    }


def test_conditions_skip_instances_and_say_why() -> None:
    """N15, and a condition that differs between nodes."""
    made = planned(sh("a", condition="0"), sh("b", condition={"yaql_exp": "$.uid = '2'"}), sh("c", condition=False))

    assert told(made) == {
        "a@1": "condition", "a@2": "condition", "b@1": "condition", "b@2": "runs", "c@1": "condition",
        "c@2": "condition",
    }  # fmt: skip
    assert made.details[2] == "YAQL \"$.uid = '2'\" is false"
    assert set(made.rendered) == {3}


def test_an_unknown_task_is_an_error_with_the_nearest() -> None:
    """Vector N31."""
    with pytest.raises(NotFound) as caught:
        planned(sh("keystone"), task_names=("keystne",))
    assert (caught.value.key, caught.value.known) == ("keystne", ("keystone",))


def test_a_subgraph_skips_what_is_outside_without_evaluating_it() -> None:
    broken = {"yaql_exp": "$.no_such_key"}
    made = planned(sh("a", condition=broken), sh("b", requires=["a"]), sh("c", requires=["b"]), subgraphs=("b:b",))

    assert told(made) == {
        "a@1": "subgraph", "a@2": "subgraph", "b@1": "runs", "b@2": "runs", "c@1": "subgraph", "c@2": "subgraph",
    }  # fmt: skip


def test_trace_and_noop_change_what_a_run_needs() -> None:
    assert planned(sh("a"), trace=True).rendered[0]["parameters"]["debug"] is True
    assert planned(sh("a"), noop=True).work.fail_on_error == [False, False]
    assert planned(sh("a", fail_on_error=False)).work.fail_on_error == [False, False]


def test_strategies_are_rendered_values() -> None:
    parameters = {"cmd": "true", "strategy": {"type": "parallel", "amount": {"yaql_exp": "switch(true => 3)"}}}

    assert planned(sh("a", parameters=parameters)).work.limits == (3,)
    assert "G006" in refused(sh("a", parameters={"cmd": "true", "strategy": {"type": "parallel", "amount": -4}}))


def test_what_expressions_cannot_give_is_told_for_every_task() -> None:
    broken = {"yaql_exp": "len(7)"}

    assert refused(sh("a", parameters={"cmd": broken}))["G034"].startswith("a@1 and 1 more: parameters: ")
    assert refused(sh("a", condition=broken))["G034"].startswith("a@1 and 1 more: condition: ")
    assert refused(sh("a", requires=broken))["G034"].startswith("a@1 and 1 more: requires: ")


def test_dependencies_that_fail_are_told_by_the_attribute_that_has_them() -> None:
    """A plan and a study name the same attribute and line, and not the first attribute that is computed."""
    lines = Source("tasks.yaml", 1, {"requires": 2, "cross_depends": 5})
    stated = sh("a", source=lines, requires={"yaql_exp": "[a]"}, cross_depends={"yaql_exp": "len(7)"})
    with pytest.raises(InvalidGraph) as caught:
        planned(stated)
    taken = snapshot([layer(RELEASE, stated)], [node(1)], roles("web"))

    (of_study,) = Study(taken, facts=lambda: Expressions(FACTS)).errors
    (of_plan,) = caught.value.findings

    assert isinstance(of_plan, Finding)
    assert of_plan.message.startswith("a@1 and 1 more: cross_depends: The YAQL")
    assert of_study.message.startswith("task a: a dependency in cross_depends cannot be computed: The YAQL")
    assert str(of_plan.place) == str(of_study.place) == "tasks.yaml:5"


MISSING = {"yaql_exp": "$.some.fake_param"}


def test_a_plan_that_has_to_wait_is_not_a_fault_of_its_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients are told to try again; an error of the condition would be final."""

    def busy(*_: Any) -> None:
        raise Unavailable("2 expressions that take long are being evaluated already.")

    monkeypatch.setattr(child_process, "answer", busy)
    for stated in (sh("a", condition=LONG), sh("a", requires=[LONG]), sh("a", parameters={"cmd": LONG})):
        with pytest.raises(Unavailable):
            planned(stated)


LONG = {"yaql_exp": "[1].sum()"}


def undecided(made: Plan) -> dict[str, str]:
    """By code: the message of the findings that keep a plan from being run."""
    with pytest.raises(InvalidGraph) as caught:
        require_decided(made)
    return {finding.code: finding.message for finding in caught.value.findings if isinstance(finding, Finding)}


@pytest.mark.parametrize(
    ("task", "what"),
    [
        (sh("a", condition=MISSING), "condition"),
        (sh("a", parameters={"cmd": MISSING}), "parameters"),
        (sh("a", requires=MISSING), "requires"),
    ],
    ids=["condition", "parameters", "requires"],
)
def test_a_fact_that_is_not_known_is_a_value(task: Task, what: str) -> None:
    """N17, but not a failure: there is a plan, which names the fact and cannot be run."""
    made = planned(task, sh("b"))

    assert set(made.unknown.values()) == {"$.some.fake_param"}
    assert [made.work.name(vertex) for vertex in made.unknown] == ["a@1", "a@2"]
    assert undecided(made)["G036"] == f"a@1 and 1 more: {what}: unknown: $.some.fake_param"


def test_a_request_decides_about_unknown_conditions() -> None:
    unsure = sh("a", condition=MISSING)
    run, skip = (planned(unsure, sh("b", requires=["a"]), unknown=word) for word in ("run", "skip"))
    for made in (run, skip):
        require_decided(made)
        assert made.unknown == {}
    assert told(run)["a@1"] == "runs"
    assert told(skip) == {"a@1": "unknown", "a@2": "unknown", "b@1": "runs", "b@2": "runs"}
    assert set(skip.details.values()) == {"its condition reads $.some.fake_param, which is not known"}


def test_unknown_parameters_can_only_be_skipped() -> None:
    unsure = sh("a", parameters={"cmd": MISSING})
    assert "G036" in undecided(planned(unsure, unknown="run"))
    skipped = planned(unsure, unknown="skip")
    require_decided(skipped)
    assert told(skipped) == {"a@1": "unknown", "a@2": "unknown"}


def test_unknown_dependencies_stay_undecided() -> None:
    for word in ("run", "skip"):
        assert "G036" in undecided(planned(sh("a", requires=MISSING), unknown=word))


def test_what_is_skipped_anyway_is_not_unknown() -> None:
    unsure = sh("a", requires=MISSING), sh("b", condition=False), sh("c", condition=MISSING), sh("d")
    assert len(planned(*unsure).unknown) == 4, "those of two tasks on two nodes"
    named = planned(*unsure[1:], task_names=("d",))
    require_decided(named)
    assert (named.unknown, told(named)["c@1"]) == ({}, "filtered")
    assert planned(unsure[0], unsure[3], task_names=("d",)).unknown == {}
    never = planned(sh("a", condition=False, parameters={"cmd": MISSING}))
    require_decided(never)
    assert (never.unknown, told(never)["a@1"]) == ({}, "condition")


def test_a_path_is_named_as_far_as_the_facts_go() -> None:
    facts = DeploymentFacts({"deep": {"er": {}}})
    texts = ("$.deep.er.most", "$.deep.get(er).x", "$.deep.values().select($.y)")
    for text, path in zip(texts, ("$.deep.er.most", "....x", "$.y"), strict=True):
        made = planned(sh("a", condition={"yaql_exp": text}), facts=facts)
        assert set(made.unknown.values()) == {path}


def test_a_node_without_a_way_to_it_is_refused() -> None:
    """Importing a release must not deploy it onto this machine."""
    lost = node(2, executor="")

    messages = refused(sh("a"), nodes=[node(1), lost])
    assert set(messages) == {"G047"}
    assert "task a cannot run on node 2" in messages["G047"]
    dry = planned(sh("a"), nodes=[node(1), lost], dry_run=True)
    assert [(finding.code, finding.severity) for finding in dry.findings] == [("G047", "warning")]
    assert told(planned(sh("a"), nodes=[node(1), lost], executor="local"))["a@2"] == "runs"
    assert told(planned(sh("a"), nodes=[node(1), replace(lost, ip="10.20.0.4")]))["a@2"] == "runs"
    assert told(planned(sh("a", type="master_shell"), nodes=[lost]))["a@2"] == "runs"
    assert told(planned(sh("a", condition=False), nodes=[lost]))["a@2"] == "condition"


def test_types_without_a_handler_are_refused() -> None:
    assert refused(sh("a", type="erase_node"))["G046"].startswith("Task a/1 ")
    assert told(planned(sh("a", type="erase_node", condition=False)))["a@1"] == "condition"


def test_variants_that_meet_on_a_node_are_refused() -> None:
    """Two variants of one task cannot run on one node."""
    layers = [layer(plugin("one", plugin_id=1), sh("a")), layer(plugin("two", plugin_id=2), sh("a"))]

    assert "G044" in refused(layers=layers)


def test_a_group_that_lists_an_unknown_task_is_refused() -> None:
    assert "G043" in refused(task("g", type="group", roles=["web"], tasks=["keystne"]), sh("keystone"))


def test_a_cycle_is_refused() -> None:
    with pytest.raises(CycleDetected) as caught:
        planned(sh("a", requires=["b"]), sh("b", requires=["a"]), nodes=[node(1)])

    assert caught.value.cycle == ("a@1", "b@1")


def test_a_node_filter_chooses_by_what_a_node_says() -> None:
    """N33."""
    graph = Layer(CLUSTER, (sh("a"),), {"node_filter": "$.pending_deletion or $.name = 'node-3'"})
    members = [node(1), node(2, pending_deletion=True), node(3)]

    assert planned(layers=[graph], nodes=members).node_ids == (2, 3)


def test_what_runs_nowhere_is_known() -> None:
    made = planned(sh("a"), sh("b", roles=["gone"]), task("g", type="group", roles=["gone"]))

    assert [one.id for one in made.nowhere] == ["b"]
    assert "G066" not in {one.code for one in made.findings}
    assert "G066" in {one.code for one in planned(task("s", type="stage"), sh("b", roles=["gone"])).findings}


def test_it_is_said_that_a_primary_has_another_role() -> None:
    """Its author meant both; a task for the primary, too, shows that they did not."""
    second, first = sh("a", roles=["controller"]), sh("b", roles=["primary-controller"])

    def findings(*tasks: Task, **request: Any) -> list[Finding]:
        members = [node(1, "controller"), node(2, "controller")]
        taken = snapshot([layer(RELEASE, *tasks)], members, roles("controller"), primary=["controller"])
        made = plan(taken, RunRequest(1, **request), Expressions(FACTS))
        return [one for one in made.findings if one.code == "G066"]

    (finding,) = findings(second)
    assert finding.message.endswith(
        "has nothing to do on node 1: the controller there is primary-controller, and its tasks name controller only"
    )
    assert finding.hint.startswith("Add primary-controller to the roles of its tasks")
    assert findings(second, node_ids=(1,)) == [finding]
    assert findings(second, first) == []


def test_the_digest_tells_plans_apart() -> None:
    base = planned(sh("a"), sh("b"))

    assert planned(sh("a"), sh("b")).digest == base.digest
    others = [
        planned(sh("a"), sh("b", requires=["a"])),
        planned(sh("a"), sh("b", parameters={"cmd": "false"})),
        planned(sh("a"), sh("b"), nodes=[node(1)]),
        planned(sh("a"), sh("b", condition=False)),
        planned(sh("a"), sh("b"), task("g", type="group", roles=["web"], fault_tolerance=1)),
        planned(sh("a"), sh("b"), noop=True),
    ]
    assert len({base.digest, *(plan.digest for plan in others)}) == len(others) + 1


def test_the_digest_is_the_same_in_every_version() -> None:
    """A run that began with an earlier version is resumed only if its plan still has the digest that it had then."""
    made = planned(
        task("begin", type="stage"),
        sh("a", requires=["begin"]),
        sh("b", condition="0", requires=["a"]),
        task("c", type="skipped", roles=["web"]),
        sh("d", parameters={"cmd": "true", "strategy": {"type": "one_by_one"}}),
        sh("e"),
        task_names=("a", "b", "c", "d"),
    )

    assert made.digest == "de0660e47eee35a58386515152aa9a7816c291064b05bff2b71e619658b3b460"

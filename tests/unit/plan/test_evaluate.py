"""Which instances are skipped, in which order they are asked, and how failing conditions are told."""

from __future__ import annotations

import pytest
from building import edges, fleet, merged, task
from orders import ordered

from fuelclient.errors import CycleDetected, InvalidDocument, InvalidGraph
from fuelclient.model.finding import Finding
from fuelclient.model.status import Reason
from fuelclient.model.task import Relation, Source
from fuelclient.plan.evaluate import evaluate
from fuelclient.plan.expand import Expansion, expand

NODES = {1: ["db"], 2: ["db", "web"]}


def expansion() -> Expansion:
    tasks = merged(
        task("begin", type="stage", condition={"yaql_exp": "false"}),
        task("mark", type="skipped", roles=["db"]),
        task("a", type="shell", roles=["db"], source=Source("tasks.yaml", 7, {"condition": 9})),
        task("b", type="puppet", roles=["web"]),
        task("group", type="group", roles=["db"], tasks=["b"]),
    )
    return expand(tasks, fleet(NODES))


def skipped(expansion: Expansion, skips: list[Reason | None]) -> dict[str, str | None]:
    return {expansion.name(vertex): why for vertex, why in enumerate(skips)}


def test_reasons_and_their_precedence() -> None:
    expanded = expansion()
    asked: list[tuple[int, int]] = []

    def holds(task_index: int, node: int) -> bool:
        asked.append((node, task_index))
        return expanded.fleet.nodes[node].uid != 1

    skips = skipped(expanded, evaluate(expanded, holds))

    assert skips == {
        "begin": "type",
        "mark@1": "type",
        "mark@2": "type",
        "a@1": "condition",
        "a@2": None,
        "b@1": "condition",
        "b@2": None,
    }
    assert asked == sorted(asked)
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("only", "filtered"), [(["a"], {"b@1", "b@2"}), ([], {"a@1", "a@2", "b@1", "b@2"}), (None, set())]
)
def test_a_filter_leaves_stages_alone_and_asks_no_condition(only: list[str] | None, filtered: set[str]) -> None:
    expanded = expansion()
    asked: set[str] = set()

    def holds(task_index: int, node: int) -> bool:
        asked.add(f"{expanded.tasks[task_index].id}@{expanded.fleet.nodes[node].uid}")
        return True

    skips = skipped(expanded, evaluate(expanded, holds, only))

    assert {name for name, why in skips.items() if why == Reason.FILTERED} == filtered
    assert not asked & filtered
    assert skips["begin"] == Reason.TYPE


def test_every_task_whose_condition_fails_is_told_once() -> None:
    expanded = expansion()

    def holds(task_index: int, _node: int) -> bool:
        raise InvalidDocument(f"no key for {task_index}.", hint="Use .get.")

    with pytest.raises(InvalidGraph) as caught:
        evaluate(expanded, holds)
    told = [finding for finding in caught.value.findings if isinstance(finding, Finding)]
    assert [(finding.code, finding.message, finding.hint) for finding in told] == [
        ("G034", "a@1 and 1 more: condition: no key for 2.", "Use .get."),
        ("G034", "b@1 and 1 more: condition: no key for 3.", "Use .get."),
    ]
    assert str(told[0].place).startswith("tasks.yaml:9")


def test_other_errors_are_not_swallowed() -> None:
    def holds(_task: int, _node: int) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evaluate(expansion(), holds)


def test_computed_dependencies_differ_by_node_and_tell_why() -> None:
    tasks = merged(
        task("a", type="shell", roles=["db"]),
        task("b", type="shell", roles=["db"], cross_depends={"yaql_exp": "..."}, requires=[{"yaql_exp": "..."}]),
    )
    asked: list[tuple[int, int]] = []

    def computed(task_index: int, node: int) -> list[tuple[str, Relation]]:
        asked.append((task_index, node))
        return [("cross_depends", Relation("a", "*" if node == 3 else "self"))]

    assert edges(expand(tasks, fleet(NODES))) == set()
    expanded = expand(tasks, fleet(NODES), computed=computed)
    assert asked == [(1, 2), (1, 3)]
    assert edges(expanded) == {"a@1 -> b@1", "a@1 -> b@2", "a@2 -> b@2"}


def test_cycle_of_computed_dependencies_names_the_attribute() -> None:
    tasks = merged(
        task("a", type="shell", roles=["db"], requires={"yaql_exp": "..."}),
        task("b", type="shell", roles=["db"], requires=["a"]),
    )
    with pytest.raises(CycleDetected) as caught:
        ordered(expand(tasks, fleet({1: ["db"]}), computed=lambda *_: [("requires", Relation("b"))]))
    assert caught.value.cycle == ("a@1", "b@1")
    assert any("a says requires: b" in str(finding) for finding in caught.value.findings)

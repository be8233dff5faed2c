"""Which nodes and which instances a run is limited to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from building import RELEASE as OWNER
from building import barriers, fleet, layer, merged, roles, snapshot, task
from refusals import refused

from fuelclient.errors import FuelError, InvalidGraph, NotFound, UsageError
from fuelclient.expressions.evaluation import Expressions
from fuelclient.model.fact import DeploymentFacts
from fuelclient.model.node import Node
from fuelclient.plan.expand import Expansion, expand
from fuelclient.plan.select import Boundary, Subgraph, fleet_for, instances_inside, subgraph_from, with_primaries

KNOWN = {"a", "b", "c", "d", "e", "primary-database", "keystone-db", "x.y", "lma:post_deployment/100#0"}


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("a/1,3:b/1-2,5", ("a", 1, 3), ("b", 1, 2, 5)),
        ("a", ("a",), None),
        (":b", None, ("b",)),
        ("a:", ("a",), None),
        ("a/1-3:", ("a", 1, 2, 3), None),
        ("x.y", ("x.y",), None),
        ("a/master", ("a", "master"), None),
        ("a/3,1,3-4", ("a", 3, 1, 4), None),
        ("primary-database/1,3:keystone-db/5", ("primary-database", 1, 3), ("keystone-db", 5)),
        ("lma:post_deployment/100#0", ("lma:post_deployment/100#0",), None),
        ("lma:post_deployment/100#0/7", ("lma:post_deployment/100#0", 7), None),
        ("a:lma:post_deployment/100#0", ("a",), ("lma:post_deployment/100#0",)),
    ],
)
def test_subgraphs_are_read(text: str, start: tuple[Any, ...] | None, end: tuple[Any, ...] | None) -> None:
    """C2, and what upstream's expression cannot read: open ends, dots, the master."""
    expected = Subgraph(*(Boundary(one[0], one[1:]) if one else None for one in (start, end)))

    assert subgraph_from(text, KNOWN) == expected


@pytest.mark.parametrize(
    ("text", "error", "named"),
    [
        ("keystone-bd", NotFound, "keystone-db"),
        ("a:keystone-bd", NotFound, "keystone-db"),
        ("a/b", UsageError, "'a/b'"),
        ("a/1-", UsageError, "'a/1-'"),
        ("a/3-1", UsageError, "3-1"),
        ("a/1-999999999", UsageError, "1-999999999"),
        ("a/" + "1" * 5000, UsageError, "TASK/NODES"),
        ("a/1-60000,60001-120000", UsageError, "60001-120000"),
        ("a:" * 101, UsageError, "100 colons"),
        ("", UsageError, "subgraph ''"),
        (":", UsageError, "subgraph ':'"),
        ("/1", UsageError, "'/1'"),
        ("a:b:c", NotFound, "task a:b:c"),
    ],
)
def test_what_is_no_subgraph_is_an_error(text: str, error: type[FuelError], named: str) -> None:
    with refused(error, named):
        subgraph_from(text, KNOWN)


def chain(nodes: Mapping[int, Sequence[str]]) -> Expansion:
    """a -> b -> c -> d -> e on each node."""
    before: list[list[str]] = [[], ["a"], ["b"], ["c"], ["d"]]
    tasks = [task(name, type="shell", roles=["web"], requires=one) for name, one in zip("abcde", before, strict=True)]
    return expand(merged(*tasks), fleet(nodes))


def kept(expansion: Expansion, *texts: str) -> str:
    result = instances_inside(expansion, [subgraph_from(text, KNOWN) for text in texts])
    return " ".join(expansion.name(vertex) for vertex in sorted(result))


def test_a_subgraph_is_what_lies_between_its_boundaries() -> None:
    """A10, A11."""
    chained = chain({1: ["web"]})

    assert kept(chained, "b:d") == "b@1 c@1 d@1"
    assert kept(chained, "d", ":a") == "a@1 d@1 e@1"
    assert kept(chained, "c") == "c@1 d@1 e@1"
    assert kept(chained, ":c") == "a@1 b@1 c@1"
    assert kept(chained, "d:b") == ""


def test_nodes_limit_a_boundary() -> None:
    assert kept(chain({1: ["web"], 2: ["web"], 3: ["web"]}), "d/2-3") == "d@2 d@3 e@2 e@3"


def test_a_boundary_that_does_not_run_there_is_an_error() -> None:
    with pytest.raises(NotFound) as caught:
        kept(chain({1: ["web"], 2: ["web"]}), "d/2,7")
    assert caught.value.key == "d/7"
    assert "1, 2" in caught.value.hint


def test_what_waits_across_nodes_is_reached_through_barriers() -> None:
    tasks = (
        task("a", type="shell", roles=["web"]),
        task("b", type="shell", roles=["web"], cross_depends=[{"name": "a"}]),
        task("c", type="shell", roles=["web"]),
    )
    expansion = expand(merged(*tasks), fleet({uid: ["web"] for uid in range(1, 6)}))
    assert barriers(expansion.edges)

    assert kept(expansion, "a/1") == "a@1 b@1 b@2 b@3 b@4 b@5"
    assert kept(expansion, ":b/1") == "a@1 a@2 a@3 a@4 a@5 b@1"


def nodes(*changes: Mapping[str, Any]) -> list[Node]:
    return [
        replace(Node(number, f"node-{number}", 1, pending_roles=("web",)), **change)
        for number, change in enumerate(changes, start=1)
    ]


def chosen(members: Sequence[Node], *node_ids: int, node_filter: Any = None, answer: Sequence[Any] = ()) -> list[int]:
    taken = snapshot([layer(OWNER)], members, roles("web"))
    selected = fleet_for(taken, node_ids, node_filter, lambda *_: answer)
    return [node.uid for node in selected.nodes if isinstance(node.uid, int)]


def test_nodes_that_can_be_deployed_take_part() -> None:
    members = nodes(
        {"status": "ready"}, {"status": "provisioned", "pending_addition": True}, {"status": "stopped"},
        {"status": "error", "error_type": "deploy"}, {"status": "error", "error_type": "provision"},
        {"status": "discover", "pending_addition": True}, {"pending_deletion": True}, {"online": False},
    )  # fmt: skip

    assert chosen(members) == [1, 2, 3, 4]


def test_a_filter_takes_the_place_of_the_default() -> None:
    """N33."""
    members = nodes({}, {"pending_deletion": True})

    assert chosen(members, node_filter="$.pending_deletion", answer=[2]) == [2]


def test_an_empty_answer_runs_on_no_nodes() -> None:
    assert chosen(nodes({}, {}), node_filter="false", answer=[]) == []
    assert chosen(nodes({"status": "discover"})) == []


def test_named_nodes_take_part_whatever_the_filter_says() -> None:
    """N32."""
    assert chosen(nodes({"status": "discover"}, {}), 1, node_filter="false") == [1]


def test_offline_nodes_are_left_out_and_reported() -> None:
    """N29."""
    taken = snapshot([layer(OWNER)], nodes({}, {"online": False}, {}), roles("web"))

    assert fleet_for(taken, (), None, lambda *_: ()).absent == (2,)
    assert fleet_for(taken, (2, 3), None, lambda *_: ()).absent == (2,)


@pytest.mark.parametrize("answer", [["1"], [7], [True], [None]])
def test_a_filter_has_to_give_ids_of_nodes(answer: list[Any]) -> None:
    with refused(InvalidGraph, repr(answer[0])):
        chosen(nodes({}), node_filter="$.name", answer=answer)


def test_a_single_node_becomes_primary_and_remains_it() -> None:
    """N34."""
    members = nodes({"status": "stopped", "pending_roles": ("controller",)}, {"pending_roles": ("controller",)})
    taken = snapshot([layer(OWNER)], members, roles("controller"), ["controller"])
    selected = fleet_for(taken, (2,), None, lambda *_: ())

    assert [place.tags for place in selected.nodes if place.uid == 2] == [("primary-controller",)]
    (primary,) = with_primaries(members, selected)
    assert (primary.id, primary.primary_tags) == (2, ("controller",))
    later = replace(taken, nodes=(members[0], primary))
    tags = {place.uid: place.tags for place in fleet_for(later, (), None, lambda *_: ()).nodes}
    assert (tags[1], tags[2]) == (("controller",), ("primary-controller",))


@pytest.mark.parametrize("text", ["$.hostname = a", "$.meta.get(memory) = 4", "$.attributes.get(hugepages) = 2"])
def test_a_filter_reads_the_fields_of_a_master(text: str) -> None:
    known = Node(1, "a", attributes={"meta": {"memory": 4}, "hugepages": 2})
    taken = snapshot([layer(OWNER)], [known, Node(2, "b")], roles("db"))

    selected = fleet_for(taken, (), text, Expressions(DeploymentFacts()).chosen)
    assert [place.uid for place in selected.nodes[2:]] == [1]


def test_a_filter_on_a_field_that_nodes_lack_names_the_fields() -> None:
    taken = snapshot([layer(OWNER)], [Node(1, "a")], roles("db"))

    with refused(InvalidGraph, "$.rack") as caught:
        fleet_for(taken, (), "$.rack = 7", Expressions(DeploymentFacts()).chosen)
    assert "hostname" in caught.value.hint

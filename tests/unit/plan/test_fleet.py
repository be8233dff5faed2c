"""Fleets: who takes part, which tags they carry, and who is primary."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import roles, snapshot

from fuelclient.errors import NotFound
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.fleet import Fleet, fleet_of

KNOWN = roles("compute", controller=["controller", "database"])
PRIMARY = ("controller", "database")


def _node(number: int, *taken: str, primary: tuple[str, ...] = (), status: str = "provisioned", online: bool = True,
          deleted: bool = False) -> Node:  # fmt: skip
    return Node(
        number,
        f"node-{number}",
        roles=taken,
        primary_tags=primary,
        status=status,
        online=online,
        pending_deletion=deleted,
    )


def _prod(*nodes: Node) -> Snapshot:
    return snapshot([], nodes, KNOWN, PRIMARY)


def _primaries(fleet: Fleet) -> dict[str, object]:
    return {tag: node.uid for node in fleet.nodes for tag in node.tags if tag.startswith("primary-")}


def test_sync_points_and_master_come_first_then_nodes_by_id() -> None:
    fleet = fleet_of(_prod(_node(10, "compute"), _node(9, "compute")))

    assert [(node.uid, node.tags) for node in fleet.nodes] == [
        (None, ()), ("master", ()), (9, ("compute",)), (10, ("compute",)),
    ]  # fmt: skip
    assert fleet.size == 2
    assert fleet.assumption == ""


def test_a_primary_carries_the_primary_tag_instead_of_the_tag() -> None:
    fleet = fleet_of(_prod(_node(1, "controller", "compute"), _node(2, "controller")))

    assert fleet.nodes[2].tags == ("primary-controller", "primary-database", "compute")
    assert fleet.nodes[3].tags == ("controller", "database")


def test_roles_to_come_count_like_roles() -> None:
    fleet = fleet_of(_prod(Node(1, "n", roles=("compute",), pending_roles=("controller", "compute"))))

    assert fleet.nodes[2].tags == ("compute", "primary-controller", "primary-database")


def test_a_role_that_nobody_describes_is_its_own_tag() -> None:
    assert fleet_of(_prod(_node(1, "stranger"))).nodes[2].tags == ("stranger",)


def test_who_is_primary_stays_primary() -> None:
    fleet = fleet_of(_prod(_node(1, "controller", status="ready"), _node(2, "controller", primary=("database",))))

    assert _primaries(fleet) == {"primary-controller": 1, "primary-database": 2}


def test_the_first_ready_node_becomes_primary() -> None:
    fleet = fleet_of(
        _prod(_node(1, "controller"), _node(2, "controller", status="ready"), _node(3, "controller", status="ready"))
    )

    assert set(_primaries(fleet).values()) == {2}


def test_a_node_that_goes_is_not_primary() -> None:
    fleet = fleet_of(_prod(_node(1, "controller", primary=PRIMARY, deleted=True), _node(2, "controller")))

    assert set(_primaries(fleet).values()) == {2}


def test_a_node_without_the_role_any_more_is_not_primary() -> None:
    fleet = fleet_of(_prod(_node(1, "compute", primary=PRIMARY), _node(2, "controller")))

    assert set(_primaries(fleet).values()) == {2}


def test_a_primary_that_does_not_take_part_is_not_replaced() -> None:
    """A run on node 2 alone must not make a second primary beside node 1."""
    prod = _prod(_node(1, "controller", primary=PRIMARY), _node(2, "controller"))

    assert _primaries(fleet_of(prod, node_ids=[2])) == {}
    assert fleet_of(prod, node_ids=[2]).nodes[2].tags == ("controller", "database")


def test_a_primary_that_is_offline_is_not_replaced() -> None:
    fleet = fleet_of(_prod(_node(1, "controller", primary=PRIMARY, online=False), _node(2, "controller")))

    assert _primaries(fleet) == {}


def test_the_first_of_those_that_take_part_becomes_primary() -> None:
    prod = _prod(_node(1, "controller"), _node(2, "controller", online=False), _node(3, "controller"))

    assert set(_primaries(fleet_of(prod, node_ids=[2, 3])).values()) == {3}


def test_offline_nodes_are_left_out_and_named() -> None:
    fleet = fleet_of(_prod(_node(3, "compute", online=False), _node(2, "compute", online=False), _node(4, "compute")))

    assert fleet.absent == (2, 3)
    assert [node.uid for node in fleet.nodes[2:]] == [4]


def test_an_unknown_node_is_not_found_and_the_known_are_named() -> None:
    prod = _prod(*(_node(number, "compute") for number in (30, 4, 200)))
    with pytest.raises(NotFound) as caught:
        fleet_of(prod, node_ids=[4, 77])

    assert caught.value.key == 77
    assert caught.value.known == ("4", "30", "200")


def test_assumed_nodes_replace_the_environments() -> None:
    fleet = fleet_of(_prod(_node(30, "compute")), assume="controller=2")

    assert [node.uid for node in fleet.nodes[2:]] == [1, 2]
    assert "2 assumed nodes (controller=2)" in fleet.assumption
    assert set(_primaries(fleet).values()) == {1}


def test_an_assumed_primary_is_primary() -> None:
    assert set(_primaries(fleet_of(_prod(), assume="controller=2,primary-controller=1")).values()) == {3}


def test_assumed_nodes_are_two_of_each_role_with_primary() -> None:
    fleet = fleet_of(_prod())

    assert [node.tags for node in fleet.nodes[2:]] == [
        ("compute",), ("primary-controller", "primary-database"), ("controller", "database"),
    ]  # fmt: skip
    assert "Assumed: 3 nodes, " in fleet.assumption
    assert "--assume compute=3" in fleet.assumption


def test_without_nodes_and_roles_only_the_master_is_left() -> None:
    fleet = fleet_of(snapshot([]))

    assert fleet.size == 0
    assert "no nodes" in fleet.assumption
    assert "no roles" in fleet.assumption


def test_node_ids_of_an_environment_without_nodes_name_nobody() -> None:
    with pytest.raises(NotFound) as caught:
        fleet_of(snapshot([], known=roles("db")), node_ids=[1])

    assert caught.value.key == 1
    assert "env add nodes" in caught.value.hint


@pytest.mark.parametrize(
    ("node_filter", "covered"),
    [
        ("", [1]),
        ("$.pending_deletion = false", [1]),
        ("not $.pending_deletion and $.status = ready", [1]),
        ("$.pending_deletion", [1, 2]),
    ],
)
def test_nodes_to_be_deleted_are_left_out_unless_filtered_for(node_filter: str, covered: list[int]) -> None:
    nodes = (_node(1, "compute"), _node(2, "compute", deleted=True))
    metadata = {"node_filter": node_filter} if node_filter else {}
    layer = Layer(Owner(Level.RELEASE, 1, "release"), (), metadata)
    fleet = fleet_of(replace(_prod(*nodes), layers=(layer,)))
    assert [node.uid for node in fleet.nodes[2:]] == covered
    assert [node.uid for node in fleet_of(_prod(*nodes), node_ids=[2]).nodes[2:]] == [2]

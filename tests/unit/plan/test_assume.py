"""Assumed nodes: what `--assume` understands, and what it says to the rest."""

from __future__ import annotations

import pytest
from building import roles, snapshot
from refusals import refused

from fuelclient.errors import NotFound, UsageError
from fuelclient.model.snapshot import Snapshot
from fuelclient.plan.fleet import assumed_nodes

HINT = "Write it like --assume controller=3,compute+cinder=2."


@pytest.fixture
def prod() -> Snapshot:
    known = roles("compute", "cinder", "primary-thing", controller=["controller", "database"], mongo=["mongo"])
    return snapshot([], known=known, primary=["controller", "database", "mongo"])


def test_nodes_are_numbered_in_the_order_of_the_text(prod: Snapshot) -> None:
    nodes = assumed_nodes("controller=2,compute+cinder=1", prod)

    assert [(node.id, node.name, node.pending_roles) for node in nodes] == [
        (1, "node-1", ("controller",)),
        (2, "node-2", ("controller",)),
        (3, "node-3", ("compute", "cinder")),
    ]
    assert all(node.online and not node.primary_tags for node in nodes)


def test_spaces_and_repeated_roles_do_no_harm(prod: Snapshot) -> None:
    (node,) = assumed_nodes(" compute + cinder+compute = 1 ", prod)

    assert node.pending_roles == ("compute", "cinder")


def test_none_of_a_role_is_none(prod: Snapshot) -> None:
    assert [node.pending_roles for node in assumed_nodes("controller=0,compute=1", prod)] == [("compute",)]


def test_a_primary_takes_all_tags_of_its_role(prod: Snapshot) -> None:
    nodes = assumed_nodes("controller=2,primary-controller+mongo=1", prod)

    assert [(node.pending_roles, node.primary_tags) for node in nodes] == [
        (("controller",), ()),
        (("controller",), ()),
        (("controller", "mongo"), ("controller", "database")),
    ]


def test_a_role_whose_name_begins_with_primary_is_a_role(prod: Snapshot) -> None:
    assert [node.pending_roles for node in assumed_nodes("primary-thing=2", prod)] == [("primary-thing",)] * 2


@pytest.mark.parametrize(
    "text",
    [
        "controller", "controller=", "=3", "controller=x", "controller=-1", "controller=1.5", "controller=3,", ",",
        " ", "controller=1=2", "controller+=1", "+compute=1", "controller==1", "controller=²", "controller 3",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_that_shows_how(prod: Snapshot, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        assumed_nodes(text, prod)

    assert caught.value.message.startswith("--assume: cannot read ")
    assert repr(text) in caught.value.message
    assert caught.value.hint == HINT


@pytest.mark.parametrize("text", ["controller=100001", "controller=60000,compute=60000", f"controller={'9' * 5000}"])
def test_there_is_an_end_to_assuming(prod: Snapshot, text: str) -> None:
    with refused(UsageError, "--assume", 100000):
        assumed_nodes(text, prod)


@pytest.mark.parametrize(
    "text",
    [
        "primary-controller=2",
        "primary-controller=0",
        "primary-controller=1,primary-controller=1",
        "primary-controller=1,primary-controller+compute=1",
    ],
)
def test_there_is_one_primary_at_most(prod: Snapshot, text: str) -> None:
    with refused(UsageError, "--assume", "primary") as caught:
        assumed_nodes(text, prod)

    assert caught.value.hint == HINT


def test_a_role_without_primary_has_none(prod: Snapshot) -> None:
    with refused(UsageError, "--assume", "'primary-compute=1'"):
        assumed_nodes("primary-compute=1", prod)


@pytest.mark.parametrize(("text", "said"), [("controler=1", "controler"), ("primary-controler=1", "primary-controler")])
def test_an_unknown_role_is_not_found_and_the_nearest_named(prod: Snapshot, text: str, said: str) -> None:
    with pytest.raises(NotFound) as caught:
        assumed_nodes(text, prod)

    assert caught.value.key == said
    assert caught.value.hint == "Did you mean controller?"

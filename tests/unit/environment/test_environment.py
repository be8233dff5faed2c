from __future__ import annotations

from dataclasses import replace

from fuelclient.environment.roles import owners, primary_tags, roles
from fuelclient.model.cluster import Cluster
from fuelclient.model.environment import Environment
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release

CLUSTER = Cluster(3, "prod", 1)


def environment(release: dict[str, object], *plugins: dict[str, object]) -> Environment:
    made = tuple(Plugin(index, f"p{index}", "1.0.0", metadata=metadata) for index, metadata in enumerate(plugins))
    return Environment(CLUSTER, Release(1, "n", "1", metadata=release), made)


def test_owners_rise_in_importance() -> None:
    labels = [owner.label for owner in owners(environment({}, {}, {}))]
    assert labels == ["release", "plugin p0-1.0.0", "plugin p1-1.0.0", "cluster"]


def test_a_plugin_can_redefine_a_role_of_the_release() -> None:
    made = environment(
        {"roles_metadata": {"a": {"name": "theirs"}, "b": {}}},
        {"roles_metadata": {"a": {"name": "mine"}, "c": None}},
    )
    assert {name: (role.owner, role.metadata.get("name")) for name, role in roles(made).items()} == {
        "a": ("plugin p0-1.0.0", "mine"),
        "b": ("release", None),
        "c": ("plugin p0-1.0.0", None),
    }


def test_a_role_of_the_environment_hides_none_of_a_plugin() -> None:
    """It replaces one of the release, and stays for when the plugin is disabled."""
    release = {"roles_metadata": {"a": {"name": "theirs"}, "b": {"name": "theirs"}}}
    own = {"roles_metadata": {name: {"name": "own"} for name in "abc"}}
    plugin: dict[str, object] = {"roles_metadata": {"a": {"name": "mine"}}}
    for below, expected in (
        (environment({**release}, plugin), {"a": "mine", "b": "own", "c": "own"}),
        (environment({**release}), {"a": "own", "b": "own", "c": "own"}),
    ):
        made = replace(below, own_metadata=own)
        assert {name: role.metadata["name"] for name, role in roles(made).items()} == expected


def test_a_role_that_states_no_tag_has_none() -> None:
    """An empty list stays empty (vector 86 of the loader); only a role that states nothing has a tag of its own."""
    stated = {
        "empty": {"tags": [], "has_primary": True},
        "own": {"has_primary": True},
        "null": {"tags": None, "has_primary": True},
    }
    for made in (environment({"roles_metadata": stated}), environment({}, {"roles_metadata": stated})):
        assert {name: role.tags for name, role in roles(made).items()} == {
            "empty": (), "own": ("own",), "null": ("null",),
        }  # fmt: skip


def test_a_role_that_states_no_tag_has_no_primary() -> None:
    stated = {"empty": {"tags": [], "has_primary": True}, "own": {"has_primary": True}}
    assert primary_tags(environment({"roles_metadata": stated})) == {"own"}


def test_primary_tags_come_from_everywhere() -> None:
    made = environment(
        {"tags_metadata": {"controller": {"has_primary": True}, "compute": {"has_primary": False}}},
        {"tags_metadata": {"mine": {"has_primary": True}}, "roles_metadata": {"x": {"has_primary": True}}},
        {"roles_metadata": {"y": {"has_primary": True, "tags": ["y1"]}, "z": {"tags": ["z1"]}}},
    )
    assert primary_tags(made) == {"controller", "mine", "x", "y1"}

"""Several plugins on one task: definitions stand side by side, overrides follow one another."""

from __future__ import annotations

from typing import Any

from building import RELEASE, STAGES, layer, plugin, roles, snapshot, task, tasks_from

from fuelclient.graph.merge import merge_layers
from fuelclient.model.graph import Level, MergedGraph, MergePolicy, Owner
from fuelclient.plan.preview import PreviewOptions
from fuelclient.plan.study import preview

LOW = layer(RELEASE, task("net", type="puppet", roles=["db"], parameters={"a": 1, "b": 2}))
ONE = layer(plugin("one"), task("net", parameters={"a": 10}))
TWO = layer(plugin("two"), task("net", parameters={"b": 20}))
WHOLE = layer(plugin("zoe"), task("net", type="shell", roles=["web"], parameters={"b": 3}))


def told(graph: MergedGraph) -> list[tuple[str, object, str, list[str]]]:
    return [
        (
            merged.task.type,
            merged.task.attributes["parameters"],
            merged.owner.name,
            [owner.name for owner in merged.overrides],
        )
        for merged in graph.tasks
    ]


def test_overrides_of_two_plugins_follow_one_another() -> None:
    graph = merge_layers([TWO, LOW, ONE])

    assert told(graph) == [("puppet", {"a": 10, "b": 20}, "two", ["one", ""])]
    assert graph.tasks[0].origin("parameters.a").owner.name == "one"
    assert graph.tasks[0].origin("parameters.b").owner.name == "two"


def test_override_reaches_a_plugin_that_sorts_later() -> None:
    graph = merge_layers([LOW, ONE, WHOLE])

    assert [
        (merged.task.type, merged.task.attributes["parameters"]["a"], merged.owner.name) for merged in graph.tasks
    ] == [("shell", 10, "one")]


def test_an_override_reaches_all_variants() -> None:
    other = layer(plugin("abe"), task("net", type="sync", roles=["x"], parameters={"b": 4}))

    graph = merge_layers([LOW, ONE, WHOLE, other])

    assert [(merged.task.type, merged.task.attributes["parameters"]) for merged in graph.tasks] == [
        ("sync", {"b": 4, "a": 10}),
        ("shell", {"b": 3, "a": 10}),
    ]


def test_overlay_policy_lets_each_plugin_override_the_last() -> None:
    graph = merge_layers([LOW, ONE, WHOLE], MergePolicy.OVERLAY)

    assert told(graph) == [("shell", {"a": 10, "b": 3}, "zoe", ["one", ""])]


def test_what_an_environment_is_called_orders_nothing() -> None:
    staged: dict[str, Any] = {"type": "shell", "roles": ["db"], "stage": "post_deployment/10"}
    release = layer(RELEASE, *tasks_from(STAGES))
    theirs = layer(plugin("mmm"), task("theirs", **staged))

    for name in ("aaa", "zzz"):
        own = layer(Owner(Level.CLUSTER, 1, name), task("ours", **staged))
        seen = snapshot([release, theirs, own], known=roles("db"))
        rows = preview(seen, PreviewOptions(assume="db=1")).rows
        assert [row.task for row in rows if row.priority is not None] == ["theirs", "ours"]

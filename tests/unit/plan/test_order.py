"""Cycles told in words: each edge with its attribute, its layer, and its file and line."""

from __future__ import annotations

from typing import Any

import pytest
from building import CLUSTER, RELEASE, barriers, fleet, layer, plugin, task
from orders import ordered

from fuelclient.errors import CycleDetected
from fuelclient.graph.merge import merge_layers
from fuelclient.model.finding import Finding
from fuelclient.model.graph import Layer
from fuelclient.model.task import Source
from fuelclient.plan.expand import Expansion, expand


def _expansion(*layers: Layer, nodes: dict[int, list[str]] | None = None) -> Expansion:
    return expand(merge_layers(layers).tasks, fleet(nodes or {1: ["db"]}))


def _cycle(*layers: Layer, nodes: dict[int, list[str]] | None = None) -> tuple[CycleDetected, list[Finding]]:
    with pytest.raises(CycleDetected) as caught:
        ordered(_expansion(*layers, nodes=nodes))
    return caught.value, [finding for finding in caught.value.findings if isinstance(finding, Finding)]


def test_a_cycle_across_layers_names_the_place_of_each_edge() -> None:
    release = Source("release.yaml", 1, {"requires": 4})
    extra = Source("plugin.yaml", 10, {"required_for": 12})
    error, findings = _cycle(
        layer(RELEASE, task("a", source=release, type="shell", roles=["db"], requires=["b"])),
        layer(plugin("extra"), task("b", source=extra, type="shell", roles=["db"], requires=["c"])),
        layer(CLUSTER, task("c", source=extra, type="shell", roles=["db"], requires=["a"])),
    )

    assert error.cycle == ("a@1", "c@1", "b@1")
    assert error.message == "The graph has a cycle of 3 task instances: a@1 -> c@1 -> b@1 -> a@1."
    assert [(finding.code, str(finding.place), finding.message) for finding in findings] == [
        ("G050", "plugin.yaml:10", "a@1 runs before c@1: c says requires: a (cluster)"),
        ("G050", "plugin.yaml:10", "c@1 runs before b@1: b says requires: c (plugin extra-1.0.0)"),
        ("G050", "release.yaml:4", "b@1 runs before a@1: a says requires: b (release)"),
    ]
    assert [finding.place.layer for finding in findings] == ["cluster", "plugin extra-1.0.0", "release"]
    assert [finding.task for finding in findings] == ["c", "b", "a"]


def test_an_edge_that_an_override_stated_is_the_overrides() -> None:
    own = Source("own.yaml", 1, {"requires": 2})
    _, findings = _cycle(
        layer(RELEASE, task("a", type="shell", roles=["db"]), task("b", type="shell", roles=["db"], requires=["a"])),
        layer(CLUSTER, task("a", source=own, requires=["b"])),
    )

    assert [(str(finding.place), finding.place.layer) for finding in findings] == [
        ("release", "release"),
        ("own.yaml:2", "cluster"),
    ]


def test_a_cycle_through_a_barrier_names_its_tasks_and_places() -> None:
    nodes = {number: ["db"] for number in range(1, 6)} | {number: ["web"] for number in range(6, 11)}
    low = Source("low.yaml", 1, {"cross_depends": 3})
    high = Source("high.yaml", 1, {"cross_depended_by": 4})
    taken = (
        layer(RELEASE, task("a", source=low, type="shell", roles=["db"], cross_depends=[{"name": "b", "role": "web"}])),
        layer(CLUSTER, task("b", source=high, type="shell", roles=["web"], cross_depended_by=[{"name": "ghost"}],
                            cross_depends=[{"name": "/a/", "role": "/d.*/"}])),
    )  # fmt: skip
    assert barriers(_expansion(*taken, nodes=nodes).edges) == 2
    error, findings = _cycle(*taken, nodes=nodes)

    assert error.cycle == ("a@1", "b@6")
    assert [finding.message for finding in findings] == [
        "a@1 runs before b@6: b says cross_depends: /a/ (cluster)",
        "b@6 runs before a@1: a says cross_depends: b (release)",
    ]
    assert [str(finding.place) for finding in findings] == ["high.yaml:1", "low.yaml:3"]


def test_tasks_that_share_a_barrier_are_told_apart() -> None:
    """Two tasks wait for the same instances; each edge is told by the task that stated it."""
    nodes = {number: ["db"] for number in range(1, 6)}
    wide: dict[str, Any] = {"type": "shell", "roles": ["db"]}
    expansion = _expansion(
        layer(RELEASE, task("low", **wide), task("x", **wide, cross_depends=[{"name": "low"}]),
              task("y", **wide, cross_depends=[{"name": "/low/"}]),
              task("p", **wide, cross_depended_by=[{"name": "low"}]),
              task("q", **wide, cross_depended_by=[{"name": "/low/"}])),
        nodes=nodes,
    )  # fmt: skip
    number = {expansion.name(vertex): vertex for vertex in range(expansion.size)}

    assert barriers(expansion.edges) == 2
    for before, after, word in (
        ("low@1", "x@3", "low"),
        ("low@1", "y@3", "/low/"),
        ("p@2", "low@5", "low"),
        ("q@2", "low@5", "/low/"),
    ):
        (reason,) = expansion.edges.reasons_between(number[before], number[after])
        assert reason.word == word


def test_every_reason_of_an_edge_is_told() -> None:
    _, findings = _cycle(
        layer(RELEASE, task("a", type="shell", roles=["db"], requires=["b"], required_for=["b"]),
              task("b", type="shell", roles=["db"], required_for=["a"])),
    )  # fmt: skip

    assert [finding.message for finding in findings] == [
        "a@1 runs before b@1: a says required_for: b (release)",
        "b@1 runs before a@1: a says requires: b (release); b says required_for: a (release)",
    ]


def test_self_dependency_across_nodes_has_its_own_hint() -> None:
    error, findings = _cycle(
        layer(RELEASE, task("a", type="shell", roles=["db"], cross_depends=[{"name": "a", "role": "db"}])),
        nodes={1: ["db"], 2: ["db"], 3: ["db"]},
    )

    assert error.cycle == ("a@1", "a@2")
    assert all("one_by_one" in finding.hint for finding in findings)


def test_a_clique_of_a_thousand_nodes_is_found_at_once() -> None:
    nodes = {number: ["db"] for number in range(1, 1001)}
    expansion = _expansion(
        layer(RELEASE, task("a", type="shell", roles=["db"], cross_depends=[{"name": "a"}])), nodes=nodes
    )

    assert len(expansion.edges) < 10_000
    with pytest.raises(CycleDetected) as caught:
        ordered(expansion)
    assert caught.value.cycle == ("a@1", "a@2")


def test_a_cycle_of_stage_entries_names_the_stage() -> None:
    """An entry that has to run before the end of the stage that it runs after."""
    legacy = Source("t.yaml", 1, {"stage": 2})
    _, findings = _cycle(
        layer(RELEASE, task("pre_end", type="stage")),
        layer(
            plugin("p"), task("x", source=legacy, type="shell", roles=["db"], stage="pre/5", required_for=["pre_end"])
        ),
    )

    assert [finding.message for finding in findings] == [
        "pre_end runs before x@1: x says stage: pre/5 (plugin p-1.0.0)",
        "x@1 runs before pre_end: x says required_for: pre_end (plugin p-1.0.0)",
    ]
    assert str(findings[0].place) == "t.yaml:2"


def test_what_lies_behind_a_cycle_is_not_blamed() -> None:
    error, _ = _cycle(
        layer(
            RELEASE,
            task("first", type="shell", roles=["db"]),
            task("a", type="shell", roles=["db"], requires=["b", "first"]),
            task("b", type="shell", roles=["db"], requires=["a"]),
            task("behind", type="shell", roles=["db"], requires=["a", "b"]),
        )
    )

    assert error.cycle == ("a@1", "b@1")


def test_stage_of_an_instance_is_the_last_sync_point_before() -> None:
    expansion = _expansion(
        layer(
            RELEASE,
            task("before", type="shell", roles=["db"]),
            task("one", type="stage"),
            task("two", type="stage", requires=["one"]),
            task("x", type="shell", roles=["db"], requires=["one"]),
            task("y", type="shell", roles=["db"], requires=["x", "two"]),
        )
    )
    order = ordered(expansion)
    names = [expansion.name(vertex) for vertex in range(expansion.size)]
    last = {name: None if sync is None else names[sync] for name, sync in zip(names, order.last_sync, strict=True)}

    assert last == {"before@1": None, "one": "one", "two": "two", "x@1": "one", "y@1": "two"}
    generations = dict(zip(names, order.generation, strict=True))
    assert generations == {"before@1": 0, "one": 0, "two": 1, "x@1": 1, "y@1": 2}
    assert order.generations == 3


def test_nothing_has_no_generations() -> None:
    assert ordered(_expansion(layer(RELEASE))).generations == 0

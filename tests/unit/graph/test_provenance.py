"""Provenance: which layer and line set each attribute, and what it replaced."""

from __future__ import annotations

from building import CLUSTER, RELEASE, layer, plugin, task

from fuelclient.graph.merge import merge_layers
from fuelclient.model.graph import Layer, MergedTask, MergePolicy
from fuelclient.model.task import Source

ALFA, BETA = plugin("alfa"), plugin("beta", "2.0.0", 2)


def _source(file: str, **lines: int) -> Source:
    return Source(file, 1, {path.replace("__", "."): line for path, line in lines.items()})


LOW = _source("r", type=2, parameters=3, parameters__x=4, parameters__y=5)


def _one(*layers: Layer, policy: MergePolicy = MergePolicy.REPLACE) -> MergedTask:
    (merged,) = merge_layers(layers, policy).tasks
    return merged


def _history(merged: MergedTask, path: str) -> list[tuple[object, str]]:
    return [(value, str(origin)) for value, origin in merged.settings[path].replaced]


def test_a_task_of_one_layer_is_its_layers_with_its_lines() -> None:
    merged = _one(
        layer(
            RELEASE,
            task("a", source=_source("r", type=2, parameters=3, parameters__x=4), type="shell", parameters={"x": 1}),
        )
    )

    assert [str(merged.origin(path)) for path in ("type", "parameters.x", "")] == [
        "release (r:2)",
        "release (r:4)",
        "release (r:1)",
    ]
    assert not merged.settings


def test_partial_record_leaves_other_attributes_to_their_author() -> None:
    merged = _one(
        layer(RELEASE, task("a", source=LOW, type="shell", parameters={"x": 1, "y": 2})),
        layer(CLUSTER, task("a", source=_source("c", parameters=7, parameters__x=8), parameters={"x": 9})),
    )  # fmt: skip

    assert str(merged.origin("type")) == "release (r:2)"
    assert str(merged.origin("parameters.y")) == "release (r:5)"
    assert str(merged.origin("parameters.x")) == "cluster (c:8)"
    assert _history(merged, "parameters.x") == [(1, "release (r:4)")]
    assert merged.owner == CLUSTER
    assert merged.overrides == (RELEASE,)


def test_override_by_two_records_names_both() -> None:
    """The second finds its neighbour in the mapping still the release's, not the first one's."""
    merged = _one(
        layer(RELEASE, task("a", source=LOW, type="shell", parameters={"x": 1, "y": 2})),
        layer(ALFA, task("a", source=_source("p", parameters__x=6), parameters={"x": 3})),
        layer(CLUSTER, task("a", source=_source("c", parameters__y=8, parameters__x=9), parameters={"y": 4, "x": 5})),
    )  # fmt: skip

    assert _history(merged, "parameters.y") == [(2, "release (r:5)")]
    assert _history(merged, "parameters.x") == [(3, "plugin alfa-1.0.0 (p:6)"), (1, "release (r:4)")]


def test_whole_definition_lists_what_it_replaces_and_drops() -> None:
    merged = _one(
        layer(RELEASE, task("a", source=_source("r", requires=2), type="shell", requires=["x"], condition="c")),
        layer(ALFA, task("a", source=_source("p", type=5), type="puppet")),
        layer(CLUSTER, task("a", source=_source("c", type=8), type="reboot")),
    )

    assert _history(merged, "type") == [("puppet", "plugin alfa-1.0.0 (p:5)"), ("shell", "release (r:1)")]
    assert merged.settings["requires"].dropped
    assert str(merged.settings["requires"].origin) == "plugin alfa-1.0.0 (p:1)"
    assert _history(merged, "requires") == [(["x"], "release (r:2)")]
    assert merged.overrides == (ALFA, RELEASE)


def test_what_was_dropped_and_is_stated_again_is_not_forgotten() -> None:
    merged = _one(
        layer(RELEASE, task("a", source=_source("r", requires=2), type="shell", requires=["x"])),
        layer(ALFA, task("a", type="puppet")),
        layer(CLUSTER, task("a", source=_source("c", requires=9), requires=["y"])),
    )

    assert not merged.settings["requires"].dropped
    assert str(merged.origin("requires")) == "cluster (c:9)"
    assert _history(merged, "requires") == [(["x"], "release (r:2)")]


def test_mapping_replaced_by_expression_leaves_no_keys() -> None:
    merged = _one(
        layer(RELEASE, task("a", type="shell", parameters={"x": 1})),
        layer(ALFA, task("a", parameters={"x": 2})),
        layer(CLUSTER, task("a", source=_source("c", parameters=9), parameters={"yaql_exp": "$"})),
    )

    assert merged.settings["parameters.x"].dropped
    assert str(merged.settings["parameters.x"].origin) == "cluster (c:9)"
    assert [value for value, _ in _history(merged, "parameters.x")] == [2, 1]


def test_a_mapping_that_comes_back_has_its_keys_back() -> None:
    merged = _one(
        layer(RELEASE, task("a", source=LOW, type="shell", parameters={"x": 1, "y": 2})),
        layer(ALFA, task("a", source=_source("p", parameters=6), parameters=None)),
        layer(CLUSTER, task("a", source=_source("c", parameters__x=9), parameters={"x": 3})),
    )

    assert str(merged.origin("parameters.x")) == "cluster (c:9)"
    assert _history(merged, "parameters.x") == [(1, "release (r:4)")]
    assert merged.settings["parameters.y"].dropped
    assert str(merged.settings["parameters.y"].origin) == "plugin alfa-1.0.0 (p:6)"


def test_keys_with_dots_are_found_again() -> None:
    merged = _one(
        layer(RELEASE, task("a", type="shell", parameters={"a.b": {"c": 1}})),
        layer(CLUSTER, task("a", parameters={"a.b": {"c": 2}})),
    )

    assert merged.task.attributes["parameters"] == {"a.b": {"c": 2}}
    assert [value for value, _ in _history(merged, "parameters.a.b.c")] == [1]


def test_a_plugins_default_is_the_plugins() -> None:
    merged = _one(
        layer(RELEASE, task("a", type="shell", parameters={"cwd": "/"})),
        Layer(ALFA, (task("a", source=_source("p", parameters=4), type="shell", parameters={"cmd": "x"}),), cwd="/p/"),
    )

    assert merged.task.attributes["parameters"] == {"cmd": "x", "cwd": "/p/"}
    assert str(merged.origin("parameters.cwd")) == "plugin alfa-1.0.0"
    assert str(merged.origin("parameters")) == "plugin alfa-1.0.0 (p:4)"


def test_definition_over_two_variants_names_both_plugins() -> None:
    merged = _one(
        layer(RELEASE, task("a", type="shell", requires=["x"])),
        layer(ALFA, task("a", type="puppet")),
        layer(BETA, task("a", type="sync")),
        layer(CLUSTER, task("a", type="reboot")),
    )

    assert merged.overrides == (ALFA, BETA, RELEASE)
    assert [value for value, _ in _history(merged, "type")] == ["puppet", "shell", "sync", "shell"]


def test_an_overlay_is_told_attribute_by_attribute() -> None:
    merged = _one(
        layer(RELEASE, task("a", source=_source("r", requires=2), type="shell", requires=["x"])),
        layer(CLUSTER, task("a", source=_source("c", type=9), type="shell")),
        policy=MergePolicy.OVERLAY,
    )

    assert str(merged.origin("requires")) == "release (r:2)"
    assert _history(merged, "type") == [("shell", "release (r:1)")]

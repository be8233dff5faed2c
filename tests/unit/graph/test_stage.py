"""Stages: their numbers, their bands, and the chains of a merged graph."""

from __future__ import annotations

import pytest
from building import CLUSTER, RELEASE, STAGES, layer, plugin, task, tasks_from

from fuelclient.graph.merge import merge_layers
from fuelclient.graph.stage import Stage, band_of, chains, parse_stage, stage_names
from fuelclient.model.graph import Layer
from fuelclient.model.task import Task


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("pre_deployment", Stage("pre_deployment", 0.0)),
        ("pre_deployment/+101.0", Stage("pre_deployment", 101.0)),
        ("post_deployment/-.5", Stage("post_deployment", -0.5)),
        ("a/9/1", Stage("a", 1.0, is_valid=False)),
        ("a/", Stage("a", 0.0, is_valid=False)),
        ("a/1e2", Stage("a", 0.0, is_valid=False)),
        ("/5", Stage("", 5.0)),
        (f"a/{'9' * 400}", Stage("a", 0.0, is_valid=False)),
    ],
)
def test_a_stage_is_a_name_and_a_number(text: str, stage: Stage) -> None:
    assert parse_stage(text) == stage


@pytest.mark.parametrize(
    ("priority", "band"),
    [
        (0, "hardware"), (999.9, "hardware"), (1000, "reserved"), (2000, "disks"), (3000, "reserved"),
        (4999, "network"), (6002, "software"), (7000, "reserved"), (8200, "monitoring"),
        (8999.5, "monitoring"), (9000, None), (-0.1, None),
    ],
)  # fmt: skip
def test_numbers_have_bands(priority: float, band: str | None) -> None:
    assert band_of(priority) == band


def _chains(*layers: Layer) -> dict[str, tuple[list[str], list[str], list[str]]]:
    tasks = merge_layers(layers).tasks
    return {
        chain.stage: (
            [tasks[index].id for index in chain.entries],
            [tasks[index].id for index in chain.after],
            [tasks[index].id for index in chain.before],
        )
        for chain in chains(tasks)
    }


def test_chain_stands_between_its_stage_and_the_next() -> None:
    entries = [task(name, type="shell", stage=stage) for name, stage in (("x", "post_deployment/2"), ("y", "deploy"))]

    assert _chains(layer(RELEASE, *tasks_from(STAGES)), layer(plugin("p"), *entries)) == {
        "deploy": (["y"], ["deploy_end"], ["post_deployment_start"]),
        "post_deployment": (["x"], ["post_deployment_end"], []),
    }


def test_the_next_stage_may_be_named_from_either_side() -> None:
    release = layer(
        RELEASE, task("a_end", type="stage", required_for=["b_start", "a_end"]), task("b_start", type="stage"),
        task("c_start", type="stage", requires=["a_end"]), task("not_a_stage", type="shell", requires=["a_end"]),
    )  # fmt: skip

    assert _chains(release, layer(plugin("p"), task("x", type="shell", stage="a"))) == {
        "a": (["x"], ["a_end"], ["b_start", "c_start"])
    }


def test_stages_and_groups_are_in_no_chain() -> None:
    result = _chains(layer(plugin("p"), task("s", type="stage", stage="a"), task("g", type="group", stage="a")))

    assert result == {}


def test_a_version_decides_whether_a_stage_is_order() -> None:
    tasks = [
        task(version, type="shell", stage="a", version=version) for version in ("1.0.0", "1.99.0", "2.0.0", "10.0.0")
    ]

    assert _chains(layer(plugin("p"), *tasks)) == {"a": (["1.0.0", "1.99.0"], [], [])}


def test_two_versions_of_one_plugin_go_by_version() -> None:
    old, new = (
        layer(plugin("p", version), task(f"v{version}", type="shell", stage="a")) for version in ("1.0.0", "2.0.0")
    )

    assert _chains(new, old)["a"][0] == ["v1.0.0", "v2.0.0"]


@pytest.mark.parametrize("override", [{"parameters": {"timeout": 1}}, {"type": "reboot", "stage": "a"}])
def test_an_override_moves_an_entry_nowhere(override: dict[str, object]) -> None:
    """Neither a partial nor a whole one: the entry stays the plugin's, between those of other plugins."""
    plugins = [layer(plugin(name), task(name, type="shell", stage="a")) for name in ("zeta", "alfa", "mid")]
    own = layer(CLUSTER, Task("zeta", override))

    assert _chains(*plugins, own)["a"][0] == ["alfa", "mid", "zeta"]


def test_an_environment_may_move_an_entry_by_its_number() -> None:
    plugins = [layer(plugin(name), task(name, type="shell", stage="a/5")) for name in ("alfa", "zeta")]

    assert _chains(*plugins, layer(CLUSTER, task("zeta", stage="a/-5")))["a"][0] == ["zeta", "alfa"]


def test_stages_of_a_graph_are_those_with_an_end() -> None:
    tasks = merge_layers([layer(RELEASE, *tasks_from(STAGES), task("x_end", type="shell"))]).tasks

    assert stage_names(merged.task for merged in tasks) == ("pre_deployment", "deploy", "post_deployment")

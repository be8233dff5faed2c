"""Findings about names of a merged graph."""

from __future__ import annotations

from building import CLUSTER, RELEASE, layer, task

from fuelclient.graph.merge import merge_layers
from fuelclient.graph.references import check_references
from fuelclient.model.finding import Finding
from fuelclient.model.task import Source, Task

FILE = Source("t.yaml", 3, {"requires": 5, "cross_depends": 6, "stage": 7})


def _check(*tasks: Task) -> tuple[Finding, ...]:
    return check_references(merge_layers([layer(RELEASE, *tasks)]))


def test_known_names_and_patterns_are_good() -> None:
    assert not _check(
        task("a", type="shell", requires=["b", "/^b$/"], cross_depends=[{"name": "b"}]), task("b", type="shell")
    )


def test_a_dangling_name_is_a_warning_with_the_nearest_name() -> None:
    result = _check(
        task("netconfig", type="shell"),
        task("a", source=FILE, type="shell", requires=["netconfg"], cross_depends=[{"name": "nothing_like_it"}]),
    )

    assert [
        (str(finding.severity), finding.code, finding.task, str(finding.place), finding.place.layer)
        for finding in result
    ] == [
        ("warning", "G030", "a", "t.yaml:5", "release"),
        ("warning", "G030", "a", "t.yaml:6", "release"),
    ]
    assert "netconfg" in result[0].message
    assert result[0].hint == "Did you mean netconfig?"
    assert "nothing_like_it" in result[1].message


def test_a_dangling_name_is_told_where_the_last_layer_wrote_it() -> None:
    own = Source("own.yaml", 1, {"requires": 2})
    merged = merge_layers(
        [
            layer(RELEASE, task("a", source=FILE, type="shell", requires=["a"], required_for=["gone"])),
            layer(CLUSTER, task("a", source=own, requires=["ghost"])),
        ]
    )
    result = check_references(merged)

    assert [(str(finding.place), finding.place.layer) for finding in result] == [
        ("own.yaml:2", "cluster"),
        ("t.yaml:3", "release"),
    ]


def test_a_pattern_that_matches_nothing_is_worth_a_note() -> None:
    (result,) = _check(task("a", source=FILE, type="shell", requires=["/zz.*/"]))

    assert (str(result.place), str(result.severity), result.code) == ("t.yaml:5", "info", "G031")
    assert "/zz.*/" in result.message


def test_a_pattern_without_its_slashes_is_recognised() -> None:
    (result,) = _check(task("primary-db", type="shell"), task("a", type="shell", requires=["(primary-)?db"]))

    assert result.code == "G030"
    assert "/(primary-)?db/" in result.hint


def test_a_broken_pattern_is_left_to_the_check_of_the_document() -> None:
    assert not _check(task("a", type="shell", requires=["/(/", "(/"][:1]))


def test_unknown_stage_is_a_warning_with_the_known_ones() -> None:
    result = _check(
        task("pre_deployment_end", type="stage"),
        task("hw_end", type="stage"),
        task("deploy_start", type="stage"),
        task("a", source=FILE, type="shell", stage="post_deployment/1e2"),
    )

    assert [(finding.code, str(finding.severity), str(finding.place), finding.hint) for finding in result] == [
        ("G032", "warning", "t.yaml:7", "Stages: pre_deployment, hw."),
        ("G012", "warning", "t.yaml:7", ""),
    ]
    assert "counts as 0" in result[1].message


def test_a_graph_without_stages_says_so() -> None:
    (result,) = _check(task("a", type="shell", stage="pre_deployment"))

    assert (result.code, result.hint) == ("G032", "The graph has no stages.")


def test_an_unprintable_id_that_is_stored_already_is_a_warning() -> None:
    (result,) = _check(task("a\x1bb", source=FILE, type="reboot"))

    assert (str(result.severity), result.code) == ("warning", "G016")
    assert result.message.isprintable()

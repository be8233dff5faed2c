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
    found = _check(
        task("netconfig", type="shell"),
        task("a", source=FILE, type="shell", requires=["netconfg"], cross_depends=[{"name": "nothing_like_it"}]),
    )

    assert [str(one) for one in found] == [
        "t.yaml:5: warning: task a: requires names netconfg, which no layer defines [G030] Did you mean netconfig?",
        "t.yaml:6: warning: task a: cross_depends names nothing_like_it, which no layer defines [G030]"
        " The dependency is ignored.",
    ]
    assert {one.place.layer for one in found} == {"release"}


def test_a_dangling_name_is_told_where_the_last_layer_wrote_it() -> None:
    own = Source("own.yaml", 1, {"requires": 2})
    merged = merge_layers(
        [
            layer(RELEASE, task("a", source=FILE, type="shell", requires=["a"], required_for=["gone"])),
            layer(CLUSTER, task("a", source=own, requires=["ghost"])),
        ]
    )
    found = check_references(merged)

    assert [(str(one.place), one.place.layer) for one in found] == [("own.yaml:2", "cluster"), ("t.yaml:3", "release")]


def test_a_pattern_that_matches_nothing_is_worth_a_note() -> None:
    (found,) = _check(task("a", source=FILE, type="shell", requires=["/zz.*/"]))

    assert str(found).startswith("t.yaml:5: info: task a: the pattern /zz.*/ in requires matches no task [G031]")


def test_a_pattern_without_its_slashes_is_recognised() -> None:
    (found,) = _check(task("primary-db", type="shell"), task("a", type="shell", requires=["(primary-)?db"]))

    assert (found.code, found.hint) == ("G030", "Did you mean the pattern /(primary-)?db/?")


def test_a_broken_pattern_is_left_to_the_check_of_the_document() -> None:
    assert not _check(task("a", type="shell", requires=["/(/", "(/"][:1]))


def test_a_stage_that_the_graph_lacks_is_a_warning_with_those_it_has() -> None:
    found = _check(
        task("pre_deployment_end", type="stage"),
        task("hw_end", type="stage"),
        task("deploy_start", type="stage"),
        task("a", source=FILE, type="shell", stage="post_deployment/1e2"),
    )

    assert [(one.code, str(one.severity), str(one.place), one.hint) for one in found] == [
        ("G032", "warning", "t.yaml:7", "Stages: pre_deployment, hw."),
        ("G012", "warning", "t.yaml:7", ""),
    ]
    assert "counts as 0" in found[1].message


def test_a_graph_without_stages_says_so() -> None:
    (found,) = _check(task("a", type="shell", stage="pre_deployment"))

    assert (found.code, found.hint) == ("G032", "The graph has no stages.")


def test_an_unprintable_id_that_is_stored_already_is_a_warning() -> None:
    (found,) = _check(task("a\x1bb", source=FILE, type="reboot"))

    assert (str(found.severity), found.code) == ("warning", "G016")
    assert found.message.isprintable()

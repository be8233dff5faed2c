"""What a Fuel master ignores in an entry of `tasks.yaml` stops no package, whatever its shape."""

from __future__ import annotations

import pytest
from building import edges, fleet, layer, plugin
from unit.plugins.load.loading import HEAD, Build

from fuelclient.expressions.readable import unreadable
from fuelclient.graph.merge import merge_layers
from fuelclient.model.task import NOT_OF_LEGACY
from fuelclient.plan.expand import expand
from fuelclient.plugins.checks import check
from fuelclient.plugins.load import load_package

HEAD_3 = HEAD.replace("5.0.0", "3.0.0")
ENTRY = "- {%srole: [db], stage: post_deployment/%d, type: shell, parameters: {cmd: ./a.sh, timeout: 1}%s}\n"
SCRIPTS = {"deployment_scripts/a.sh": "#!/bin/sh\n"}
SHAPES = ("7", "true", "{a: 1}", "[{a: b}]", "[[x]]", '{yaql_exp: "$.("}', "[{role: x}]", "[{name: [x], policy: no}]")


def package(build: Build, *entries: str, tasks: str = "") -> tuple[list[tuple[str, str, int]], list[str], set[str]]:
    """Severity, code and line of findings in files of tasks; the ids of the tasks; their order on two nodes."""
    root = build(head=HEAD_3, tasks_yaml="".join(entries), deployment_tasks_yaml=tasks or "[]\n")
    of_tasks = [finding for finding in check(root) if finding.place.file.endswith("tasks.yaml")]
    found = [(str(finding.severity), finding.code, finding.place.line) for finding in of_tasks]
    graph = load_package(root).contents.graphs["default"]
    assert list(unreadable(graph.tasks)) == []
    merged = merge_layers([layer(plugin("sample"), *graph.tasks)])
    return found, [task.id for task in graph.tasks], edges(expand(merged.tasks, fleet({1: ["db"], 2: ["db"]})))


@pytest.mark.parametrize("attribute", sorted({*NOT_OF_LEGACY, "cross-depends", "cross-depended-by"}))
@pytest.mark.parametrize("shape", SHAPES)
def test_an_ignored_attribute_of_any_shape_is_a_warning(build: Build, attribute: str, shape: str) -> None:
    before, ids, order = package(build, ENTRY % ("", 1, ""), ENTRY % ("", 2, ""))
    found, names, ordered = package(build, ENTRY % ("", 1, f", {attribute}: {shape}"), ENTRY % ("", 2, ""))
    assert [each for each in found if each not in before] == [("warning", "G029", 1)]
    assert (names, ordered) == (ids, order)


@pytest.mark.parametrize("own_id", ["null", "[a]", "7", "''", "{a: b}"])
def test_an_id_that_is_no_name_is_ignored(build: Build, own_id: str) -> None:
    found, names, _ = package(build, ENTRY % (f"id: {own_id}, ", 1, ""))
    assert ("warning", "G029", 1) in found
    assert not [each for each in found if each[0] == "error"]
    assert names == ["sample:post_deployment#1"]


def test_an_id_that_another_task_has_is_ignored(build: Build) -> None:
    own = "- {id: b, type: shell, version: 2.0.0, role: [db], parameters: {cmd: ./a.sh, timeout: 1}}\n"
    entries = [ENTRY % (f"id: {name}, ", number, "") for number, name in enumerate("aab", 1)]
    found, names, _ = package(build, *entries, tasks=own)
    assert [each for each in found if each[1] == "G029"] == [("warning", "G029", 2), ("warning", "G029", 3)]
    assert not [each for each in found if each[0] == "error"]
    assert names == ["a", "sample:post_deployment#2", "sample:post_deployment#3", "b"]


def test_two_spellings_of_an_ignored_attribute_are_a_warning(build: Build) -> None:
    found, _, _ = package(build, ENTRY % ("", 1, ", cross-depends: [{name: b}], cross_depends: [{name: c}]"))
    assert {each[:2] for each in found if each[1].startswith("G0")} == {("warning", "G029")}


def test_an_attribute_of_a_later_version_still_needs_its_shape(build: Build) -> None:
    root = build(head=HEAD_3, tasks_yaml=ENTRY % ("", 1, ", version: 2.1.0, requires: {a: 1}"))
    assert ("error", "G006") in {(str(finding.severity), finding.code) for finding in check(root)}

"""The tasks of a package, from three files, and the other content of a plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from building import RELEASE, STAGES, edges, fleet, layer, plugin, tasks_from
from unit.plugins.load.loading import HEAD, Build, only

from fuelclient.graph.merge import merge_layers
from fuelclient.graph.references import check_references
from fuelclient.graph.validate import check_document
from fuelclient.model.package import Package
from fuelclient.plan.expand import expand
from fuelclient.plugins.checks import check
from fuelclient.plugins.load import load_package, plugin_of

FILES = {
    "tasks_yaml": "- {role: '*', stage: post_deployment/100, type: shell, parameters: {cmd: a, timeout: 1}}\n",
    "deployment_tasks_yaml": "- {id: b, type: shell, version: 2.1.0, parameters: {cmd: b}}\n",
    "node_roles_yaml": "extra: {name: Extra, description: e, tasks: [hiera, b]}\n",
}


def names(package: Package) -> list[str]:
    """The tasks of the package's own default graph, in its order."""
    return [task.id for task in package.contents.graphs["default"].tasks]


def test_legacy_tasks_come_first(build: Build) -> None:
    head = HEAD.replace("5.0.0", "3.0.0")
    package = load_package(build(head=head, **FILES))
    assert names(package) == ["sample:post_deployment#1", "b"]
    assert [task.legacy for task in package.contents.graphs["default"].tasks] == [True, False]


ENTRIES = """
- {%s role: [db], stage: pre_deployment/9, type: shell, parameters: {cmd: a, timeout: 1}, %s}
- {role: [db], stage: post_deployment/1, type: shell, parameters: {cmd: b, timeout: 1}}
"""
"""Two entries of `tasks.yaml`, with places for an id and for what Nailgun does not read there."""


def planned(root: Path) -> tuple[set[str], list[str]]:
    """The edges between the tasks of a package and of a release on one node, and the codes of findings about them."""
    graph = load_package(root).contents.graphs["default"]
    release = tasks_from([*STAGES, {"id": "b", "type": "shell", "role": ["db"], "parameters": {"cmd": "b"}}])
    merged = merge_layers([layer(RELEASE, *release), layer(plugin("sample"), *graph.tasks)])
    told = [*check_document(graph, None, None), *check_references(merged)]
    return edges(expand(merged.tasks, fleet({1: ["db"], 2: ["db"]}))), [finding.code for finding in told]


@pytest.mark.parametrize("own_id", ["", "id: early,"])
@pytest.mark.parametrize(
    "stated",
    [
        "requires: [post_deployment_end, b]", "required_for: [pre_deployment_start]", "requires: {yaql_exp: '[b]'}",
        "cross-depends: [{name: b}]", "cross-depended-by: [{name: b, role: self}]", "cross_depends: {yaql_exp: '[]'}",
        "groups: [other]", "tags: [other]", "refresh_on: [b]", "reexecute_on: [deploy_changes]",
    ],
)  # fmt: skip
def test_a_legacy_entry_is_ordered_by_its_stage_alone(build: Build, own_id: str, stated: str) -> None:
    head = HEAD.replace("5.0.0", "2.0.0")
    plain, told = planned(build(head=head, tasks_yaml=ENTRIES % (own_id, "")))
    assert (len(plain) > 10, told) == (True, [])
    assert planned(build(head=head, tasks_yaml=ENTRIES % (own_id, stated))) == (plain, ["G029"] * 2)


@pytest.mark.parametrize(
    ("stated", "codes"),
    [
        ("requires: [early]", ["G029"]), ("required_for: [/ear/]", ["G031"]),
        ("cross-depends: [{name: early}]", ["G029"]), ("cross-depended-by: [{name: /^ea/, role: self}]", ["G031"]),
        ("requires: ['sample:post_deployment#2']", ["G029"]),
    ],
)  # fmt: skip
def test_no_other_task_orders_a_legacy_entry(build: Build, stated: str, codes: list[str]) -> None:
    """Nailgun gives entries other ids, so that a pattern in a release, such as /glance/, does not mean a plugin's."""
    files = {
        "tasks_yaml": ENTRIES % ("id: early,", ""),
        "deployment_tasks_yaml": "- {id: own, type: shell, role: [db]}\n",
    }
    head = HEAD.replace("5.0.0", "3.0.0")
    plain, told = planned(build(head=head, **files))
    own = f"- {{id: own, type: shell, role: [db], {stated}}}\n"
    assert planned(build(head=head, **{**files, "deployment_tasks_yaml": own})) == (plain, [*told, *codes])


def test_entry_of_a_later_version_is_ordered_by_dependencies(build: Build) -> None:
    entries = ENTRIES % ("id: early,", "version: 2.1.0, cross-depends: [{name: b}]")
    ordered, told = planned(build(head=HEAD.replace("5.0.0", "2.0.0"), tasks_yaml=entries))
    assert ("b@1 -> early@2" in ordered, told) == (True, [])


def test_version_5_ignores_legacy_tasks_and_says_so(build: Build) -> None:
    root = build(**FILES)
    assert names(load_package(root)) == ["extra", "b"]
    assert [finding.place.file for finding in check(root) if finding.code == "P014"] == [f"{root}/tasks.yaml"]


def test_the_tasks_of_a_role_become_a_group(build: Build) -> None:
    package = load_package(build(**FILES))
    group = package.contents.graphs["default"].tasks[0]
    assert (group.type, group.attributes["roles"], group.attributes["tasks"]) == (
        "group",
        ["extra"],
        ["hiera", "b"],
    )
    assert group.version_tuple >= (2, 0, 0)
    assert package.contents.roles == {"extra": {"name": "Extra", "description": "e", "tags": ["extra"]}}


def test_own_group_of_a_package_wins_over_tasks_of_a_role(build: Build) -> None:
    files = {**FILES, "deployment_tasks_yaml": "- {id: extra, type: group, roles: [extra], tasks: [x]}\n"}
    package = load_package(build(**files))
    assert [task.attributes["tasks"] for task in package.contents.graphs["default"].tasks] == [["x"]]


def test_a_plugin_carries_its_roles_and_volumes(build: Build) -> None:
    package = load_package(build("title: Sample\n", volumes_yaml="volumes: []\n", **FILES))
    plugin = plugin_of(package)
    assert (plugin.name, plugin.version, plugin.title, plugin.directory) == (
        "sample",
        "1.2.3",
        "Sample",
        "sample-1.2",
    )
    assert list(plugin.metadata["roles_metadata"]) == ["extra"]
    assert plugin.metadata["volumes_metadata"] == {"volumes_roles_mapping": {}, "volumes": []}
    assert plugin.metadata["tags_metadata"] == {"extra": {"has_primary": False}}


@pytest.mark.parametrize("stated", ["7", "{a: b}", "[[a]]"])
def test_the_tasks_of_a_role_are_names(build: Build, stated: str) -> None:
    assert only(build(node_roles_yaml=f"extra:\n  tasks: {stated}\n"))[:2] == ("node_roles.yaml:2", "P003")


def test_roles_that_are_a_list(build: Build) -> None:
    assert only(build(node_roles_yaml="- extra\n"))[:2] == ("node_roles.yaml:1", "P003")

"""The tasks of a package, from three files, and the other content of a plugin."""

from __future__ import annotations

import pytest
from unit.plugins.load.loading import HEAD, Build, only

from fuelclient.model.finding import Severity
from fuelclient.model.package import Package
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


def test_version_5_ignores_legacy_tasks_and_says_so(build: Build) -> None:
    package = load_package(build(**FILES))
    assert names(package) == ["extra", "b"]
    assert [(finding.severity, finding.code) for finding in package.findings] == [(Severity.INFO, "P014")]


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


def test_a_group_of_the_package_s_own_wins_over_the_tasks_of_a_role(build: Build) -> None:
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

"""Messages about an unpacked archive name the archive."""

from __future__ import annotations

import pytest
from unit.plugins.load.loading import Build, only

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding
from fuelclient.plugins.load import load_package


def test_findings_and_tasks_have_the_name_that_is_shown(build: Build) -> None:
    root = build("thing_path: nowhere.yaml\nother_path: broken.yaml\n", broken_yaml="k: [\n", node_roles_yaml="a: 1\n")
    with pytest.raises(InvalidDocument) as caught:
        load_package(root, shown_as="x.rpm!/")
    assert "x.rpm!" in caught.value.message
    assert sorted(str(one.place) for one in caught.value.findings if isinstance(one, Finding)) == [
        "x.rpm!/broken.yaml:2",
        "x.rpm!/metadata.yaml:4",
        "x.rpm!/node_roles.yaml:1",
    ]
    assert str(root) not in str(caught.value.findings)


def test_unreadable_file_is_named_without_its_real_path(build: Build) -> None:
    root = build("thing_path: a.yaml\n")
    (root / "a.yaml").mkdir()
    (root / "deployment_tasks.yaml").mkdir()
    with pytest.raises(InvalidDocument) as caught:
        load_package(root, shown_as="x.fp!")
    [finding] = [one for one in caught.value.findings if isinstance(one, Finding)]
    assert (str(finding.place), finding.code) == ("x.fp!/deployment_tasks.yaml", "P037")
    assert finding.message == "x.fp!/deployment_tasks.yaml is a directory"


def test_tasks_know_the_name_that_is_shown(build: Build) -> None:
    root = build(deployment_tasks_yaml="- id: a\n  type: stage\n")
    [task] = load_package(root, shown_as="x.fp!").contents.graphs["default"].tasks
    assert str(task.source.place("type")) == "x.fp!/deployment_tasks.yaml:2"


def test_a_file_that_is_named_often_is_told_about_once(build: Build) -> None:
    root = build(
        "releases:\n"
        "- {os: ubuntu, version: mitaka-9.0, node_roles_path: r.yaml}\n"
        "- {os: ubuntu, version: newton-10.0, node_roles_path: r.yaml}\n",
        r_yaml="a: 1\n",
    )
    assert only(root)[:2] == ("r.yaml:1", "P003")

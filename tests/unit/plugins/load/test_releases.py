"""Releases that a package defines: their fields, graphs and bases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from unit.plugins.load.loading import Build, only

from fuelclient.plugins.load import load_package

RELEASE = """\
releases:
- is_release: true
  release_name: sample
  description: a sample
  os: ubuntu
  version: ocata-11.0
  roles_path: roles.yaml
"""


def test_short_names_of_fields_become_the_release_s_own(build: Build) -> None:
    [packaged] = load_package(build(RELEASE, roles_yaml="compute: {name: Compute}\n")).releases
    release = packaged.release
    assert (release.id, release.name, release.version) == (0, "sample", "ocata-11.0")
    assert (release.operating_system, release.description, release.state) == ("ubuntu", "a sample", "available")
    assert release.metadata == {"roles_metadata": {"compute": {"name": "Compute"}}}


def test_a_record_without_a_name(build: Build) -> None:
    root = build("releases:\n- {is_release: true, version: a-1, os: x, description: d}\n")
    assert only(root)[:2] == ("metadata.yaml:5", "P030")


def test_records_that_extend_a_release_define_none(build: Build) -> None:
    package = load_package(build("releases:\n- {os: ubuntu, version: ocata-11.0}\n"))
    assert package.releases == ()
    assert [(record.os, record.version, record.contents) for record in package.records] == [
        ("ubuntu", "ocata-11.0", None)
    ]


def test_graphs_are_read_flat_and_nested(build: Build) -> None:
    root = build(
        RELEASE + "  graphs:\n"
        "  - {type: default, name: first, tasks_path: g/*.yaml, on_stop: {}}\n"
        "  - {type: nested, graph: {name: second, tasks_path: g/a.yaml}}\n"
        "  - {type: inline, tasks: [{id: c, type: stage}]}\n"
        "  - {type: whole, graph_path: w.yaml}\n",
        roles_yaml="{}\n",
        g__a_yaml="- {id: a, type: stage}\n",
        g__b_yaml="- {id: b, type: stage}\n",
        w_yaml="name: third\ntasks:\n- {id: d, type: stage}\n",
    )
    graphs = load_package(root).releases[0].graphs
    assert {kind: (graph.name, [task.id for task in graph.tasks]) for kind, graph in graphs.items()} == {
        "default": ("first", ["a", "b"]),
        "nested": ("second", ["a"]),
        "inline": (None, ["c"]),
        "whole": ("third", ["d"]),
    }
    assert graphs["default"].metadata == {"on_stop": {}}


@pytest.mark.parametrize(
    ("graphs", "placed"),
    [
        ("", {"default": ["compute", "storage"]}),
        ("graphs: [{type: default, tasks: [{id: a, type: stage}]}]", {"default": ["compute", "storage", "a"]}),
        ("graphs: [{type: deletion, tasks: []}]", {"deletion": [], "default": ["compute", "storage"]}),
        ("deployment_tasks: [{id: compute, type: group, roles: [x]}]", {"default": ["storage", "compute"]}),
    ],
)
def test_the_tasks_of_a_release_s_roles_become_groups(
    build: Build, graphs: str, placed: Mapping[str, Sequence[str]]
) -> None:
    roles = "compute: {name: C, has_primary: true, tasks: [a]}\nstorage:\n  metadata: {tasks: b}\nother: {tasks: []}\n"
    [packaged] = load_package(build(f"{RELEASE}  {graphs}\n", roles_yaml=roles)).releases
    assert {kind: [task.id for task in graph.tasks] for kind, graph in packaged.graphs.items()} == placed
    groups = {task.id: task for task in packaged.graphs["default"].tasks if task.attributes.get("tasks")}
    assert (groups["storage"].type, groups["storage"].attributes["tasks"]) == ("group", ["b"])
    if "compute" in groups:
        assert groups["compute"].attributes["roles"] == ["primary-compute", "compute"]
    assert packaged.release.metadata["roles_metadata"] == {
        "compute": {"name": "C", "has_primary": True}, "storage": {}, "other": {},
    }  # fmt: skip


def test_a_task_knows_the_file_it_was_read_from(build: Build) -> None:
    root = build(
        RELEASE + "  graphs: [{type: default, tasks_path: '**/g.yaml'}]\n",
        roles_yaml="{}\n",
        d__g_yaml="- id: a\n  type: stage\n",
    )
    [task] = load_package(root).releases[0].graphs["default"].tasks
    assert str(task.source.place("type")) == f"{root}/d/g.yaml:2"


def test_a_base_lies_below_the_record(build: Build) -> None:
    root = build(
        RELEASE + "  base_release_path: base/release.yaml\n",
        roles_yaml="compute: {name: Compute}\n",
        base__release_yaml="state: unavailable\nos: centos\nnetworks_path: base/nets.yaml\n"
        "roles: {compute: {name: Old, weight: 1}, storage: {}}\n"
        "graphs: [{type: deletion, tasks: [{id: a, type: stage}]}]\n",
        base__nets_yaml="public: {}\n",
    )
    [packaged] = load_package(root).releases
    assert (packaged.release.state, packaged.release.operating_system) == ("unavailable", "ubuntu")
    assert packaged.release.metadata["networks_metadata"] == {"public": {}}
    assert packaged.release.metadata["roles_metadata"] == {
        "compute": {"name": "Compute", "weight": 1},
        "storage": {},
    }
    assert list(packaged.graphs) == ["deletion"]


def test_an_error_in_a_base_is_reported_in_its_file(build: Build) -> None:
    root = build(
        RELEASE + "  base_release_path: base.yaml\n",
        roles_yaml="{}\n",
        base_yaml="state: available\nnetworks_path: nowhere.yaml\n",
    )
    assert only(root)[:2] == ("base.yaml:2", "P004")


def test_a_graph_type_that_is_listed_twice(build: Build) -> None:
    root = build("graphs:\n- {type: a, tasks: []}\n- {type: a, tasks: []}\n")
    assert only(root)[:2] == ("metadata.yaml:6", "P003")

"""Files with fixed names that a release of the package names belong to the release, not to the plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from package_trees import MITAKA, definition, role, task, write_package

from fuelclient.plugins.checks import check
from fuelclient.plugins.load import load_package

VOLUMES = {"volumes_roles_mapping": {"base": [{"id": "os", "allocate_size": "min"}]}, "volumes": [{"id": "os"}]}


@pytest.mark.parametrize("key", ["roles_path", "roles_metadata_path"])
def test_a_file_that_the_record_names(tmp_path: Path, key: str) -> None:
    record = definition(
        **{key: "node_roles.yaml"},
        volumes_path="volumes.yaml",
        graphs=[{"type": "default", "tasks_path": "deployment_tasks.yaml"}],
    )
    files = {
        "node_roles.yaml": {"base": role()},
        "volumes.yaml": VOLUMES,
        "deployment_tasks.yaml": [task("start", "stage")],
    }
    package = load_package(Path(write_package(tmp_path, "r", package_version="5.0.0", releases=[record], files=files)))
    (packaged,) = package.releases
    assert list(packaged.release.metadata["roles_metadata"]) == ["base"]
    assert [one.id for one in packaged.graphs["default"].tasks] == ["start"]
    assert (package.contents.roles, package.contents.volumes) == ({}, {})
    assert package.contents.graphs["default"].tasks == ()
    assert set(package.contents.files) == {"environment_config.yaml"}


def test_a_file_that_the_base_of_the_record_names(tmp_path: Path) -> None:
    record = definition(base_release_path="base.yaml")
    files = {"base.yaml": {"roles_path": "node_*.yaml"}, "node_roles.yaml": {"base": role()}}
    package = load_package(Path(write_package(tmp_path, "r", package_version="5.0.0", releases=[record], files=files)))
    assert "base" in package.releases[0].release.metadata["roles_metadata"]
    assert package.contents.roles == {}


def test_record_may_stand_anywhere_and_be_named_twice(tmp_path: Path) -> None:
    extension = {**MITAKA, "node_roles_path": "node_roles.yaml"}
    releases = [MITAKA, extension, definition(roles_path="node_roles.yaml")]
    files = {"node_roles.yaml": {"base": role()}}
    package = load_package(Path(write_package(tmp_path, "r", package_version="5.0.0", releases=releases, files=files)))
    assert package.contents.roles == {}
    assert [record.contents and list(record.contents.roles) for record in package.records] == [None, ["base"]]


def test_files_that_no_release_names_are_the_plugins(tmp_path: Path) -> None:
    files = {"node_roles.yaml": {"watcher": role()}}
    path = write_package(
        tmp_path, "r", package_version="5.0.0", releases=[definition(roles={"base": role()})], files=files
    )
    assert list(load_package(Path(path)).contents.roles) == ["watcher"]


def test_the_check_sees_them_likewise(tmp_path: Path) -> None:
    files = {"node_roles.yaml": {"base": role(tasks=["nowhere"])}}
    path = write_package(
        tmp_path, "r", package_version="5.0.0", releases=[definition(roles_path="node_roles.yaml")], files=files
    )
    assert [str(one) for one in check(Path(path)) if one.is_error] == []

"""Paths that do not exist, contain no data, or leave the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.plugins.load.loading import Build, only, only_place, refused

from fuelclient.plugins.load import load_package


def test_mixed_roots(build: Build) -> None:
    root = build("thing_path: d/*.yaml\n", d__a_yaml="[1]\n", d__b_yaml="k: 1\n")
    place, code, message = only(root)
    assert (place, code) == ("metadata.yaml:4", "P037")
    assert "a.yaml is a list" in message
    assert "b.yaml is a mapping" in message


def test_mixed_roots_of_a_graph(build: Build) -> None:
    root = build(
        "graphs:\n- type: default\n  tasks_path: d/*.yaml\n",
        d__a_yaml="- {id: a, type: stage}\n",
        d__b_yaml="id: b\n",
    )
    assert ("metadata.yaml:6", "P037") in [only_place(finding, root) for finding in refused(root)]


def test_a_root_that_is_no_data(build: Build) -> None:
    assert only(build("thing_path: a.yaml\n", a_yaml="word\n"))[:2] == ("metadata.yaml:4", "P037")


def test_a_missing_file_is_reported_at_its_key(build: Build) -> None:
    place, code, message = only(build("a: 1\nthing_path: nowhere.yaml\n"))
    assert (place, code) == ("metadata.yaml:5", "P004")
    assert "nowhere.yaml" in message


def test_a_missing_directory(build: Build) -> None:
    assert only(build("deployment_scripts_path: nowhere/\n"))[:2] == ("metadata.yaml:4", "P004")


def test_a_pattern_that_matches_nothing(build: Build) -> None:
    assert only(build("thing_path: d/*.yaml\n"))[:2] == ("metadata.yaml:4", "P037")


def test_a_pattern_that_cannot_be_read(build: Build) -> None:
    assert only(build("thing_path: d/**x.yaml\n"))[:2] == ("metadata.yaml:4", "P037")


@pytest.mark.parametrize(
    "name", ["../outside.yaml", "d/../../outside.yaml", "../*.yaml", "d/../../*.yaml", "..", '"a\\0b"', '""']
)
def test_a_path_out_of_the_package(build: Build, tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.yaml").write_text("secret: 1\n")
    assert only(build(f"thing_path: {name}\n"))[:2] == ("metadata.yaml:4", "P004")


@pytest.mark.parametrize("pattern", ["outside.yaml", "*.yaml", ""])
def test_an_absolute_path(build: Build, tmp_path: Path, pattern: str) -> None:
    (tmp_path / "outside.yaml").write_text("secret: 1\n")
    assert only(build(f"thing_path: {tmp_path}/{pattern}\n"))[:2] == ("metadata.yaml:4", "P004")


@pytest.mark.parametrize("name", ["link.yaml", "*.yaml", "links/outside.yaml", "links/*.yaml", "links"])
def test_a_symbolic_link_out_of_the_package(build: Build, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "outside.yaml").write_text("secret: 1\n")
    root = build(f"thing_path: '{name}'\n")
    (root / "link.yaml").symlink_to(tmp_path / "elsewhere" / "outside.yaml")
    (root / "links").symlink_to(tmp_path / "elsewhere")
    assert ("metadata.yaml:4", "P004") in [only_place(finding, root) for finding in refused(root)]


def test_a_fixed_file_that_is_a_link_out_of_the_package(build: Build, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text("[]\n")
    root = build()
    (root / "deployment_tasks.yaml").symlink_to(tmp_path / "outside.yaml")
    assert only(root)[:2] == ("deployment_tasks.yaml", "P004")


def test_a_loop_of_links(build: Build) -> None:
    root = build("thing_path: a.yaml\n")
    (root / "a.yaml").symlink_to(root / "b.yaml")
    (root / "b.yaml").symlink_to(root / "a.yaml")
    assert only(root)[:2] == ("metadata.yaml:4", "P004")


def test_a_link_within_the_package_is_followed(build: Build) -> None:
    root = build("thing_path: link.yaml\n", d__a_yaml="k: 1\n")
    (root / "link.yaml").symlink_to(root / "d" / "a.yaml")
    assert load_package(root).metadata["thing"] == {"k": 1}


def test_everything_is_reported_at_once(build: Build) -> None:
    root = build("a_path: ../a.yaml\nb_path: b.yaml\nc_path: c/*.yaml\n")
    assert [finding.code for finding in refused(root)] == ["P004", "P004", "P037"]


def test_a_file_that_is_no_yaml(build: Build) -> None:
    [finding] = refused(build("thing_path: a.yaml\n", a_yaml="k: [1\n"))
    assert finding.place.file.endswith("a.yaml")

"""What the metadata of a package has to state."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.plugins.load.loading import Build, only, refused

from fuelclient.errors import NotFound
from fuelclient.plugins.load import load_package


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        load_package(tmp_path / "nowhere")


def test_no_metadata(tmp_path: Path) -> None:
    assert only(tmp_path)[:2] == ("metadata.yaml", "P001")


def test_metadata_that_is_a_list(build: Build) -> None:
    assert only(build(head="- name: sample\n"))[:2] == ("metadata.yaml:1", "P001")


def test_a_version_that_is_a_number_is_reported_at_its_line(build: Build) -> None:
    root = build(head="name: sample\nversion: 1.0\npackage_version: 5.0.0\n")
    place, code, message = only(root)
    assert (place, code) == ("metadata.yaml:2", "P003")
    assert message.endswith("must be a version such as '1.2.3', in quotes, not the number 1.0")


def test_what_is_missing_is_reported_together(build: Build) -> None:
    told = {finding.message for finding in refused(build(head="title: x\n"))}
    assert told >= {f"metadata.yaml lacks {key}" for key in ("name", "version", "package_version")}


@pytest.mark.parametrize("line", ["name: ../sample", "name: Sample", "version: ../1.0.0", "version: '..'"])
def test_a_name_or_version_that_cannot_name_a_directory(build: Build, line: str) -> None:
    stated = {"name": "name: sample", "version": "version: 1.0.0", "package_version": "package_version: 5.0.0"}
    stated[line.split(":")[0]] = line
    found = refused(build(head="\n".join(stated.values())))
    [finding] = [finding for finding in found if "must be" in finding.message]
    assert (finding.code, finding.place.line) == ("P003", list(stated.values()).index(line) + 1)


@pytest.mark.parametrize("version", ["7.0.0", "50.0.0", "x"])
def test_an_unknown_package_version(build: Build, version: str) -> None:
    root = build(head=f"name: sample\nversion: 1.0.0\npackage_version: {version}\n")
    assert only(root)[:2] == ("metadata.yaml:3", "P002")

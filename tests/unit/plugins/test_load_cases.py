"""Load packages. Each case file has `metadata` (after a head of three lines) and `files`, and either the result, or
the places and codes with which the package is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from case_files import case_files

from fuelclient.errors import InvalidDocument
from fuelclient.model.finding import Finding
from fuelclient.model.package import Package, PackagedRelease
from fuelclient.plugins import repeated_ids
from fuelclient.plugins.load import load_package, plugin_of, read_package, require_usable

HEAD = "name: sample\nversion: 1.2.3\npackage_version: {}\n"
KEYS = {"says", "recorded", "decision", "package_version", "metadata", "files", "expected", "refused"}


def unpacked(case: Mapping[str, Any], root: Path) -> Path:
    """The package of a case in a directory below `root`."""
    head = HEAD.format(case.get("package_version", "5.0.0"))
    for name, text in {"metadata.yaml": head + case.get("metadata", ""), **case.get("files", {})}.items():
        path = root / "sample" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / "sample"


def placed(findings: object) -> list[str]:
    """Severity, code and place of findings, which name their files below `pkg`."""
    assert isinstance(findings, tuple)
    assert all(isinstance(finding, Finding) for finding in findings)
    return [f"{one.severity} {one.code} {str(one.place).removeprefix('pkg/')}" for one in findings]


def release_outcome(packaged: PackagedRelease) -> dict[str, Any]:
    release = packaged.release
    metadata = {key.removesuffix("_metadata"): value for key, value in release.metadata.items()}
    return {
        **metadata,
        "name": release.name,
        "version": release.version,
        "operating_system": release.operating_system,
        "description": release.description,
        "state": release.state,
        "graphs": {kind: [task.id for task in graph.tasks] for kind, graph in packaged.graphs.items()},
        "graph_names": {kind: graph.name for kind, graph in packaged.graphs.items()},
        "graph_metadata": {kind: graph.metadata for kind, graph in packaged.graphs.items()},
    }


def outcome(package: Package) -> dict[str, Any]:
    """What a case can ask of a package."""
    contents = package.contents
    own = contents.graphs["default"].tasks
    head = ("name", "version", "package_version")
    return {
        "metadata": {key: value for key, value in package.metadata.items() if key not in head},
        "graphs": {kind: [task.id for task in graph.tasks] for kind, graph in contents.graphs.items()},
        "tasks": {task.id: task.attributes for task in own},
        "placed": {task.id: list(task.placement[1]) for task in own},
        "versions": {task.id: task.version for graph in contents.graphs.values() for task in graph.tasks},
        "roles": contents.roles,
        "tags": contents.tags,
        "volumes": contents.volumes,
        "network_roles": list(contents.network_roles),
        "components": list(contents.components),
        "attributes": contents.attributes,
        "files": contents.files,
        "records": [f"{record.os} {record.version}" for record in package.records],
        "scripts": list(package.scripts),
        "directory": plugin_of(package).directory,
    }


@case_files("plugins-loader")
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    assert {"says", "recorded"} <= set(case) <= KEYS
    assert ("expected" in case) != ("refused" in case)
    root = unpacked(case, tmp_path)
    if "refused" in case:
        with pytest.raises(InvalidDocument) as caught:
            load_package(root, shown_as="pkg")
        assert sorted(placed(caught.value.findings)) == sorted(case["refused"]), case["says"]
        return
    reading = read_package(root, shown_as="pkg")
    package = require_usable(reading)
    expected = case["expected"]
    releases = expected.pop("releases", None)
    found = {**outcome(package), "findings": placed((*reading.files.findings, *repeated_ids.check(reading)))}
    assert {key: found[key] for key in expected} == expected, case["says"]
    if releases is not None:
        outcomes = [release_outcome(one) for one in package.releases]
        shown = [{key: one[key] for key in wanted} for one, wanted in zip(outcomes, releases, strict=True)]
        assert shown == releases, case["says"]

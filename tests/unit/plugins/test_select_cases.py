"""Select the content of a package for a release. Each case file has a package, and an answer for each release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from case_files import case_files

from fuelclient.model.package import Selection
from fuelclient.model.release import Release
from fuelclient.plugins import constraints
from fuelclient.plugins.load import load_package
from fuelclient.plugins.select import is_compatible, is_constrained, needs_release, select

HEAD = "name: sample\nversion: 1.2.3\npackage_version: 5.0.0\n"
KEYS = {"says", "recorded", "decision", "metadata", "files", "needs_release", "answers"}


def unpacked(case: Mapping[str, Any], root: Path) -> Path:
    """The package of a case in a directory below `root`."""
    for name, text in {"metadata.yaml": HEAD + case.get("metadata", ""), **case.get("files", {})}.items():
        path = root / "sample" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / "sample"


def outcome(selection: Selection) -> dict[str, Any]:
    """What an answer can ask of a selection."""
    contents, record = selection.contents, selection.record
    own = contents.graphs["default"].tasks
    return {
        "record": f"{record.os} {record.version}" if record else None,
        "tasks": {task.id: task.attributes for task in own},
        "task_ids": [task.id for task in own],
        "graphs": {kind: [task.id for task in graph.tasks] for kind, graph in contents.graphs.items()},
        "roles": list(contents.roles),
        "tags": list(contents.tags),
        "mapping": contents.volumes.get("volumes_roles_mapping"),
        "network_roles": [role["id"] for role in contents.network_roles],
        "network_roles_are": list(contents.network_roles),
        "components": [component["name"] for component in contents.components],
        "components_are": list(contents.components),
        "volumes_are": contents.volumes.get("volumes"),
        "attributes": list(contents.attributes),
        "files": contents.files,
        "why": [sentence.replace("pkg/", "") for sentence in selection.why],
    }


@case_files("plugins-select")
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    assert {"says", "recorded", "needs_release", "answers"} <= set(case) <= KEYS
    package = load_package(unpacked(case, tmp_path), shown_as="pkg")
    assert needs_release(package) is case["needs_release"]
    for answer in case["answers"]:
        system, version = answer.pop("release").split(" ", 1)
        release = Release(1, "sample", version, operating_system=system)
        mode = answer.pop("mode", "")
        assert is_compatible(package, release, mode) is answer.pop("compatible", True), version
        selection = select(package, release)
        assert not is_constrained(selection.contents)
        assert not any(key in role for role in selection.contents.roles.values() for key in constraints.KEYS)
        found = outcome(selection)
        assert {key: found[key] for key in answer} == answer, f"{case['says']} ({version})"

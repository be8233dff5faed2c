"""Packages with one violation of each code: one run reports all of them, word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from valid_packages import RELEASE, write_package

from fuelclient.plugins.checks import check

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "plugins-check"

_BROKEN = """\
- {id: old, type: shell, parameters: {cmd: ./missing.sh}}
- {id: old, type: group, role: [nobody], os-version: about now}
- {id: far, type: shell, version: 2.0.0, groups: [x], requires: [my-neigbour], condition: a < b}
- {id: my-neighbour, type: stage, stage: pre_deployment/-1}
- {id: old, type: stage, os-version: about now, test_pre: 1, requred_for: [x]}
- {id: only-newton, type: stage, os-version: '>=ocata', parameters: {cmd: 1}}
"""


def version_5(directory: Path) -> Path:
    """Everything that can be wrong with a package of version 5 at once."""
    definition = {
        "is_release": True,
        "release_name": "other",
        "version": "x-1",
        "os": "ubuntu",
        "mode": ["ha"],
        "graphs": [{"type": "default", "tasks_path": "graphs/*.yaml"}],
    }
    metadata = {
        "package_version": "5.1.0",
        "fuel_version": ["6.0", "8.0", "8.x"],
        "releases": [
            definition,
            definition,
            {**RELEASE, "deployment_scripts_path": "none", "repository_path": "nowhere", "roles": {}},
        ],
    }
    files = {
        "deployment_tasks.yaml": _BROKEN,
        "tasks.yaml": "- {type: puppet}\n",
        "graphs/a.yaml": "[]\n",
        "graphs/b.yaml": "a: 1\n",
        "node_roles.yaml": "# none\n",
        "volumes.yaml": "volumes: []\nvolumes_roles_mapping: {nobody: [{allocate_size: all, id: b}]}\n",
        "nic_config.yaml": "a: 1\na: 2\n",
        "components.yaml": "a: [\n",
    }
    return write_package(directory / "bad", 5, metadata=metadata, without=["title"], files=files)


def version_4(directory: Path) -> Path:
    """What version 4 alone is checked for."""
    tasks = (
        "- {id: a, type: shell, roles: [x], cross-depends: [{name: b}], parameters: {cmd: x, strategy: {type: X}}}\n"
        "- {id: b, type: shell, version: 2.0.0, groups: [x], parameters: {cmd: x}}\n"
    )
    legacy = "- {role: [x], stage: pre_deployment/1500, type: shell, parameters: {cmd: x, timeout: 1}}\n"
    return write_package(directory / "bad", 4, files={"deployment_tasks.yaml": tasks, "tasks.yaml": legacy})


def version_3(directory: Path) -> Path:
    """A package of version 3 that lacks a file that it has to have, and has one that may not be empty."""
    files = {"deployment_tasks.yaml": None, "tasks.yaml": "# none\n"}
    return write_package(directory / "bad", 3, metadata={"fuel_version": ["6.1"]}, files=files)


@pytest.mark.parametrize("make", [version_5, version_4, version_3])
def test_one_run_tells_all(make: Callable[[Path], Path], tmp_path: Path, renew: bool) -> None:
    found = "".join(f"{finding}\n" for finding in check(make(tmp_path), shown_as="bad"))

    golden = GOLDEN / f"{make.__name__}.txt"
    if renew:
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_every_code_is_among_them() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.txt"))
    numbers = [2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, *range(30, 39), 40, 50, *range(60, 65), 67]
    assert [number for number in numbers if f"[P{number:03}]" not in texts] == []

"""Every recorded vector of planning (N), running (A) and histories (H) has a case file, and a test reads every file.

The file of a vector has its id in its name (`n05`, `a02b`) and says where the answer was recorded.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from failures import failures

CASES = Path(__file__).parent
TESTS = CASES.parent
OLD_GENERATION = {"n21", "n22", "n23", "n24"}
"""Vectors of role-based deployment, which is not built."""

VECTORS = {
    *(f"n{number:02}" for number in range(1, 36)),
    *(f"a{number:02}" for number in range(1, 27)),
    *(f"h{number:02}" for number in range(1, 6)),
} - OLD_GENERATION
_GRAPH_CASES = CASES / "test_graph_cases.py"
_UNIT = TESTS / "unit"
LOADERS = {
    "attempts": CASES / "test_attempt_cases.py",
    "dot": _UNIT / "insight" / "test_dot_cases.py",
    "expand": _GRAPH_CASES,
    "expressions": _UNIT / "expressions" / "test_cases.py",
    "fault-tolerance": _GRAPH_CASES,
    "history": CASES / "test_history_cases.py",
    "master-services": TESTS / "scripted_master.py",
    "merge": _GRAPH_CASES,
    "merge-meta": _GRAPH_CASES,
    "name-match": _GRAPH_CASES,
    "original-client": TESTS / "integration" / "test_original_client.py",
    "original-on-a-master": TESTS / "contract" / "recorded" / "test_original_outputs.py",
    "plan": _UNIT / "plan" / "test_plan_cases.py",
    "plugins-check": _UNIT / "plugins" / "test_check_cases.py",
    "plugins-loader": _UNIT / "plugins" / "test_load_cases.py",
    "plugins-select": _UNIT / "plugins" / "test_select_cases.py",
    "plugins-together": _UNIT / "plugins" / "test_real_packages.py",
    "preview": _GRAPH_CASES,
    "resolve-role": _GRAPH_CASES,
    "runs": CASES / "test_run_cases.py",
    "schedule": _UNIT / "plan" / "test_schedule_cases.py",
    "server": _UNIT / "server" / "test_cases.py",
    "server-story": _UNIT / "server" / "test_story.py",
    "stage-order": _GRAPH_CASES,
    "store": _UNIT / "serializers" / "test_cases.py",
    "validate": _UNIT / "serializers" / "test_cases.py",
    "yaql": _UNIT / "expressions" / "test_yaql_cases.py",
}
"""The test that reads each directory."""

_ID = re.compile(r"(?:^|[a-z_]-)([nah]\d\d)[a-z]?-")


def files() -> dict[str, list[Path]]:
    """The files of each vector."""
    found: dict[str, list[Path]] = {}
    for path in sorted(CASES.glob("*/*.yaml")):
        for vector in _ID.findall(path.stem):
            found.setdefault(vector, []).append(path)
    return found


def test_a_vector_has_a_case_file() -> None:
    def check(vector: str) -> None:
        paths = files().get(vector, [])

        assert paths, f"{vector} has no case file"
        for path in paths:
            case = yaml.safe_load(path.read_text(encoding="utf-8"))
            assert case.get("recorded") or case.get("source"), f"{path.name} does not say where its answer is from"
            assert "expected" in case or case.get("asks"), f"{path.name} expects nothing"

    assert failures(sorted(VECTORS), check) == {}


def test_no_file_names_an_unknown_vector() -> None:
    assert set(files()) == VECTORS


@pytest.mark.parametrize("directory", sorted(LOADERS))
def test_a_directory_is_read_by_its_loader(directory: str) -> None:
    loader = LOADERS[directory].read_text(encoding="utf-8")

    assert '.glob("*.yaml")' in loader
    assert f'"{directory}"' in loader


def test_every_directory_has_a_loader() -> None:
    assert {path.name for path in CASES.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(LOADERS)
    assert not list(CASES.glob("*.yaml"))

"""Every recorded vector of planning (N), running (A) and histories (H) is a case file that some test runs.

A vector's file has its id in its name (`n05`, `a02b`), says where the answer was recorded, and lies in a directory
whose loader is named here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

CASES = Path(__file__).parent
TESTS = CASES.parent
OLD_GENERATION = {"n21", "n22", "n23", "n24"}
"""Vectors of role-based deployment, which is not built."""

VECTORS = {
    *(f"n{number:02}" for number in range(1, 36)),
    *(f"a{number:02}" for number in range(1, 27)),
    *(f"h{number:02}" for number in range(1, 6)),
} - OLD_GENERATION
LOADERS = {
    ".": CASES / "test_graph_cases.py",
    "attempts": CASES / "test_attempt_cases.py",
    "dot": TESTS / "unit" / "insight" / "test_dot_cases.py",
    "expressions": TESTS / "unit" / "expressions" / "test_cases.py",
    "history": CASES / "test_history_cases.py",
    "plan": TESTS / "unit" / "plan" / "test_plan_cases.py",
    "runs": CASES / "test_run_cases.py",
    "schedule": TESTS / "unit" / "plan" / "test_schedule_cases.py",
    "yaql": TESTS / "unit" / "expressions" / "test_yaql_cases.py",
}
_ID = re.compile(r"(?:^|[a-z_]-)([nah]\d\d)[a-z]?-")


def files() -> dict[str, list[Path]]:
    """The files of each vector."""
    found: dict[str, list[Path]] = {}
    for path in sorted(CASES.rglob("*.yaml")):
        if path.parent.name in LOADERS or path.parent == CASES:
            for vector in _ID.findall(path.stem):
                found.setdefault(vector, []).append(path)
    return found


@pytest.mark.parametrize("vector", sorted(VECTORS))
def test_a_vector_has_a_case_file(vector: str) -> None:
    paths = files().get(vector, [])

    assert paths, f"{vector} has no case file"
    for path in paths:
        case = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert case.get("recorded") or case.get("source"), f"{path.name} does not say where its answer is from"
        assert "expected" in case or case.get("asks"), f"{path.name} expects nothing"


def test_no_file_is_of_a_vector_that_is_not_there() -> None:
    assert set(files()) == VECTORS


@pytest.mark.parametrize("directory", sorted(LOADERS))
def test_a_directory_is_read_by_its_loader(directory: str) -> None:
    loader = LOADERS[directory].read_text(encoding="utf-8")

    assert '.glob("*.yaml")' in loader
    assert directory == "." or f'"{directory}"' in loader

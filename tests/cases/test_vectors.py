"""Every recorded vector of planning (N), running (A) and histories (H) has a case file, and a test reads every file.

The file of a vector has its id in its name (`n05`, `a02b`) and says where the answer was recorded.
"""

from __future__ import annotations

import re
from pathlib import Path

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


def test_every_directory_is_read_by_a_test() -> None:
    modules = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    readers = [text for text in modules if "from case_files import" in text]
    directories = {path.parent.name for path in CASES.glob("*/*.yaml")}
    assert {name for name in directories if not any(f'"{name}"' in text for text in readers)} == set()
    assert not list(CASES.glob("*.yaml"))

"""Comments, tests and documents cite only what is in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("benchmarks", "docs", "etc", "fuelclient", "tests", "*.cfg", "*.md", "*.toml", "Makefile")
TEXTS = {".cfg", ".md", ".py", ".rst", ".sh", ".toml", ".yaml", ""}
FILES = sorted(
    path
    for part in PARTS
    for top in ROOT.glob(part)
    for path in (top.rglob("*") if top.is_dir() else (top,))
    if path.is_file() and path.suffix in TEXTS and path != Path(__file__) and "__pycache__" not in path.parts
)
DECISIONS = set(re.findall(r"^### (D\d+)\. ", (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8"), re.M))
DOCUMENTS = {path.name for path in FILES if path.suffix == ".md"}

_DECISION = re.compile(r"\bD\d{1,2}\b")
_DOCUMENT = re.compile(r"[\w-]+\.md\b")
_ABSENT = re.compile(r"\bDESIGN\b|\bHOUSE\b|\bsection \d")
"""How papers are cited that were never in the repository."""

_INDEX = re.compile(r"(py[p]i|python[h]osted|npm[j]s|deb[i]an)[.](org|com)|crates[.]i[o]")
"""Hosts of package indexes: each user's tools know theirs."""


def test_decisions_are_numbered_once() -> None:
    numbers = re.findall(r"^### (D\d+)\. ", (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8"), re.M)

    assert len(numbers) == len(set(numbers)) > 20


@pytest.mark.parametrize("part", sorted({path.relative_to(ROOT).parts[0] for path in FILES}))
def test_citations_lead_somewhere(part: str) -> None:
    wrong = []
    for path in FILES:
        if path.relative_to(ROOT).parts[0] != part:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            cited = [name for name in _DECISION.findall(line) if name not in DECISIONS]
            cited += [name for name in _DOCUMENT.findall(line) if name not in DOCUMENTS]
            cited += _ABSENT.findall(line)
            wrong += [f"{path.relative_to(ROOT)}:{number}: {name}" for name in cited]
    assert wrong == []


def test_no_file_names_the_host_of_a_package_index() -> None:
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in (*FILES, ROOT / "constraints.txt")}

    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if _INDEX.search(text)] == []

"""Every line of contract.yaml, run and matched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import CommandLine

ENTRIES: list[dict[str, Any]] = yaml.load(
    (Path(__file__).parent / "contract.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["run"] for entry in ENTRIES])
def test_what_scripts_rely_on(tiny: CommandLine, tmp_path: Path, entry: dict[str, Any]) -> None:
    for line in entry.get("before", ()):
        tiny.ok(*line.replace("{tmp}", str(tmp_path)).split())
    words = entry["run"].replace("{tmp}", str(tmp_path)).split()
    done = tiny(*words, stdin=entry.get("stdin", ""))
    assert done.code == entry.get("exit", 0), done.err
    for pattern in entry.get("out", ()):
        assert re.search(pattern, done.out, re.MULTILINE), (pattern, done.out)
    if "columns" in entry:
        rule, header = done.out.splitlines()[:2]
        assert set(rule) == {"+", "-"}
        assert cells(header) == entry["columns"]
    if "fields" in entry:
        assert [cells(line)[0] for line in done.out.splitlines()[3:-1]] == entry["fields"]


def test_every_entry_checks_something() -> None:
    assert all(entry.keys() & {"out", "columns", "fields", "exit"} for entry in ENTRIES)

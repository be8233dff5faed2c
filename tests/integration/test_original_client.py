"""The original client, unchanged but for the loader of PyYAML, against our server: recorded conversations again.

A case in `tests/cases/original-client` is a conversation over one engine: command lines of python-fuelclient 11.0.0
with the exit code and the stdout that were recorded against a stand-in of Nailgun, corrected where recordings of a
real master contradict the stand-in (transactions, the spellings of tasks). What is different here stands beside it as
`here` or `exit_here`, with the reason; a difference that has gone is an error, too. A document that is `of_the_moment`
has the recorded keys in their order, and their values but for how far the execution is. `leaves` has files that a step
writes, with a text in each; what it leaves on the server, `then` asks for. Commands that ask the server nothing (usage
errors, files that are not there) are not repeated, nor `plugins install|remove`, which that version does not have. HOME
is the client's directory.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_files import all_cases, case_files

pytest.importorskip("flask", reason="the server comes with the extra [server]")

from command_line import CommandLine
from integration.cached_environments import Absent
from integration.original_client import Original, installed
from integration.recorded_engine import fill
from processes import eventually
from server_process import serving

from fuelclient.backends.local import LocalBackend

PATIENCE = 120.0
_MOMENTARY = ("id", "status", "progress", "message", "time_end")
"""What a document says of an execution that a moment changes, and its id, which counts the parts of others here."""

_VARY = (
    (re.compile(r"(?<=ask with id )\d+"), "N"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?"), "TIME"),
)


@pytest.fixture(scope="session", autouse=True)
def _original_client() -> None:
    try:
        installed()
    except Absent as error:
        pytest.skip(f"the original client cannot be had: {error}")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = tmp_path / "home"
    found.mkdir()
    return found


@pytest.fixture
def original(tmp_path: Path, home: Path) -> Iterator[Original]:
    """The original client of a server over the recorded engine."""
    fill(tmp_path / "engine.db", tmp_path / "packages")
    with serving(tmp_path) as server:
        yield Original(server.url, home)


@pytest.mark.slow
@case_files("original-client")
def test_a_recorded_conversation(case: dict[str, Any], tmp_path: Path, home: Path, original: Original) -> None:
    for name, text in case.get("files", {}).items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("HOME", str(home)), encoding="utf-8")
    fuel2 = CommandLine(tmp_path / "engine.db")
    for step in case["steps"]:
        _wait_for_runs(tmp_path / "engine.db")
        for line in step.get("before", ()):
            fuel2.ok(*shlex.split(line.replace("HOME", str(home))))
        if not step.get("meanwhile"):
            _wait_for_runs(tmp_path / "engine.db")
        said = original(shlex.split(step["run"]))
        assert said.code == step.get("exit_here", step["exit"]), (step["run"], said)
        assert "Traceback" not in said.err or "--debug" in step["run"], said
        _compare(step, said.out.replace(str(home), "/home/user"))
        for name, text in step.get("leaves", {}).items():
            assert text in (home / name).read_text(encoding="utf-8"), (step["run"], name)
        for later in step.get("then", ()):
            _wait_for_runs(tmp_path / "engine.db")
            said = original(shlex.split(later["run"]))
            assert said.code == later["exit"], said
            assert later["has"] in said.out, said
    (home / "end").touch()  # what tasks of a case wait for
    _wait_for_runs(tmp_path / "engine.db")


@pytest.mark.slow
def test_every_difference_has_a_reason() -> None:
    steps = [step for case in all_cases("original-client") for step in case["steps"]]
    differing = [step for step in steps if {"here", "exit_here"} & set(step)]
    assert [step["run"] for step in differing if not step.get("because")] == []
    assert len(steps) > 70
    assert len(differing) == 5


def _wait_for_runs(engine: Path) -> None:
    """Nothing runs any more: one execution at a time is allowed in an environment."""
    backend = LocalBackend(str(engine))
    try:
        assert eventually(lambda: all(one.is_final for one in backend.runs.list()), PATIENCE)
    finally:
        backend.close()


def _compare(step: dict[str, Any], out: str) -> None:
    """stdout is what was recorded, or what the case says in its place."""
    if step.get("of_the_moment"):
        recorded, found = (_document(normal(text)) for text in (step["stdout"], out))
        assert list(found) == list(recorded), step["run"]
        kept = [key for key in recorded if key not in _MOMENTARY]
        assert {key: found[key] for key in kept} == {key: recorded[key] for key in kept}, step["run"]
        return
    if "here" in step:
        assert normal(step["here"]) != normal(step["stdout"]), f"{step['run']}: the difference has gone"
        assert normal(out) == normal(step["here"]), step["run"]
    else:
        assert normal(out) == normal(step["stdout"]), step["run"]


def _document(lines: list[str]) -> dict[str, Any]:
    found = yaml.safe_load("\n".join(lines))
    assert isinstance(found, dict), lines
    return found


def normal(text: str) -> list[str]:
    """The lines of an output without what may differ: ids of executions, times, widths and the order of rows."""
    for pattern, word in _VARY:
        text = pattern.sub(word, text)
    if text.lstrip().startswith("["):
        return sorted(json.dumps(one, sort_keys=True) for one in json.loads(text))
    lines = [_cells(line) for line in text.strip().splitlines()]
    table = [number for number, line in enumerate(lines) if line == "+"]
    if len(table) != 3:
        return lines
    rows = slice(table[1] + 1, table[2])
    return [*lines[: rows.start], *sorted(lines[rows]), *lines[rows.stop :]]


def _cells(line: str) -> str:
    """A line of a table without its widths; any other line as it is."""
    if line.startswith("+-"):
        return "+"
    return "|".join(cell.strip() for cell in line.split("|")) if line.startswith("|") else line.rstrip()


def test_what_is_not_compared() -> None:
    left = "+----+------+\n| id | name |\n+----+------+\n|  2 | b    |\n|  1 | a    |\n+----+------+\n"
    right = "+---+---------+\n| id | name |\n+-----+-------+\n| 1 | a   |\n| 2 |   b |\n+---+-----+\n\n"
    assert normal(left) == normal(right) != normal(right.replace("b", "c"))
    assert normal("Deployment task with id 3 for the environment 1") == normal(
        "Deployment task with id 8 for the environment 1"
    )
    assert normal("environment with id 3") != normal("environment with id 8")

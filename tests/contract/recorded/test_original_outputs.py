"""Commands print what the original client printed on a real master, but for deviations with a reason."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_files import all_cases
from contract.recorded.conftest import OnMaster
from original_outputs import values
from recordings import HOST, Replay, commands
from request_counts import give, same_graph

from fuelclient.commands.exits import Exit

pytestmark = pytest.mark.corpus

READS: list[dict[str, Any]] = [case for group in all_cases("original-on-a-master") for case in group["commands"]]


@pytest.mark.parametrize("case", READS, ids=lambda case: case["run"].removeprefix("fuel2 "))
def test_it_prints_what_the_original_printed(case: dict[str, Any], on_master: OnMaster, tmp_path: Path) -> None:
    recorded = commands()[case["run"]]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    given = case.get("given", {})
    for name, number in given.items():
        give(tmp_path, name, number)
    replay = Replay(*case["lines"]) if "lines" in case else recorded.replay()
    replay.same = same_graph
    done = on_master(replay, *shlex.split(case["run"])[1:])
    assert (done.code == 0) == (recorded.exit == 0), done.err
    if recorded.exit:
        assert done.err.strip() or done.code == Exit.USAGE  # argparse writes to the stream of the process
        return
    sentence = case.get("sentence", "")
    assert recorded.stdout.startswith(sentence)
    assert sentence in done.err
    theirs = values(recorded.stdout.removeprefix(sentence))
    ours = values(done.out.replace(str(tmp_path), "WORKDIR").replace(HOST, "MASTER"))
    differs, more = case.get("differs", []), case.get("more", [])
    if differs == ["rows"]:
        assert len(ours) != len(theirs), "the difference has gone"
        return
    columns = [name for name in differs if name not in recorded.files]
    assert _without(ours, [*columns, *more]) == _without(theirs, columns)
    for name in (*columns, *more):
        assert _column(ours, name) != _column(theirs, name), f"{name}: the difference has gone"
    _compare_files(recorded.files, tmp_path, [*differs, *given])


def test_every_deviation_has_a_reason() -> None:
    deviating = [case for case in READS if {"differs", "more", "sentence"} & set(case)]
    assert [case["run"] for case in deviating if not case.get("because")] == []
    assert [case["run"] for case in READS if case["run"] not in commands()] == []
    assert len(READS) > 45


def _compare_files(recorded: Any, directory: Path, differs: list[str]) -> None:
    """Compare the names of the written files, and what those that were recorded say."""
    written = {str(path.relative_to(directory)): path for path in directory.rglob("*") if path.is_file()}
    assert set(written) - set(differs) == set(recorded) - set(differs)
    for name, text in recorded.items():
        if text is not None:
            same = yaml.safe_load(text) == yaml.safe_load(written[name].read_text(encoding="utf-8"))
            assert same is (name not in differs), name


def _without(document: Any, columns: list[str]) -> Any:
    if isinstance(document, dict):
        return {name: value for name, value in document.items() if name not in columns}
    if isinstance(document, list):
        return sorted((_without(row, columns) for row in document), key=repr)
    return document


def _column(document: Any, name: str) -> Any:
    rows = document if isinstance(document, list) else [document]
    return [row.get(name, "absent") if isinstance(row, dict) else row for row in rows]

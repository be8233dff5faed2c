"""What `tests/cases/master-services` says of the original client is what it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from integration.cached_environments import Absent
from integration.original_client import Original, installed
from scripted_master import CASES, load, prepare, scripted, shown, words, writes, written


@pytest.fixture(scope="session", autouse=True)
def _original_client() -> None:
    try:
        installed()
    except Absent as error:
        pytest.skip(f"the original client cannot be had: {error}")


@pytest.mark.slow
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_original_client_does_what_a_case_says(path: Path, tmp_path: Path) -> None:
    case = load(path)
    prepare(case, tmp_path)
    with scripted(case["master"]) as server:
        original = Original(server.url, tmp_path)
        for step in case["steps"]:
            done = original(words(step))
            assert done.code == step["exit"], (step["run"], done.err)
            assert shown(done.out, tmp_path, server) == step["stdout"].rstrip("\n"), step["run"]
            assert written(tmp_path, step) == step.get("files", {}), step["run"]
            assert writes(server) == step.get("writes", []), step["run"]

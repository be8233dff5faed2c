"""What `tests/cases/master-services` says of the original client is what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import case_files
from integration.cached_environments import Absent
from integration.original_client import Original, installed
from scripted_master import prepare, scripted, shown, words, writes, written


@pytest.fixture(scope="session", autouse=True)
def _original_client() -> None:
    try:
        installed()
    except Absent as error:
        pytest.skip(f"the original client cannot be had: {error}")


@pytest.mark.slow
@case_files("master-services")
def test_the_original_client_does_what_a_case_says(case: dict[str, Any], tmp_path: Path) -> None:
    prepare(case, tmp_path)
    with scripted(case["master"]) as server:
        original = Original(server.url, tmp_path)
        for step in case["steps"]:
            done = original(words(step))
            assert done.code == step["exit"], (step["run"], done.err)
            assert shown(done.out, tmp_path, server) == step["stdout"].rstrip("\n"), step["run"]
            assert written(tmp_path, step) == step.get("files", {}), step["run"]
            assert writes(server) == step.get("writes", []), step["run"]

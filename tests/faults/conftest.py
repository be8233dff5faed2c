from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from executions import Executions, executions, shell


@pytest.fixture
def env(tmp_path: Path) -> Iterator[Executions]:
    """An environment with one node and one task, which prints "here"."""
    env = executions(tmp_path, 1)
    env.graph(shell("said", "echo here"))
    yield env
    env.backend.close()

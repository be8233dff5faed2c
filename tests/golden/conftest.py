"""`fuel2` on an empty engine, and on one with a release, an environment and nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine, tiny_engine


@pytest.fixture
def fuel2(tmp_path: Path) -> CommandLine:
    """A clean engine."""
    return CommandLine(tmp_path / "engine.db")


@pytest.fixture
def tiny(tmp_path: Path) -> CommandLine:
    """Release 1 with a default graph, environment 1 (prod) with a graph of its own, two nodes in it."""
    return tiny_engine(tmp_path)

"""Engines for the terminal UI: one with the packaged examples, made once, and one on which commands run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

from executions import Executions, executions
from tui_driving import demo_engine


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine file."""
    return demo_engine(tmp_path_factory.mktemp("demo"))


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours as on any terminal, and nothing that moves by itself."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Executions]:
    """An engine with three nodes, or as many as the parameter says; what still runs on it at the end is killed."""
    made = executions(tmp_path, getattr(request, "param", 3))
    yield made
    for found in made.backend.runs.list(names=["deploy"]):
        if not found.is_final:
            made.backend.runs.stop(found.id, kill=True)
            made.ended(found.id)
    made.backend.close()

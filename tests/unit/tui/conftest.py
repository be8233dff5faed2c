"""An engine with the packaged examples, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

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

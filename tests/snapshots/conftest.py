"""Engines that pictures are taken of, and a comparison of pictures with those that were looked at."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

from shared import shared
from tui_driving import demo_engine, execute, newton_engine

PICTURES = Path(__file__).parent / "pictures"
DOCS = Path(__file__).parents[2] / "docs"

IN_DOCS = {
    "tui-preview.svg": "examples-preview-140x40",
    "tui-lanes.svg": "examples-lanes-140x40",
    "tui-run.svg": "examples-run-whose-runner-is-gone-140x40",
}
"""The pictures that the documentation shows, by the name of their copy: its readers have no tests at hand."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test that asks for a `copied` picture all of them, with the name of the original."""
    if "copied" in metafunc.fixturenames:
        metafunc.parametrize(("copied", "original"), IN_DOCS.items())


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine with the packaged examples, and runs of them."""
    directory = tmp_path_factory.mktemp("demo")
    shared("demo-executed", lambda made: execute(demo_engine(made)), directory)
    return directory / "demo.db"


@pytest.fixture(scope="session")
def newton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine with newton and three plugins, and runs of it."""
    directory = tmp_path_factory.mktemp("newton")
    shared("newton-executed", lambda made: execute(newton_engine(made), "survey"), directory)
    return directory / "newton.db"


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture
def compare(tmp_path: Path, renew: bool) -> Callable[[str, str], None]:
    """Compare an SVG with the picture of that name. `make renew` writes it instead: look at it before you commit it."""

    def check(name: str, svg: str) -> None:
        steady = re.sub(r"terminal-\d+", "terminal", svg)
        path = PICTURES / f"{name}.svg"
        if renew:
            PICTURES.mkdir(exist_ok=True)
            path.write_text(steady, encoding="utf-8")
            for copied, original in IN_DOCS.items():
                if original == name:
                    (DOCS / copied).write_text(steady, encoding="utf-8")
            return
        assert path.exists(), f"there is no picture of {name} yet: `make renew` takes one"
        if path.read_text(encoding="utf-8") != steady:
            taken = tmp_path / f"{name}.svg"
            taken.write_text(steady, encoding="utf-8")
            pytest.fail(f"{path} differs from {taken}: look at both; `make renew` takes the new one")

    return check

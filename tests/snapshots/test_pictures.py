"""Every screen as a picture: at two sizes on the packaged examples and on newton, and without colours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import textual
from corpus import corpus
from tui_driving import LATER, Driven, connecting, driven

Compare = Callable[[str, str], None]

SIZES = [(80, 24), (140, 40)]

STEPS = {
    "environments": ("0",),
    "roles": ("1", "j"),
    "nodes": ("2",),
    "preview": ("3", *["j"] * 13),
    "instances": ("3", "i"),
    "lanes": ("4",),
    "lanes-of-a-role": ("1", "j", "enter"),
    "browse": ("3", *["j"] * 21, "enter"),
    "why": ("3", *["j"] * 11, "m", *["j"] * 12, "w"),
    "problems": ("6", "j"),
    "plugins": ("7",),
    "history": ("8", "j"),
    "run": ("8", "j", "enter"),
    "run-whose-runner-is-gone": ("8", "enter"),
    "execute": ("A", "e"),
    "stop": ("8", "enter", "A", "x"),
    "help": ("3", "question_mark"),
    "log": ("3", "at"),
}
"""The keys that lead from the environments' first one to each screen."""

APART = ("help", "log", "execute", "stop")
"""Screens that look the same on newton."""

SHOWN = ("preview", "lanes", "run-whose-runner-is-gone")
"""Screens whose wide pictures the documentation shows."""

DENSE = ("roles", "preview", "lanes", "browse", "why", "problems")
"""Screens that newton's graph fills as no example does: the quick tests see them wide on newton."""

UNCOLOURED = ("environments", "preview", "run", "help")
"""Screens of which the quick tests take pictures without colours."""


def _id(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _taken(name: str, size: tuple[int, int], quick: bool) -> object:
    """The quick tests see each screen narrow on the examples, and what newton fills wide on newton."""
    return pytest.param(name, size, id=f"{name}-{_id(size)}", marks=() if quick else pytest.mark.slow)


NARROW, WIDE = SIZES
EXAMPLES = [_taken(name, size, size == NARROW or name in (*APART, *SHOWN)) for name in STEPS for size in SIZES]
NEWTON = [_taken(name, size, size == WIDE and name in DENSE) for name in STEPS if name not in APART for size in SIZES]

pytestmark = pytest.mark.skipif(
    textual.__version__ != "8.2.8", reason=f"pictures were taken with textual 8.2.8, not {textual.__version__}"
)


def picture(engine: Path, name: str, size: tuple[int, int]) -> str:
    """The screen after its keys, as SVG."""

    async def take() -> str:
        async with driven(connecting(engine), size, env=1, clock=lambda: LATER) as one:
            await one.press(*STEPS[name])
            await _nothing_wrong(one)
            return await _steady(one, f"fuel2 {name}")

    return asyncio.run(take())


async def _steady(one: Driven, title: str) -> str:
    """Return a picture that a second one equals: on a busy machine the first may be taken before the last change."""
    before = ""
    for _ in range(50):
        taken = one.ui.export_screenshot(title=title)
        if taken == before:
            break
        before = taken
        await asyncio.sleep(0.02)
        await one.settle()
    return before


async def _nothing_wrong(one: Driven) -> None:
    assert not one.ui.trouble


@pytest.mark.parametrize(("name", "size"), EXAMPLES)
def test_examples(demo: Path, name: str, size: tuple[int, int], compare: Compare) -> None:
    compare(f"examples-{name}-{size[0]}x{size[1]}", picture(demo, name, size))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in UNCOLOURED else pytest.mark.slow) for name in STEPS]
)
def test_without_colours(demo: Path, name: str, compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    compare(f"no-color-{name}-80x24", picture(demo, name, (80, 24)))


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "size"), NEWTON)
def test_newton(
    newton: Path, name: str, size: tuple[int, int], compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus())  # sources are named as seen from there
    compare(f"newton-{name}-{size[0]}x{size[1]}", picture(newton, name, size))


def test_an_engine_without_environments(tmp_path: Path, compare: Compare) -> None:
    async def take() -> str:
        async with driven(connecting(tmp_path / "none.db"), (80, 24)) as one:
            return await _steady(one, "fuel2")

    compare("empty-80x24", asyncio.run(take()))

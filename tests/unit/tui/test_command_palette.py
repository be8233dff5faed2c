"""The palette shows names as they are, whatever they look like."""

from __future__ import annotations

import asyncio
from pathlib import Path

from command_line import CommandLine
from tui_driving import connecting, demo_engine, driven, until

from fuelclient.tui.routes import View

NAMES = ("[/]", "[bold]x[/]", "[$y]", "[/foo]", "\\[z]")


def test_names_that_look_like_markup_are_found_and_shown(tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    fuel2 = CommandLine(engine)
    for name in NAMES:
        fuel2.ok("env", "create", name, "--release", 1)

    async def story() -> None:
        async with driven(connecting(engine), (100, 40)) as one:
            await one.press("colon")
            await one.type("environment")
            await until(lambda: all(f"environment {name}" in one.text() for name in ("demo", *NAMES)))
            assert "environment 3" in one.text()
            await one.type(" [bold]")
            await until(lambda: "[/foo]" not in one.text())
            assert "environment [bold]x[/]" in one.text()
            await one.press("enter")
            await until(lambda: one.ui.trail.here.env == 3)
            assert one.ui.trail.here.view is View.ROLES

    asyncio.run(story())

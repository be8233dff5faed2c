"""A run that stands still after something happened: a filter has seen that all the same."""

from __future__ import annotations

import asyncio

import pytest
from executions import TOLERANT, Executions, shell
from tui_driving import connecting, driven, until

from fuelclient.tui.screens.run import RunScreen


@pytest.mark.parametrize("engine", [1], indirect=True)
def test_the_last_event_before_a_lull_is_seen(engine: Executions) -> None:
    gates = [engine.directory / name for name in ("one", "two")]
    first, second = (f"while [ ! -e {gate} ]; do sleep 0.02; done" for gate in gates)
    engine.graph(TOLERANT, shell("first", first), shell("second", second, requires=["first"]))
    engine.begin()

    async def story() -> None:
        async with driven(connecting(engine.engine), env=1) as one:
            await one.press("8", "enter")
            await one.until("running")
            await one.press("slash", *"status", "colon", *"ready")
            assert isinstance(one.screen, RunScreen)
            table = one.screen.table
            assert len(table.order) == 0
            gates[0].touch()
            await until(lambda: [table.table.ids[row] for row in table.order] == ["first/1"])
            assert one.screen.done == 1  # the run goes on

    asyncio.run(story())

"""What enabling a plugin would change, on the plugins screen."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import pytest
from command_line import CommandLine
from package_trees import MITAKA, write_package
from textual.widgets import Static
from tui_driving import Driven, connecting, demo_engine, driven

from fuelclient.backends.base import Backend
from fuelclient.commands.exits import Exit
from fuelclient.errors import InvalidDocument
from fuelclient.tui.requests import AskEnabling
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.details import Details


def test_it_says_what_the_command_in_the_bar_says(tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    fuel2 = CommandLine(engine)
    fuel2.ok("plugins", "disable", "rack-monitoring", "--env", 1)

    async def story() -> None:
        async with driven(connecting(engine), (200, 50), env=1, notifications=True) as one:
            await one.press("7")
            plugins = fuel2.ok("plugins", "list", "-f", "json").json
            numbers = {plugin["name"]: str(plugin["id"]) for plugin in plugins}
            await one.cursor_to(numbers["image-cache"])
            await one.press("d")
            assert "enabled here" in one.told()
            await one.cursor_to(numbers["rack-monitoring"])
            await one.press("d")
            shown = str(one.screen.query_one(Details).query_one(Static).content)
            line = one.screen.query_one("#line", Bar).text.strip().removeprefix("$ ")
            words = shlex.split(line)
            assert words == ["fuel2", "graph", "diff", "env:1", "--with", f"plugin:{numbers['rack-monitoring']}"]
            assert one.ui.log_lines[-1] == line
            answer = fuel2.ok(*words[1:], "-f", "json").json
            added = [task["task"] for task in answer["tasks"] if task["change"] == "added"]
            assert added
            for task in answer["tasks"]:
                assert task["task"] in shown
            order = answer["order"]
            assert f"{order['orderings_lost']} ordering" in shown
            assert f"{order['orderings_gained']} gained" in shown
            await one.press("d")
            assert one.screen.query_one("#line", Bar).text.strip() == "$ fuel2 plugins list"
            assert fuel2.ok("plugins", "list", "-f", "json").json == plugins

    asyncio.run(story())


def test_a_plugin_that_is_gone_is_said_and_not_asked_for_again(tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    fuel2 = CommandLine(engine)
    fuel2.ok("plugins", "disable", "rack-monitoring", "--env", 1)

    async def story() -> None:
        async with driven(connecting(engine), (200, 50), env=1) as one:
            await one.press("7")
            plugins = fuel2.ok("plugins", "list", "-f", "json").json
            number = next(str(plugin["id"]) for plugin in plugins if plugin["name"] == "rack-monitoring")
            await one.cursor_to(number)
            fuel2.ok("plugins", "remove", number)
            await one.press("d")
            shown = str(one.screen.query_one(Details).query_one(Static).content)
            assert f"plugin {number}" in shown.lower()

    asyncio.run(story())


def test_what_cannot_be_read_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = demo_engine(tmp_path)
    CommandLine(engine).ok("plugins", "disable", "rack-monitoring", "--env", 1)
    asked = []

    def read(request: AskEnabling, backend: Backend) -> object:
        asked.append(request)
        raise InvalidDocument("The package is torn.")

    monkeypatch.setattr(AskEnabling, "read", read)

    async def story() -> None:
        async with driven(connecting(engine), (200, 50), env=1) as one:
            await one.press("7")
            await one.cursor_to(next(one.main.table.ids[row] for row in one.main.order if _is_rack(one, row)))
            for times, key in ((1, "d"), (2, "ctrl+r"), (2, "d"), (3, "d")):
                await one.press(key)
                await asyncio.sleep(0.1)
                await one.settle()
                assert len(asked) == times, key
            assert "torn" in str(one.screen.query_one(Details).query_one(Static).content)

    asyncio.run(story())


def _is_rack(one: Driven, row: int) -> bool:
    return "rack-monitoring" in map(str, one.main.table.rows[row])


def test_plugin_that_cannot_be_enabled_is_refused_everywhere(tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    fuel2 = CommandLine(engine)
    fuel2.ok("plugins", "install", write_package(tmp_path / "other", "other", releases=[MITAKA]))
    plugins = fuel2.ok("plugins", "list", "-f", "json").json
    number = next(str(plugin["id"]) for plugin in plugins if plugin["name"] == "other")
    refused = fuel2("plugins", "enable", number, "--env", 1)
    assert refused.code == Exit.CONFLICT
    assert "P071" in refused.err
    compared = fuel2.ok("graph", "diff", "env:1", "--with", f"plugin:{number}", "-f", "json")
    assert [finding["code"] for finding in compared.json["findings"]] == ["P071"]
    assert "P071" in compared.err
    assert "P071" in fuel2.ok("graph", "preview", "--env", 1, "--with", f"plugin:{number}").err

    async def story() -> None:
        async with driven(connecting(engine), (200, 50), env=1) as one:
            await one.press("7")
            await one.cursor_to(number)
            await one.press("d")
            shown = str(one.screen.query_one(Details).query_one(Static).content)
            assert "cannot be enabled here" in shown
            assert "P071" in shown

    asyncio.run(story())


def test_what_if_turns_off_anywhere_and_on_where_it_applies(tmp_path: Path) -> None:
    engine = demo_engine(tmp_path)
    CommandLine(engine).ok("plugins", "disable", "rack-monitoring", "--env", 1)

    async def story() -> None:
        async with driven(connecting(engine), (200, 50), env=1, notifications=True) as one:
            await one.press("7")
            names = {str(row[1]): name for name, row in zip(one.main.table.ids, one.main.table.rows, strict=True)}
            await one.cursor_to(names["rack-monitoring"])
            await one.press("d")
            assert one.screen.looks().switched
            await one.cursor_to(names["image-cache"])
            await one.press("d")
            assert not one.screen.looks().switched
            assert one.told() == ""
            await one.cursor_to(names["ocata-ubuntu"])
            await one.press("d")
            assert "release" in one.told()
            one.screen.filter_bar.text = "no-such-plugin"
            await one.settle()
            await one.press("d")
            assert "under the cursor" in one.told()
            assert not one.screen.looks().switched

    asyncio.run(story())

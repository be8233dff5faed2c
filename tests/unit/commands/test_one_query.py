"""One language: a text selects the same tasks in commands and in every filter of tasks or instances."""

from __future__ import annotations

import asyncio

import pytest
from command_line import CommandLine
from questioned import questioned_engine
from tui_driving import connecting, driven

from fuelclient.tui.screens.browse import BrowseScreen

TEXTS = (
    "heat",
    "*e*",
    "h*,*t",
    "heat or agent or key*",
    "key*[e]",
    "plugin?:pre_deployment#[12]",
    '"keystone"',
    '"plugin1:pre_deployment#2"',
    "/^(data|cac)/ or *gent",
    "1+keystone+1",
    "+key*",
    "globals..keystone",
    "role:compute",
    'role:compute|"controller",type:shell',
    "layer:cluster|plugin2",
    "state:overridden|added",
    "stage:pre_deployment/>=100",
    "!(*e* or *a*)",
    "not *e* and type:shell",
    "*a* or *e*,role:compute",
    "result:ready,!netconfig+1",
    "netconfig or database,cache+,!agent+1",
)

_OVERRIDE = """
- {id: keystone, parameters: {timeout: 99}}
- {id: heat-api, type: shell, version: 2.1.0, roles: [controller], requires: [heat], required_for: [deploy_end],
   parameters: {cmd: "true"}}
"""
"""An id within another one."""

STAGES = {"pre_deployment_start", "pre_deployment_end", "deploy_start", "deploy_end"}
"""A dry run does not list them."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    made = questioned_engine(tmp_path_factory.mktemp("questioned"))
    made.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=_OVERRIDE)
    made.ok("graph", "execute", "--env", 1, "--executor", "local", "--wait")
    return made


def in_commands(engine: CommandLine, text: str) -> set[str]:
    """Return the tasks that the commands select, all the same."""
    tasks = set(engine.ok("graph", "query", text, "--env", 1).out.split())
    previewed = engine.ok("graph", "preview", "--env", 1, "--select", text, "-f", "json").json
    assert {row["task"] for row in previewed} == tasks
    dry = engine.ok("graph", "execute", "--env", 1, "--select", text, "--dry-run", "--force", "--format", "json").json
    assert {row["task"] for row in dry[0]["instances"] if row["runs"]} == tasks - STAGES
    return tasks


def test_the_same_text_selects_the_same_everywhere(engine: CommandLine) -> None:
    selected = {text: in_commands(engine, text) for text in TEXTS}
    assert all(selected.values())

    async def story() -> None:
        async with driven(connecting(engine.engine), env=1) as one:
            for screen in (("3",), ("i",), ("4",), ("8", "enter")):
                await one.press(*screen)
                of_a_run = screen == ("8", "enter")
                for text in TEXTS[:8] if of_a_run else TEXTS:
                    one.screen.filter_bar.text = text
                    await one.settle()
                    assert {name.rpartition("/" if of_a_run else "@")[0] or name for name in one.ids} == selected[text]
            await one.press("3")
            one.screen.filter_bar.text = ""
            await one.settle()
            await one.cursor_to("deploy_end")
            await one.press("enter", "r")
            assert isinstance(one.screen, BrowseScreen)
            before = set(one.screen.upstream.table.ids)
            for text in TEXTS:
                one.screen.filter_bar.text = text
                await one.settle()
                assert set(one.ids) == selected[text] & before

    asyncio.run(story())


@pytest.mark.parametrize("text", ["keystone heat", "role:compute !netconfig", "(heat or agent) cache"])
@pytest.mark.parametrize(
    "command", [("query",), ("preview", "--select"), ("execute", "--dry-run", "--select"), ("render",)]
)
def test_a_blank_is_refused_by_every_command(engine: CommandLine, command: tuple[str, ...], text: str) -> None:
    done = engine("graph", *command, text, "--env", 1)
    assert (done.code, done.out) == (2, "")
    first, _, second = text.rpartition(" ")
    assert f"  {text}\n  {' ' * (len(first) + 1)}^\n" in done.err
    assert f"Write '{first} or {second}' (either) or '{first},{second}' (both)." in done.err

"""The web page of `graph render`, in a browser: what people do with it, and what a hostile graph cannot do with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, browser, needs_chromium
from command_line import CommandLine
from executions import executions, shell
from questioned import questioned_engine

pytestmark = needs_chromium

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
OVERRIDE = f"""
- {{id: keystone, requires: [database, cache, netconfig], parameters: {{timeout: 99, db_password: s3cr3t}}}}
- id: "{EVIL}"
  type: shell
  version: 2.1.0
  roles: [compute]
  requires: [netconfig]
  parameters: {{cmd: "{EVIL}"}}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    engine: CommandLine = questioned_engine(directory)
    engine.ok("graph", "upload", "--env", 1, "--type", "default", "--file", "-", stdin=OVERRIDE)
    engine.ok("graph", "render", "--env", 1, "--output", directory / "graph.html")
    return directory / "graph.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as driven:
        yield driven


@pytest.fixture
def opened(chromium: Browser, page: Path) -> Browser:
    chromium.open(page)
    chromium.click("document.getElementById('fit')")
    return chromium


def box(task: str) -> str:
    return f"[...document.querySelectorAll('.task')].find(t => t.querySelector('text').textContent === '{task}')"


def names(opened: Browser, selector: str) -> set[str]:
    found = opened.value(f"[...document.querySelectorAll('{selector}')].map(t => t.querySelector('text').textContent)")
    return set(found)


def test_every_task_is_drawn_and_nothing_else_is_asked_for(opened: Browser) -> None:
    assert {"keystone", "agent", "deploy_end", "globals"} < names(opened, ".task")
    asked = [event["params"]["request"] for event in opened.said if event["method"] == "Network.requestWillBeSent"]
    assert [request["url"][-11:] for request in asked] == ["/graph.html"]
    wrong = [event for event in opened.said if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
    assert wrong == []


def test_a_hostile_graph_stays_text(opened: Browser) -> None:
    opened.value(f"({box(EVIL[:15] + '…' + EVIL[-8:])}).dispatchEvent(new MouseEvent('click'))")
    assert EVIL in opened.value("document.getElementById('details').textContent")
    assert opened.value("[document.title, document.scripts.length, document.images.length]") == ["prod: default", 2, 0]
    opened.value("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title=1'}))")
    assert opened.value("document.title") == "prod: default"


def test_hovering_shows_what_comes_before_and_after(opened: Browser) -> None:
    opened.mouse("Moved", *opened.place(box("heat")))
    near = names(opened, ".task.near")
    assert {"globals", "netconfig", "database", "cache", "keystone", "heat", "deploy_end"} <= near
    assert not {"horizon", "agent"} & near


def test_a_click_shows_who_set_what(opened: Browser) -> None:
    opened.click(box("keystone"))
    shown = opened.value("document.getElementById('details').textContent")
    assert "parameters.timeout99cluster" in shown
    assert opened.value("[...document.querySelectorAll('#details .lost')].map(e => e.textContent)").count("60") == 1
    assert "s3cr3t" not in opened.value("document.documentElement.outerHTML")


def test_search_marks_and_centres(opened: Browser) -> None:
    opened.click("document.getElementById('search')")
    opened.write("HEAT")
    assert names(opened, ".task.found") == {"heat"}
    assert opened.value("document.getElementById('found').textContent") == "1/1"
    x, y = opened.place(box("heat"))
    graph = opened.place("document.getElementById('graph')")
    assert (x, y) == pytest.approx(graph, abs=2)


@pytest.mark.parametrize(
    ("filter_", "value", "kept"),
    [
        ("role", "compute", {"agent", "globals", "netconfig"}),
        ("layer", "cluster", {"keystone"}),
        ("stage", "deploy", {"keystone", "agent", "deploy_start"}),
    ],
)
def test_filters(opened: Browser, filter_: str, value: str, kept: set[str]) -> None:
    choice = f"document.getElementById('{filter_}')"
    opened.value(f"{choice}.value = '{value}'")
    opened.value(f"{choice}.dispatchEvent(new Event('change'))")
    left = names(opened, ".task:not(.filtered)")
    assert kept <= left < names(opened, ".task")


def test_wheel_zooms_and_dragging_pans(opened: Browser) -> None:
    x, y = opened.place(box("keystone"))
    before = opened.value(f"({box('keystone')}).getBoundingClientRect().width")
    opened.mouse("Wheel", x, y, deltaX=0, deltaY=-200)
    assert opened.value(f"({box('keystone')}).getBoundingClientRect().width") > before * 1.2
    x, y = opened.place(box("keystone"))
    opened.mouse("Moved", 700, 700)
    opened.mouse("Pressed", 700, 700, button="left")
    opened.mouse("Moved", 730, 740, button="left", buttons=1)
    opened.mouse("Released", 730, 740, button="left")
    assert opened.place(box("keystone")) == pytest.approx((x + 30, y + 40), abs=2)


def test_dark_mode(opened: Browser) -> None:
    light = opened.value("getComputedStyle(document.body).backgroundColor")
    opened.click("document.getElementById('dark')")
    assert opened.value("getComputedStyle(document.body).backgroundColor") != light


def test_a_run_can_be_replayed(chromium: Browser, tmp_path: Path) -> None:
    env = executions(tmp_path)
    env.graph(shell("first"), shell("last", f"{env.met(3)}; false", requires=["first"]))
    env.run("default")
    CommandLine(env.engine).ok("graph", "render", "--env", 1, "--run", 1, "--output", tmp_path / "run.html")
    chromium.open(tmp_path / "run.html")
    assert (names(chromium, ".task.ready"), names(chromium, ".task.error")) == ({"first"}, {"last"})
    assert chromium.value("document.querySelectorAll('#gantt .bar').length") == 6
    assert chromium.value("document.querySelectorAll('#gantt .bar.critical').length") == 2
    chromium.value("document.getElementById('time').value = 0")
    chromium.value("document.getElementById('time').dispatchEvent(new Event('input'))")
    assert (names(chromium, ".task.running"), names(chromium, ".task.pending")) == ({"first"}, {"last"})
    chromium.click("document.querySelector('#gantt .bar.error')")
    assert "last" in chromium.value("document.querySelector('#details h2').textContent")

"""Room and time: what fits on 80 columns, and a garbage garbage that waits for the first frame."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the terminal UI needs textual")

from rich.cells import cell_len
from tui_driving import connecting, demo_engine, driven, execute

from fuelclient.tui.app import resume_garbage_collection, screen_class
from fuelclient.tui.glyphs import UNICODE
from fuelclient.tui.presenters import run
from fuelclient.tui.presenters.table import Column, Table, widths
from fuelclient.tui.routes import View
from fuelclient.tui.run_requests import AskRun, RunState
from fuelclient.tui.widgets.details import Details

_SLASH, _CHIP = 3, 30


@pytest.mark.parametrize("view", View)
def test_what_a_filter_suggests_fits_on_80_columns(view: View) -> None:
    assert 0 < cell_len(screen_class(view).PLACEHOLDER) < 80 - _SLASH - _CHIP


def test_empty_column_without_title_takes_no_room() -> None:
    columns = (Column("id", "#", least=3), Column("sign", "", least=1, most=1), Column("name", "name", grows=True))
    assert widths(Table(columns, [("1", "", "a"), ("2", "", "b")]), 20) == [1, 0, 17]
    assert widths(Table(columns, [("1", "", "a"), ("2", "!", "b")]), 20) == [1, 1, 14]


@pytest.fixture
def held() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("held")
def test_garbage_is_collected_again_once_the_ui_is_there() -> None:
    assert not gc.isenabled()
    before = gc.get_freeze_count()
    resume_garbage_collection()
    assert gc.isenabled()
    assert gc.get_freeze_count() > before
    made_later: list[object] = []
    resume_garbage_collection()
    # What is frozen is no longer listed. Counting would not do: frozen objects may die at any time.
    assert any(thing is made_later for thing in gc.get_objects())


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = demo_engine(tmp_path_factory.mktemp("room"))
    execute(made)
    return made


def test_a_run_lists_its_faults_those_that_failed_first(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = connecting(engine)()
    try:
        run_state = AskRun(3).read(backend)
        assert run.faults(AskRun(1).read(backend), UNICODE) == []
    finally:
        backend.close()
    told = _told(run_state)
    assert told[0] == "4 faults"
    assert [line.split()[1] for line in told[1:]] == ["error", "error", "not", "not"]
    assert told[1] == "✗ error break-something/2  exit code 3: no such volume"
    monkeypatch.setattr(run, "MAX_FAULTS", 1)
    assert _told(run_state)[1:] == [told[1], "Enter opens the run, f shows all of them there."]


def _told(run_state: RunState) -> list[str]:
    return ["".join(map(str, line)) for line in run.faults(run_state, UNICODE)]


async def _why(engine: Path) -> tuple[list[str], list[str]]:
    async with driven(connecting(engine), env=1) as one:
        await one.press("3")
        await one.cursor_to("base-packages")
        await one.press("m")
        await one.cursor_to("cluster-manager")
        await one.press("w")
        texts = []
        for key in ("g", "j"):
            await one.press(key)
            texts.append(str(one.screen.query_one("#both", Details).query_one("Static").render()).splitlines())
        return texts[0], texts[1]


def test_why_shows_both_tasks_of_the_edge_under_the_cursor(engine: Path) -> None:
    first, second = asyncio.run(_why(engine))
    assert first[0].startswith("base-packages@")
    assert any(line.startswith("host-network@") for line in first)
    assert "~ type: shell  cluster" in first
    assert second[0].startswith("host-network@")
    assert any(line.startswith("cluster-manager@") for line in second)

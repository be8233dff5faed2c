"""Long runs, which are read in parts: they show what they would show if they were read as a whole."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from executions import TOLERANT, Executions, shell, stage
from tui_driving import Driven, connecting, driven, until

from fuelclient.backends.base import Backend
from fuelclient.insight.progress import parse_time
from fuelclient.insight.query import parse
from fuelclient.tui import run_requests
from fuelclient.tui.gateway import KEPT, Gateway, Job
from fuelclient.tui.glyphs import UNICODE
from fuelclient.tui.presenters import run
from fuelclient.tui.presenters.table import Table, widths
from fuelclient.tui.run_requests import AskColumn, AskPage, AskRun, Column, LongRun, RunState
from fuelclient.tui.screens.environments import HistoryScreen
from fuelclient.tui.screens.run import RunScreen
from fuelclient.tui.widgets.virtual_table import VirtualTable

NOW = parse_time("2030-01-01T00:00:00")
NAMES = {1: "b", 2: "a"}
QUERIES = ("a", "!a", "status:error", "status=ready or node:b", "node:sync", "type:shell", "message:before")
TIMES = ("took:1:02", "!took:1:01", "task=after, !node=1")


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run that has ended is long, and its pages are short."""
    monkeypatch.setattr(run_requests, "MOST_WHOLE", 0)
    monkeypatch.setattr(run_requests, "PAGE", 3)


@pytest.fixture
def failed(engine: Executions) -> int:
    """A run of two graphs, the second of which fails; its id."""
    engine.graph(
        TOLERANT, stage("begin"), shell("a", requires=["begin"]), shell("b", condition=False), graph_type="one"
    )
    engine.graph(
        TOLERANT,
        stage("begin"),
        shell("a", "exit 3", requires=["begin"]),
        shell("after", requires=["a"]),
        shell("nowhere", roles=["storage"]),
        graph_type="two",
    )
    found = engine.run("one", "two", node_ids=(1, 2)).id
    with closing(sqlite3.connect(engine.engine)) as connection, connection:
        connection.execute(  # 62.2 seconds, or 61.8
            "UPDATE history SET time_start = '2026-01-02T03:04:05.9', time_end = CASE vertex % 2"
            " WHEN 1 THEN '2026-01-02T03:05:08.1' ELSE '2026-01-02T03:05:07.7' END WHERE time_start <> time_end"
        )
    return found


def both(engine: Executions, run_id: int, monkeypatch: pytest.MonkeyPatch) -> tuple[RunState, LongRun]:
    """A run as a whole, and in parts."""
    with monkeypatch.context() as whole:
        whole.setattr(run_requests, "MOST_WHOLE", 1000)
        state = AskRun(run_id).read(engine.backend)
    long = AskRun(run_id).read(engine.backend)
    assert isinstance(long, LongRun)
    long.ask = lambda request: request.read(engine.backend)
    assert long.arrived() == (True, True)
    return state, long


def tables(*states: RunState, only: bool = False) -> list[run.Instances]:
    return [run.Instances(state, UNICODE, NAMES, NOW, state.faults() if only else None) for state in states]


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("only", [False, True])
def test_rows_filters_and_orders(engine: Executions, failed: int, only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, long = tables(*both(engine, failed, monkeypatch), only=only)
    assert [*long.rows] == [*whole.rows]
    assert [*long.ids] == [*whole.ids]
    for text in (*QUERIES, *TIMES):
        query = parse(text, whole.keys)
        assert [*long.select(query)] == [*whole.select(query)], text
    everything, plain = range(len(whole)), Table(whole.columns, [*whole.rows])
    for column in range(len(whole.keys)):
        for descending in (False, True):
            wanted = plain.sorted(everything, column, descending=descending)
            for table in (whole, long):
                assert table.sorted(everything, column, descending=descending) == wanted, (column, descending)


@pytest.mark.usefixtures("parts")
def test_matrix_details_and_faults(engine: Executions, failed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, long = both(engine, failed, monkeypatch)
    grids = [run.Grid(state, UNICODE, NAMES) for state in (whole, long)]
    drawn = [
        [
            (grid.label(line), grid.share(line), [grid.cell(line, column) for column in range(len(grid.columns))])
            for line in range(len(grid.lines))
        ]
        for grid in grids
    ]
    assert drawn[0] == drawn[1]
    assert whole.nowhere == long.nowhere == 1
    for number in range(len(whole)):
        key, name = whole.key(number), whole.name(number)
        assert key is not None
        assert (long.key(number), long.cells.find(key)) == (key, number)
        assert long.cells.find(name) == whole.cells.find(name) <= number
        assert run.detail(long, number, NAMES, NOW, UNICODE) == run.detail(whole, number, NAMES, NOW, UNICODE)
    assert run.about(long, NOW, UNICODE) == run.about(whole, NOW, UNICODE)
    assert run.bar(long, NOW, 100, UNICODE) == run.bar(whole, NOW, 100, UNICODE)
    assert run.counts(long, UNICODE) == run.counts(whole, UNICODE)
    assert run.faults(long, UNICODE) == run.faults(whole, UNICODE) != []
    assert all(long.first(word) == whole.first(word) for word in long.progress.counts)


@pytest.mark.usefixtures("parts")
def test_only_shown_pages_are_read(engine: Executions, failed: int) -> None:
    long = AskRun(failed).read(engine.backend)
    assert isinstance(long, LongRun)
    shown = long.at_hand()
    assert long.part(shown[0]) is not None
    before = set(long.missing)
    other = 0 if shown[0] else len(long) - 1
    assert long.part(other) is None
    (request,) = long.missing - before
    assert isinstance(request, AskPage)
    rows, number = request.read(engine.backend), other - request.start
    assert len(rows) <= 3
    assert rows.name(number) == ("begin" if other == 0 else "after/2")


@pytest.mark.usefixtures("parts")
def test_filter_waits_only_for_what_it_reads(engine: Executions, failed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, long = both(engine, failed, monkeypatch)
    (table,) = tables(long)
    long.ask = lambda request: None if isinstance(request, AskColumn) else request.read(engine.backend)
    assert (list(table.select(parse("message:code", table.keys))), table.waits) == ([], True)
    assert (len(table.select(parse("task=a", table.keys))), table.waits) == (4, False)
    assert (list(table.select(parse("took:1, type:shell", table.keys))), table.waits) == ([], True)
    assert (len(table.select(parse("", table.keys))), table.waits) == (len(long), False)


@pytest.mark.usefixtures("parts")
def test_matrix_needs_no_cache(engine: Executions, failed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, long = both(engine, failed, monkeypatch)
    grid = run.Grid(long, UNICODE, NAMES)
    long.ask = lambda _: None
    assert all(grid.cell(*place) for number in range(len(long)) if (place := grid.position(number)))


@pytest.mark.usefixtures("parts")
def test_columns_are_wide_enough_for_other_pages(
    engine: Executions, failed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_requests, "PAGE", 1)
    whole, long = both(engine, failed, monkeypatch)
    found = [widths(table, 200) for table in tables(whole, long)]
    assert [least <= width for least, width in zip(*(each[:4] for each in found), strict=True)] == [True] * 4


def test_a_screen_of_sorted_rows_fits_into_the_cache() -> None:
    assert KEPT[AskPage] >= 300


def long_ones(engine: Executions, run_id: int) -> list[int]:
    """The instances that took 62 seconds."""
    return [number for number, row in enumerate(engine.rows(run_id)) if (row.time_end or "").endswith("08.1")]


@pytest.mark.usefixtures("parts")
def test_keys_on_the_screen_of_a_long_run(engine: Executions, failed: int) -> None:
    async def story(one: Driven) -> None:
        await one.press("8")
        await one.until("4 faults", "a task before it failed: a@1")
        assert isinstance(one.screen, HistoryScreen)
        await one.press("tab", "s", "s", "s", "s", "shift+s")
        assert one.screen.instances.sorting.startswith("took")
        await until(lambda: one.screen.query_one("#instances", VirtualTable).order[0] in long_ones(engine, failed))
        await one.press("shift+tab", "enter")
        await until(lambda: isinstance(one.screen, RunScreen) and one.screen.filled)
        assert one.screen.name_here() == "a/1"
        await one.until("exit code 3", "sync points")
        await one.press("slash")
        await one.type("status:error")
        await one.press("enter")
        await until(lambda: sorted(one.ids) == ["a/1", "a/2"])
        await one.press("j")
        await one.press("escape")
        await until(lambda: len(one.ids) == len(one.main.table))
        assert one.screen.name_here() == "a/2"
        await one.press("f")
        await until(lambda: sorted(one.ids) == ["a/1", "a/2", "after/1", "after/2"])
        assert one.screen.name_here() == "a/2"
        await one.press("f", "left_square_bracket", "right_square_bracket")
        await until(lambda: one.screen.filled and one.screen.name_here() == "a/2")
        await one.press("y")
        assert one.ui.clipboard == "a/2"
        await one.press("tab", "s", "s", "s", "s")
        await until(lambda: one.main.sorting.startswith("took"), 5)
        await until(lambda: not one.ui.gateway.pending, 5)
        assert one.screen.name_here() == "a/2"

    tell(engine, story)


@pytest.mark.usefixtures("parts", "failed")
def test_each_column_is_read_once(engine: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    read = AskColumn.read

    def reading(self: AskColumn, backend: Backend) -> Column:
        names.append(self.name)
        return read(self, backend)

    monkeypatch.setattr(AskColumn, "read", reading)

    async def story(one: Driven) -> None:
        await one.press("8", "enter", "tab", *"ssss")
        one.screen.filter_bar.text = "type:shell or took:0 or message:code"
        await until(lambda: "type" in names and not one.ui.gateway.pending, 10)
        await one.settle()
        assert sorted(names) == ["message", "took", "type"]

    tell(engine, story)


@pytest.mark.usefixtures("parts", "failed")
def test_log_is_not_read_again_for_rows_that_arrive(engine: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    ask = Gateway.ask

    def asking(self: Gateway, job: Job) -> None:
        asked.append(job)
        ask(self, job)

    async def story(one: Driven) -> None:
        await one.press("8", "enter")
        await one.until("exit code 3")
        monkeypatch.setattr(Gateway, "ask", asking)
        await read_again(one, one.main)
        assert {type(job) for job in asked} == {AskPage}

    tell(engine, story)


@pytest.mark.usefixtures("parts", "failed")
def test_nothing_is_said_of_a_log_before_its_row_is_read(engine: Executions) -> None:
    async def story(one: Driven) -> None:
        await one.press("8", "enter")
        await one.until("exit code 3")
        assert isinstance(one.screen, RunScreen)
        one.screen._run_state.ask = lambda _: None
        one.screen.number = len(one.main.table) - 1
        one.screen._show_instance()
        await one.settle()
        assert "Reading ..." in one.text()
        assert "It printed nothing." not in one.text()

    tell(engine, story)


@pytest.mark.usefixtures("parts", "failed")
def test_rows_that_arrive_do_not_order_the_list_again(engine: Executions, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[int] = []

    def counting(self: run.Instances, *arguments: Any, **options: Any) -> list[int]:
        orders.append(len(self))
        return Table.sorted(self, *arguments, **options)

    monkeypatch.setattr(run.Instances, "sorted", counting)

    async def story(one: Driven) -> None:
        await one.press("8", "tab", "s")
        before = len(orders)
        assert before
        await read_again(one, one.screen.query_one("#instances", VirtualTable))
        assert len(orders) == before

    tell(engine, story)


async def read_again(one: Driven, table: VirtualTable) -> None:
    """Let the rows of a table be read again."""
    answers = one.ui.gateway.answers
    pages = [request for request in answers._answers if isinstance(request, AskPage)]
    for page in pages:
        answers.drop(page)
    table.refresh()
    await until(lambda: not one.ui.gateway.pending and any(page in answers for page in pages), 10)
    await one.settle()


def tell(engine: Executions, story: Callable[[Driven], Coroutine[Any, Any, None]]) -> None:
    async def told() -> None:
        async with driven(connecting(Path(engine.engine)), (140, 40), env=1, drawn=True) as one:
            await story(one)

    asyncio.run(told())


@pytest.mark.usefixtures("parts")
def test_cursor_stays_on_its_instance_when_a_live_run_becomes_a_long_one(engine: Executions) -> None:
    gate = engine.directory / "gate"
    waiting = shell("gate", f"while [ ! -e {gate} ]; do sleep 0.02; done", requires=["first"])
    engine.graph(TOLERANT, shell("first"), waiting, shell("last", requires=["gate"]))
    begun = engine.begin(node_ids=(1, 2))

    async def told() -> None:
        async with driven(connecting(Path(engine.engine)), (140, 40), env=1) as one:
            await one.press("8", "enter")
            await one.until("▶ 2 running")
            assert isinstance(one.screen, RunScreen)
            await one.cursor_to("first/2")
            assert one.screen.name_here() == "first/2"
            gate.touch()
            await one.until("✓ 6 ready", "6/6  ✓ ready  took")
            await until(lambda: one.screen.filled and not one.ui.gateway.pending)
            await one.settle()
            assert isinstance(one.ui.gateway.answers.get(AskRun(begun.id)), LongRun)
            assert one.screen.name_here() == "first/2"
            assert one.main.table.ids[one.main.row] == "first/2"

    asyncio.run(told())

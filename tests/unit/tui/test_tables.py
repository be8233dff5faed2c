"""Tables as data: widths that fit, sorting, queries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fuelclient.insight.query import parse
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone, Value, widths

COLUMNS = (
    Column("id", "#", least=3, right=True),
    Column("name", "name", least=8, most=20, grows=True),
    Column("type", "type", least=6, rank=1),
    Column("where", "where", least=10, rank=2),
)
ROWS: list[tuple[Value, ...]] = [
    ("1", "alpha", "shell", "node-1"),
    ("10", Cell("beta", Tone.ACCENT), "puppet", ""),
    ("9", "gamma", "", "x" * 30),
]


def test_columns_of_the_highest_rank_go_first() -> None:
    table = Table(COLUMNS, ROWS)
    assert all(widths(table, 120))
    assert [bool(width) for width in widths(table, 24)] == [True, True, True, False]
    assert [bool(width) for width in widths(table, 16)] == [True, True, False, False]


@given(st.integers(13, 200))
def test_what_is_shown_fits_and_fills(available: int) -> None:
    shown = [width for width in widths(Table(COLUMNS, ROWS), available) if width]
    assert sum(shown) + 2 * (len(shown) - 1) == available


def test_numbers_sort_by_value_and_blanks_go_last() -> None:
    table = Table(COLUMNS, ROWS)
    assert table.sorted(range(3), 0, descending=False) == [0, 2, 1]
    assert table.sorted(range(3), 2, descending=False) == [1, 0, 2]
    assert table.sorted(range(3), 2, descending=True) == [0, 1, 2]


def test_queries_see_text_and_fields() -> None:
    table = Table(COLUMNS, ROWS)
    assert table.select(parse("BETA", table.keys)) == [1]
    assert table.select(parse("type:pup", table.keys)) == [1]
    assert table.select(parse("!type:pup", table.keys)) == [0, 2]
    assert table.select(parse("a !gamma", table.keys)) == [0, 1]
    assert table.select(parse("alpha", table.keys).inverted()) == [1, 2]
    assert [*table.select(parse("type:", table.keys))] == [0, 1, 2]
    assert table.select(parse("*a", table.keys)) == [0, 1, 2], "a glob matches a whole column"
    assert table.select(parse("?eta or type:shell", table.keys)) == [0, 1]
    assert table.select(parse("!(alpha or puppet)", table.keys)) == [2]
    assert table.select(parse("type:shell|pup where:node", table.keys)) == [0]
    assert table.select(parse('"node-1"', table.keys)) == [0]
    assert table.select(parse('"node-"', table.keys)) == []

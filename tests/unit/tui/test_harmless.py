"""Names and messages of others reach the terminal without anything that it would obey."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
from pathlib import Path

import pytest
from command_line import tiny_engine
from rich.segment import Segment
from textual.color import Color
from tui_driving import Driven, connecting, driven, until

from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.errors import Conflict
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.table import Cell, Column, Table, Tone, widths
from fuelclient.tui.terminal import NoControlCodes
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.details import content
from fuelclient.tui.widgets.virtual_table import ending

EVIL = "esc\x1b[31mred\x1b]0;PWNED\x07\x9b2J\u202e"
"""A colour, a window title, a sequence of the eight-bit kind, and letters the other way round."""

OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """An engine as a colleague's older version may have left it: an environment and a node have such names."""
    fuel2 = tiny_engine(tmp_path)
    with contextlib.closing(sqlite3.connect(fuel2.engine)) as connection, connection:
        connection.execute("UPDATE clusters SET name = ?", (EVIL,))
        connection.execute("UPDATE nodes SET name = ? || id", (EVIL,))
    return fuel2.engine


def drawn(one: Driven) -> str:
    """What the screen shows, which is checked to be harmless."""
    text = one.text()
    assert not OBEYED.search(text.replace("\n", "")), ascii(text)
    return text


def test_screens_dialogs_and_notes(engine: Path) -> None:
    async def story() -> None:
        async with driven(connecting(engine), notifications=True) as one:
            assert r"esc\x1b[31mred" in drawn(one)
            await one.press("enter")
            for key in "12345678":
                await one.press(key)
                assert r"esc\x1b[31mred" in drawn(one)
            await one.press("2")
            assert r"esc\x1b[31mred\x1b]0;PWNED\x07\x9b2J\u202e1" in drawn(one)
            await one.press("3", "i", "A", "e")
            assert "PWNED" in drawn(one)
            await one.press("escape", "question_mark", "escape", "at", "escape", "colon")
            await one.type("esc")
            await one.until("PWNED")
            drawn(one)
            one.ui.notify(EVIL, title=EVIL, markup=False)
            await until(lambda: one.text().count("PWNED") > 1)
            drawn(one)

    asyncio.run(story())


class _Refusing(LocalBackend):
    """An engine whose master answers with what a terminal would obey."""

    def __getattribute__(self, name: str) -> object:
        if name == "graphs":
            raise Conflict(f"boom {EVIL}")
        return object.__getattribute__(self, name)


def test_what_a_backend_answers(engine: Path) -> None:
    def connect() -> Backend:
        return _Refusing(str(engine))

    async def story() -> None:
        async with driven(connect, env=1) as one:
            await until(lambda: r"boom esc\x1b[31mred" in one.text())
            assert drawn(one).count("boom") == 2

    asyncio.run(story())


def test_the_gate_keeps_the_width_of_a_line() -> None:
    before = [Segment("日本\x1b[2J語"), Segment("plain"), Segment("\u202eab\t")]
    after = NoControlCodes().apply(before, Color(0, 0, 0))
    assert [segment.text for segment in after] == ["日本[2J語", "plain", "ab"]
    assert sum(map(Segment.get_line_length, [after])) == sum(map(Segment.get_line_length, [before]))
    plain = [Segment("nothing to do")]
    assert NoControlCodes().apply(plain, Color(0, 0, 0)) is plain


def test_escapes_are_counted_where_there_is_room_for_them() -> None:
    table = Table((Column("name", "name"),), [("a\x1bb",)])
    assert widths(table, 80) == [6]
    assert str(content([(Cell("a\x1bb", Tone.BAD), "\tc"), ("d\x9b",)])) == "a\\x1bb\tc\nd\\x9b"
    bar = Bar()
    bar.show([Part("a\nb\x1b")])
    assert bar.text.strip() == "a b\\x1b"


def test_the_end_of_a_text_is_cut_by_its_width() -> None:
    assert ending("日本語", 4) == "本語"
    assert ending("日本語", 3) == "語"
    assert ending("abc", 9) == "abc"
    assert ending("abc", 0) == ""

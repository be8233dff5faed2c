"""Random keys, clicks, wheels and resizes for the terminal UI, in bursts as a terminal delivers them."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.keys import _character_to_key
from tui_driving import Driven

from fuelclient.tui.app import FuelUI, screen_class
from fuelclient.tui.routes import View
from fuelclient.tui.screens.base import ViewScreen
from fuelclient.tui.screens.dialogs import ActionDialog, ReadDialog
from fuelclient.tui.widgets.virtual_table import VirtualTable

SIZES = ((140, 40), (80, 24), (40, 12), (200, 60), (10, 4))
"""Columns and rows."""

_LEAVING = {"q", "ctrl+c", "ctrl+q", "ctrl+z"}
"""Keys that end or suspend the UI, as they should."""

_ANYWHERE = (
    "enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "pageup", "pagedown", "home", "end", "f1",
    "backspace", "delete", "ctrl+a", "ctrl+e", "ctrl+k", "ctrl+p", "ctrl+u", "ctrl+w", "ctrl+y",
)  # fmt: skip
_OFTEN = ("colon", "escape", "enter", "question_mark", "at", "A", "e", "slash", "i")
"""Keys that open and close what lies over a screen."""

_MOST_IN_A_BURST = 6


def _keys() -> list[str]:
    """Return the keys that something is bound to, those that move and edit, and printable ones."""
    places: tuple[type, ...] = (FuelUI, ViewScreen, VirtualTable, ReadDialog, ActionDialog, *map(screen_class, View))
    bound = {
        key
        for place in places
        for binding in place.__dict__.get("BINDINGS", ())
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }
    typed = {_character_to_key(letter) for letter in string.ascii_letters + string.punctuation}
    return sorted(bound.union(_ANYWHERE, typed) - _LEAVING)


def bursts(chance: random.Random) -> Iterator[list[events.Event]]:
    """Yield what a terminal delivers at once, without end. A click is two events, as on a terminal."""
    keys, (columns, rows) = _keys(), SIZES[0]
    while True:
        burst: list[events.Event] = []
        for _ in range(chance.randint(1, _MOST_IN_A_BURST)):
            kind = chance.random()
            if kind < 0.002:
                columns, rows = chance.choice(SIZES)
                burst.append(events.Resize(Size(columns, rows), Size(columns, rows)))
            elif kind < 0.3:
                at = chance.randrange(columns), chance.randrange(rows)
                burst += [_mouse(pressed, *at) for pressed in (events.MouseDown, events.MouseUp)]
            elif kind < 0.33:
                wheel = chance.choice((events.MouseScrollDown, events.MouseScrollUp, events.MouseMove))
                burst.append(_mouse(wheel, chance.randrange(columns), chance.randrange(rows)))
            else:
                key = chance.choice(_OFTEN if kind < 0.55 else keys)
                burst.append(events.Key(key, key if len(key) == 1 else None))
        yield burst


def _mouse(kind: type[events.MouseEvent], x: int, y: int) -> events.MouseEvent:
    return kind(None, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False)


async def throw(one: Driven, chance: random.Random, number: int) -> list[str]:
    """Let `number` random events happen, and return what the last of them were if the UI ended."""
    done: list[str] = []
    for burst in bursts(chance):
        for event in burst:
            done.append(event.key if isinstance(event, events.Key) else repr(event))
            if isinstance(event, events.Resize):
                one.ui._driver._size = event.size  # type: ignore[union-attr]
            one.ui.post_message(event)
        await one.pilot.pause()
        if one.ui._exit or one.ui._exception or one.ui.return_code:
            return done[-40:]
        if len(done) >= number:
            return []
    raise AssertionError("bursts have no end")

"""Typing ahead: keys that come while a screen is being built, or filled, wait for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from textual import on
from textual.app import App
from textual.events import Event, Key
from textual.message import Message
from textual.widget import Widget

LONGEST = 3.0
"""Seconds that a key waits at most; then it goes to whatever is there."""

_ROUNDS = 2
"""How often a message follows a key once more: an action, a message of it, and one that follows from that."""

_SOON = 0.01
"""Seconds between two looks at whether a key still has to wait."""

AT_ONCE = frozenset(
    {"q", "left_square_bracket", "right_square_bracket", "backspace", "question_mark", "at", "colon", "escape",
     "ctrl+r", "ctrl+c", "ctrl+q", *"012345678"}
)  # fmt: skip
"""The keys that make sense on a screen that is not filled yet, if none waits before them."""


class TypeAhead:
    """Keys that wait, in their order.

    A screen is *built* once one of its widgets has the focus: before that a key would go to nobody. It is *filled*
    once its data is there: before that a cursor would have nothing to move over. `now` is a clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._held: deque[Key] = deque()
        self._since = 0.0

    def entered(self) -> None:
        """Another screen is being built."""
        self._since = self._now()

    def holds(self, event: Key, *, built: bool, filled: bool) -> bool:
        """Keep a key for later, if its time has not come; False when it is to be handled now."""
        if self.is_due(built=built, filled=filled) and not self._held:
            return False
        if built and not self._held and event.key in AT_ONCE:
            return False
        self.hold(event)
        return True

    def hold(self, event: Key) -> None:
        """Keep a key for later."""
        self._held.append(event)

    def is_due(self, *, built: bool, filled: bool) -> bool:
        """Whether keys need not wait any longer."""
        return (built and filled) or self._now() - self._since > LONGEST

    def next(self, *, built: bool, filled: bool) -> Key | None:
        """The first key that waited, if its time has come."""
        return self._held.popleft() if self._held and self.is_due(built=built, filled=filled) else None

    def __len__(self) -> int:
        return len(self._held)


@dataclass
class Handled(Message):
    """A key has been handled by a widget, and by everybody above it; sent `rounds` times more for what followed."""

    widget: Widget
    rounds: int


class PatientApp(App[None]):
    """An app whose keys wait for the screen that they were meant for.

    A key is handled in steps: the widget that has the focus gets it, an action may follow, which tells the screen,
    which goes elsewhere. All of that are messages, so the next key would overtake them. It waits until a message that
    was sent after the key has come up the same way, some times over.
    """

    def __init__(self) -> None:
        super().__init__()
        self.typed = TypeAhead(time.monotonic)
        self._busy: Widget | None = None

    def is_built(self) -> bool:
        """Whether something on the screen has the focus."""
        raise NotImplementedError

    def is_filled(self) -> bool:
        """Whether the screen shows what it is about."""
        raise NotImplementedError

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key) or event.is_forwarded:
            await super().on_event(event)
        elif self._is_busy() or self.typed.holds(event, built=self.is_built(), filled=self.is_filled()):
            if self._is_busy():
                self.typed.hold(event)
            self.set_timer(_SOON, self._type_on)
        else:
            await self._type(event)

    def _is_busy(self) -> bool:
        """Whether the last key is still being handled, by a widget that still is there."""
        return self._busy is not None and self._busy is self.screen.focused and self._busy.is_attached

    async def _type(self, event: Key) -> None:
        widget = self.screen.focused
        await super().on_event(event)
        if widget is not None and widget is self.screen.focused:
            self._busy = widget
            widget.post_message(Handled(widget, _ROUNDS))

    @on(Handled)
    def _handled(self, message: Handled) -> None:
        message.stop()
        if message.rounds and message.widget is self._busy:
            message.widget.post_message(Handled(message.widget, message.rounds - 1))
        elif message.widget is self._busy:
            self._busy = None

    async def _type_on(self) -> None:
        """Handle the keys that waited, until one of them leads to where the next has to wait again."""
        if not self._is_busy():
            event = self.typed.next(built=self.is_built(), filled=self.is_filled())
            if event is not None:
                await self._type(event)
        if self.typed:
            self.set_timer(_SOON, self._type_on)

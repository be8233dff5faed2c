"""Keep keys that come while a screen is being built or filled, until it can take them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from textual import on
from textual.events import Event, Key
from textual.message import Message
from textual.widget import Widget

from fuelclient.tui.terminal import EndableApp

LONGEST = 3.0
"""Seconds that a key waits at most; then it goes to whatever is on the screen."""

_STUCK = 1.0
"""Seconds after which Escape drops the keys that wait: the user wants out."""

_ROUNDS = 2
"""How often another message follows a key: for its action, for a message of that, and for one that follows."""

_SOON = 0.01
"""Seconds between two looks at whether a key still has to wait."""

AT_ONCE = frozenset(
    {"q", "left_square_bracket", "right_square_bracket", "backspace", "question_mark", "at", "colon", "escape",
     "ctrl+r", *"012345678"}
)  # fmt: skip
"""The keys that make sense on a screen that is not filled yet, if no other key waits."""

NEVER_HELD = frozenset({"ctrl+c", "ctrl+q", "ctrl+z"})
"""The keys that never wait: they leave."""


class TypeAhead:
    """Keys that wait, in their order.

    A screen is *built* once one of its widgets has the focus: before that no widget would get a key. It is *filled*
    once it has its data: before that a cursor has no rows to move over. `now` is a clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._held: deque[tuple[float, Key]] = deque()
        self._since = 0.0

    def entered(self) -> None:
        """Note that another screen is being built."""
        self._since = self._now()

    def holds(self, event: Key, *, built: bool, filled: bool) -> bool:
        """Keep a key for later if it has to wait; return False if it is to be handled now."""
        if self.is_due(built=built, filled=filled) and not self._held:
            return False
        if built and not self._held and event.key in AT_ONCE:
            return False
        self.hold(event)
        return True

    def hold(self, event: Key) -> None:
        """Keep a key for later."""
        self._held.append((self._now(), event))

    def is_stuck(self) -> bool:
        """Return whether keys have waited for a long time."""
        return bool(self._held) and self._now() - self._held[0][0] > _STUCK

    def drop(self) -> None:
        """Forget the keys that wait."""
        self._held.clear()

    def is_due(self, *, built: bool, filled: bool) -> bool:
        """Return whether keys need not wait any longer."""
        return (built and filled) or self._now() - self._since > LONGEST

    def next(self, *, built: bool, filled: bool) -> Key | None:
        """Return the first key that waited, if it need not wait any longer."""
        return self._held.popleft()[1] if self._held and self.is_due(built=built, filled=filled) else None

    def __len__(self) -> int:
        return len(self._held)


@dataclass
class Handled(Message):
    """A key has been handled by a widget and all above it; the message is sent `rounds` more times for what follows."""

    widget: Widget
    rounds: int


class PatientApp(EndableApp):
    """An app whose keys wait for the screen they were meant for.

    A key is handled in steps: the focused widget gets it, an action may follow, which posts a message to the screen,
    which goes to another one. All of these are messages, so the next key would overtake them. It waits until a message
    that was sent after the key has come up the same way, some times over.
    """

    def __init__(self) -> None:
        super().__init__()
        self.typed = TypeAhead(time.monotonic)
        self._busy: Widget | None = None
        self._busy_until = 0.0
        self._looks = False

    def on_mount(self) -> None:
        # keys wait for a dialog as for a view
        self.screen_change_signal.subscribe(self, lambda _screen: self.typed.entered(), immediate=True)

    def is_built(self) -> bool:
        """Return whether something on the screen has the focus."""
        raise NotImplementedError

    def is_filled(self) -> bool:
        """Return whether the screen shows its data."""
        raise NotImplementedError

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key) or event.is_forwarded or event.key in NEVER_HELD:
            await super().on_event(event)
            return
        if event.key == "escape" and self.typed.is_stuck():
            self.typed.drop()
        if self._is_busy():
            self.typed.hold(event)
        elif not self.typed.holds(event, built=self.is_built(), filled=self.is_filled()):
            await self._type(event)
        self._look_again()

    def _is_busy(self) -> bool:
        """Return whether the last key is still being handled, by a widget that still exists."""
        busy = self._busy
        return (
            busy is not None
            and busy is self.screen.focused
            and busy.is_attached
            and time.monotonic() < self._busy_until
        )

    async def _type(self, event: Key) -> None:
        widget = self.screen.focused
        await super().on_event(event)
        if widget is not None and widget is self.screen.focused:
            self._busy_until = time.monotonic() + LONGEST
            self._follow(widget, _ROUNDS)

    @on(Handled)
    def _handled(self, message: Handled) -> None:
        message.stop()
        if message.widget is self._busy:
            if message.rounds:
                self._follow(message.widget, message.rounds - 1)
            else:
                self._busy = None
                self.call_next(self._type_on)

    def _follow(self, widget: Widget, rounds: int) -> None:
        """Send a message after a key; a widget that is being closed takes none."""
        self._busy = widget if widget.post_message(Handled(widget, rounds)) else None

    def _look_again(self) -> None:
        """Look in a moment at the keys that wait, once however many they are."""
        if self.typed and not self._looks:
            self._looks = True
            self.set_timer(_SOON, self._looked)

    async def _looked(self) -> None:
        self._looks = False
        await self._type_on()

    async def _type_on(self) -> None:
        """Handle the keys that waited, until one has to wait again."""
        if not self._is_busy():
            event = self.typed.next(built=self.is_built(), filled=self.is_filled())
            if event is not None:
                await self._type(event)
        self._look_again()

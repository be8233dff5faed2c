"""Keep keys that come while a screen is being built or filled, until it can take them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from textual.events import Key

LONGEST = 3.0
"""Seconds that a key waits at most; then it goes to whatever is on the screen."""

_STUCK = 1.0
"""Seconds after which Escape drops the keys that wait: the user wants out."""

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

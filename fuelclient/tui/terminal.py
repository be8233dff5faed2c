"""Both ways of a terminal: it gets no control codes, and keys that come too early wait for their screen.

Terminals obey escape sequences, which may stand in any name or message from documents, machines and masters. Our
widgets escape them; `NoControlCodes` also checks what Textual's own widgets draw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.events import Key
from textual.filter import LineFilter

from fuelclient.printing import printable

LONGEST = 3.0
"""Seconds after which a waiting key goes to what is on the screen."""

_STUCK = 1.0
"""Seconds of waiting after which Escape drops the keys that wait."""

AT_ONCE = frozenset(
    {"q", "left_square_bracket", "right_square_bracket", "backspace", "question_mark", "at", "colon", "escape",
     "ctrl+r", *"012345678"}
)  # fmt: skip
"""Keys that make sense on a screen that is not filled yet."""

NEVER_HELD = frozenset({"ctrl+c", "ctrl+q", "ctrl+z"})
"""Keys that leave, and never wait."""


class TypeAhead:
    """Keys that wait, in their order.

    A screen is *built* once a widget has the focus to get keys, and *filled* once a cursor has rows to move over. `now`
    is a clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._held: deque[tuple[float, Key]] = deque()
        self._since = 0.0

    def entered(self) -> None:
        """Note that another screen is being built."""
        self._since = self._now()

    def holds(self, event: Key, *, built: bool, filled: bool) -> bool:
        """Keep a key if it has to wait; return False if it is to be handled now."""
        if self.is_due(built=built, filled=filled) and not self._held:
            return False
        if built and not self._held and event.key in AT_ONCE:
            return False
        self.hold(event)
        return True

    def hold(self, event: Key) -> None:
        self._held.append((self._now(), event))

    def is_stuck(self) -> bool:
        """Whether keys have waited so long that Escape drops them."""
        return bool(self._held) and self._now() - self._held[0][0] > _STUCK

    def drop(self) -> None:
        self._held.clear()

    def is_due(self, *, built: bool, filled: bool) -> bool:
        """Whether keys may go to the screen: it is ready, or was awaited for too long."""
        return (built and filled) or self._now() - self._since > LONGEST

    def next(self, *, built: bool, filled: bool) -> Key | None:
        """The first waiting key, if it need not wait any longer."""
        return self._held.popleft()[1] if self._held and self.is_due(built=built, filled=filled) else None

    def __len__(self) -> int:
        return len(self._held)


class NoControlCodes(LineFilter):
    """Blank out characters that a terminal may obey; lines keep their width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's)
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [segment if segment.text.isprintable() else _blanked(segment) for segment in segments]


def _blanked(segment: Segment) -> Segment:
    text = "".join(sign if printable(sign) == sign else " " * cell_len(sign) for sign in segment.text)
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)

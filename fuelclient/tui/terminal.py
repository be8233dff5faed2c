"""Input and output of the terminal: keys that are typed too early wait for their screen, control codes are removed.

Terminals obey escape sequences, which any name or message from documents, machines and masters may contain. Our
widgets escape them; `NoControlCodes` also filters what Textual's own widgets draw.
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
"""Seconds after which a waiting key is handled even if the screen is not ready."""

_STUCK = 1.0
"""Seconds of waiting after which Escape drops the waiting keys."""

AT_ONCE = frozenset(
    {"q", "left_square_bracket", "right_square_bracket", "backspace", "question_mark", "at", "colon", "escape",
     "ctrl+r", *"012345678"}
)  # fmt: skip
"""Keys that do not need the data of the screen, and do not wait for it."""

NEVER_HELD = frozenset({"ctrl+c", "ctrl+q", "ctrl+z"})
"""Keys that leave the UI. They never wait."""


class TypeAhead:
    """A queue of waiting keys.

    A screen is *built* once a widget has the focus and can get keys, and *filled* once it shows its data. `now` is a
    clock.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._waiting: deque[tuple[float, Key]] = deque()
        self._since = 0.0

    def entered(self) -> None:
        """Record that another screen is being built, from now on."""
        self._since = self.now()

    def hold_if_early(self, event: Key, *, built: bool, filled: bool) -> bool:
        """Queue a key if it has to wait. Return False if it can be handled now."""
        if self.is_due(built=built, filled=filled) and not self._waiting:
            return False
        if built and not self._waiting and event.key in AT_ONCE:
            return False
        self.append(event)
        return True

    def append(self, event: Key) -> None:
        self._waiting.append((self.now(), event))

    def is_stuck(self) -> bool:
        """Whether keys have waited so long that Escape drops them."""
        return bool(self._waiting) and self.now() - self._waiting[0][0] > _STUCK

    def drop(self) -> None:
        self._waiting.clear()

    def is_due(self, *, built: bool, filled: bool) -> bool:
        """Whether the screen may get keys: it is ready, or keys have waited too long for it."""
        return (built and filled) or self.now() - self._since > LONGEST

    def next(self, *, built: bool, filled: bool) -> Key | None:
        """The first waiting key, if it need not wait any longer."""
        return self._waiting.popleft()[1] if self._waiting and self.is_due(built=built, filled=filled) else None

    def __len__(self) -> int:
        return len(self._waiting)


class NoControlCodes(LineFilter):
    """Replace control characters with blanks; lines keep their width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 (Textual's)
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [segment if segment.text.isprintable() else _without_control_codes(segment) for segment in segments]


def _without_control_codes(segment: Segment) -> Segment:
    text = "".join(sign if printable(sign) == sign else " " * cell_len(sign) for sign in segment.text)
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)

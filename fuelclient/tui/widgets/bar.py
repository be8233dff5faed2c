"""Bars: one line of parts from the left and from the right; some can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.strip import Strip

from fuelclient.printing import one_line
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.table import Cell
from fuelclient.tui.widgets.tones import Toned


class Bar(Toned):
    """One line; parts that do not fit are left out, and if the last one is still too long it ends in two dots."""

    DEFAULT_CSS = """
    Bar { height: 1; }
    """

    def __init__(self, *, gap: int = 1, id: str | None = None) -> None:
        super().__init__(id=id)
        self._gap = gap
        self._left: list[Part] = []
        self._right: list[Part] = []

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        """Show other parts."""
        # as they are drawn, so that their widths are right
        drawn = tuple([replace(part, text=one_line(part.text)) for part in parts] for parts in (left, right))
        if drawn != (self._left, self._right):
            self._left, self._right = drawn
            self.refresh()

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "".join(part.text for part, _ in self._laid())

    def _laid(self) -> list[tuple[Part, int]]:
        """Return the parts that fit, and where each begins."""
        width = self.size.width
        left, right = list(self._left), list(self._right)
        while len(left) + len(right) > 1 and self._length(left) + self._length(right) + self._gap > width:
            every = left + right
            worst = max(every, key=lambda part: (part.rank, every.index(part)))
            if not worst.rank:
                break
            (left if worst in left else right).remove(worst)
        laid: list[tuple[Part, int]] = []
        at = 0
        for start, parts in ((0, left), (width - self._length(right), right)):
            at = max(at, start)
            for part in parts:
                laid.append((part, at))
                at += cell_len(part.text) + self._gap
        return laid

    def _length(self, parts: Sequence[Part]) -> int:
        return sum(cell_len(part.text) for part in parts) + self._gap * max(0, len(parts) - 1)

    def render_line(self, y: int) -> Strip:
        base = self.base
        if y:
            return Strip.blank(self.size.width, base)
        segments: list[Segment] = []
        at = 0
        for part, start in self._laid():
            segments.append(Segment(" " * max(0, start - at), base))
            text, room = part.text, self.size.width - start
            if cell_len(text) > room:
                text = set_cell_size(text, max(0, room - 2)) + ".."
            segments.append(self.segment(Cell(text, part.tone), base))
            at = max(at, start) + cell_len(text)
        return Strip(segments).crop_extend(0, self.size.width, base)

    async def on_click(self, event: events.Click) -> None:
        for part, start in self._laid():
            if part.action and start <= event.x < start + cell_len(part.text):
                await self.app.run_action(part.action)
                return

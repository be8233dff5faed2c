"""Bars of one line, with clickable parts on the left and on the right; and the line of the filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.strip import Strip
from textual.widgets import Input, Static

from fuelclient.insight.query import BadQuery
from fuelclient.printing import one_line
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.table import Cell, Tone
from fuelclient.tui.widgets.tones import Toned


class Bar(Toned):
    """One line. Parts that do not fit are left out; if the remaining text is still too long, it ends in two dots."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, *, gap: int = 1, id: str | None = None) -> None:
        super().__init__(id=id)
        self._gap = gap
        self._left: list[Part] = []
        self._right: list[Part] = []

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        # the texts as they are drawn, so that the measured widths are right
        drawn = tuple([replace(part, text=one_line(part.text)) for part in parts] for parts in (left, right))
        if drawn != (self._left, self._right):
            self._left, self._right = drawn
            self.refresh()

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "".join(part.text for part, _ in self._fitting_parts())

    def _fitting_parts(self) -> list[tuple[Part, int]]:
        """The parts that fit, each with its column."""
        width = self.size.width
        left, right = list(self._left), list(self._right)
        while len(left) + len(right) > 1 and self._length(left) + self._length(right) + self._gap > width:
            every = left + right
            dropped = max(every, key=lambda part: (part.rank, every.index(part)))
            if not dropped.rank:
                break
            (left if dropped in left else right).remove(dropped)
        fitting: list[tuple[Part, int]] = []
        at = 0
        for start, parts in ((0, left), (width - self._length(right), right)):
            at = max(at, start)
            for part in parts:
                fitting.append((part, at))
                at += cell_len(part.text) + self._gap
        return fitting

    def _length(self, parts: Sequence[Part]) -> int:
        return sum(cell_len(part.text) for part in parts) + self._gap * max(0, len(parts) - 1)

    def render_line(self, y: int) -> Strip:
        base = self.base
        if y:
            return Strip.blank(self.size.width, base)
        segments: list[Segment] = []
        at = 0
        for part, start in self._fitting_parts():
            segments.append(Segment(" " * max(0, start - at), base))
            text, room = part.text, self.size.width - start
            if cell_len(text) > room:
                text = set_cell_size(text, max(0, room - 2)) + ".."
            segments.append(self.segment(Cell(text, part.tone), base))
            at = max(at, start) + cell_len(text)
        return Strip(segments).crop_extend(0, self.size.width, base)

    async def on_click(self, event: events.Click) -> None:
        for part, start in self._fitting_parts():
            if part.action and start <= event.x < start + cell_len(part.text):
                await self.app.run_action(part.action)
                return


class _Query(Input):
    """The input of the filter. Enter keeps the query, Escape clears it."""

    BINDINGS = [
        Binding("escape", "screen.leave_filter(True)", show=False),
        Binding("enter,down,up", "screen.leave_filter(False)", show=False),
    ]


_SLASH_WIDTH = 3
"""The width in cells of the ` / ` before the query."""


class QueryError(Static):
    """The error of an invalid query, with a caret below its position."""

    DEFAULT_CSS = "QueryError { height: auto; max-height: 4; color: $error; display: none; }"

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, error: BadQuery | None, hidden: int = 0) -> None:
        """Show an error, or hide it. The first `hidden` characters of the query are scrolled out of view."""
        self.display = error is not None
        if error is None:
            return
        caret = " " * (_SLASH_WIDTH + max(0, error.at - hidden)) + "^"
        words = one_line(str(error))
        separator = " " if len(caret) + 1 + len(words) <= self.screen.size.width else f"\n{' ' * _SLASH_WIDTH}"
        self.update(caret + separator + words)


class FilterBar(Horizontal):
    """The line of the filter: `/ query` on the left, the sort order and `4/204` rows on the right."""

    DEFAULT_CSS = """
    FilterBar { height: 1; }
    FilterBar > #slash { width: 3; }
    FilterBar > _Query { width: 1fr; height: 1; border: none; padding: 0; background: $background; }
    FilterBar > _Query:focus { border: none; background: $surface; }
    FilterBar > #chip { width: 30; }
    """

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        yield Bar(id="slash")
        yield _Query(placeholder=self._placeholder, select_on_focus=False)
        yield Bar(id="chip")

    @property
    def text(self) -> str:
        """The query as it was typed."""
        return self.query_one(_Query).value

    @text.setter
    def text(self, text: str) -> None:
        self.query_one(_Query).value = text

    def start_typing(self) -> None:
        """Show the line, even on a screen with few lines, and focus the input at once: with `focus`, the table would
        get the next key."""
        self.styles.display = "block"
        self.screen.set_focus(self.query_one(_Query))

    def hide_if_short(self) -> None:
        """Hide the line again on a screen with few lines, after `start_typing`."""
        self.styles.clear_rule("display")

    def show_totals(self, shown: int, total: int, sorting: str, *, inverted: bool) -> None:
        self.query_one("#slash", Bar).show([Part("!/" if inverted else " /", Tone.ACCENT)])
        chip = Part(f"{shown}/{total}", Tone.ACCENT if self.text.strip() else Tone.DIM)
        order = [Part(f"by {sorting}", Tone.DIM, rank=1)] if sorting else []
        self.query_one("#chip", Bar).show((), [*order, chip])

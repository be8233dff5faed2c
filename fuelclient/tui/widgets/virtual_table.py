"""A table for any number of rows. Only visible lines are drawn.

A filter or sort makes a new list of row numbers; rows are never copied.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from fuelclient.insight.query import Query
from fuelclient.printing import one_line
from fuelclient.tui.glyphs import UNICODE, Glyphs
from fuelclient.tui.presenters.table import Column, Table, Tone, Value, widths
from fuelclient.tui.widgets.tones import TONE_CLASSES, Toned, tone_of


class Lined(ScrollView, Toned, can_focus=True):
    """Base of widgets with a header above any number of lines."""

    COMPONENT_CLASSES = TONE_CLASSES | {"lined--header"}

    DEFAULT_CSS = """
    Lined { height: 1fr; scrollbar-size: 0 1; scrollbar-background: $background; scrollbar-color: $panel; }
    Lined > .lined--header { color: $text-muted; text-style: bold; }
    """

    def __init__(self, glyphs: Glyphs = UNICODE, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs

    def header(self, base: Style) -> Style:
        return base + self.get_component_rich_style("lined--header", partial=True)

    def scroll_to_cell(self, line: int, column: int = 0, columns: int = 1) -> None:
        """Scroll until a line and a column are visible. `columns` is the number of visible columns."""
        if not self.size.height:
            return  # `on_resize` will scroll
        lines = max(1, self.scrollable_content_region.height - 1)
        left, top = self.scroll_offset
        x, y = min(max(left, column - columns + 1), column), min(max(top, line - lines + 1), line)
        if (x, y) != (left, top):
            self.scroll_to(x=x, y=y, animate=False, force=True)

    def redraw(self, lines: Iterable[int]) -> None:
        """Redraw lines below the header; after scrolling, Textual redraws all anyway."""
        for line in lines:
            self.refresh_line(line + 1)


@dataclass
class Moved(Message):
    """The cursor has moved to another row or cell, or there is none."""

    widget: Lined

    def can_replace(self, message: Message) -> bool:
        """Let a later move replace an earlier one of the same widget."""
        return isinstance(message, Moved) and message.widget is self.widget


class Chosen(Message):
    """The row under the cursor was chosen, by Enter or a double click."""


@dataclass
class Arranged(Message):
    """A table shows other rows, or its rows in another order."""

    table: VirtualTable


_GAP = 2
_GUTTER = 2
_FAR = 1 << 40


class VirtualTable(Lined):
    """Rows below a fixed header. `order` has the numbers of the shown rows."""

    COMPONENT_CLASSES = {"virtual-table--cursor", "virtual-table--cursor-away"}

    DEFAULT_CSS = """
    VirtualTable > .virtual-table--cursor { background: $accent 30%; text-style: bold; }
    VirtualTable > .virtual-table--cursor-away { background: $surface; text-style: bold; }
    """

    HELP = (
        "Rows are filtered with `/`, sorted with `s`, and never cut without a sign. In a filter, status:error looks"
        " into a column, and node=1 wants a whole value of it; a blank means and, besides there are or, ! and brackets."
        " Where rows are tasks, words match their ids, and a filter is a query of graph query: role:compute|cinder,"
        " 2+keystone+1, a..b, /^db/, state:overridden, result:error. Enter shows how a filter is read."
    )
    BINDING_GROUP_TITLE = "table"

    BINDINGS = [
        Binding("down,j", "move(1)", "next row", show=False, id="table.down"),
        Binding("up,k", "move(-1)", "row above", show=False, id="table.up"),
        Binding("pagedown,ctrl+f", "page(2)", "page down", show=False, id="table.page-down"),
        Binding("pageup,ctrl+b", "page(-2)", "page up", show=False, id="table.page-up"),
        Binding("ctrl+d", "page(1)", "half a page down", show=False, id="table.half-down"),
        Binding("ctrl+u", "page(-1)", "half a page up", show=False, id="table.half-up"),
        Binding("g", "first", "first row (gg)", show=False, id="table.first"),
        Binding("home", f"move(-{_FAR})", "first row", show=False, id="table.home"),
        Binding("end,G,shift+g", f"move({_FAR})", "last row", show=False, id="table.last"),
        Binding("enter", "choose", "open", id="table.open"),
        Binding("s", "sort", "sort by the next column", show=False, id="table.sort"),
        Binding("S,shift+s", "descend", "sort the other way", show=False, id="table.descend"),
    ]

    cursor = reactive(0, repaint=False)

    def __init__(self, glyphs: Glyphs = UNICODE, *, id: str | None = None, chooses: bool = True) -> None:
        super().__init__(glyphs, id=id)
        self.chooses = chooses
        self.table = Table(())
        self.order: Sequence[int] = ()
        self.sort: tuple[int, bool] | None = None
        self._keys: tuple[str, ...] = ()
        self._query = Query()
        self.has_invalid_filter = False
        """Whether the typed filter is invalid, so that the previous one still applies."""
        self._widths: list[int] = []
        self._widths_for = -1
        self._is_g_pending = False

    # what is shown

    def show(self, table: Table, *, cursor: int = 0, query: Query | None = None, keep: bool = False) -> None:
        """Show another table, with the cursor on row `cursor`. The sort order is kept if `keep` is set and the columns
        are the same, or if the table has none. Without a `query` the filter is kept: it must not name columns that the
        table lacks."""
        if table.columns:
            if not keep or self._keys not in ((), table.keys):
                self.sort = None
            self._keys = table.keys
        self.table, self._widths_for = table, -1
        if query is not None:
            self._query = query
        self._arrange(cursor)

    def show_text(self, *lines: str) -> None:
        """Show text instead of rows."""
        self.show(Table((), empty=lines))

    def filter(self, query: Query) -> None:
        """Show the rows that match. The cursor stays on its row if that matches."""
        if query != self._query:
            self._query = query
            self._arrange(self.row)

    @property
    def row(self) -> int:
        """The number of the row under the cursor, or -1."""
        return self.order[self.cursor] if 0 <= self.cursor < len(self.order) else -1

    def go_to(self, row: int) -> bool:
        """Move the cursor to a row; return False if it is not shown."""
        if row not in self.order:
            return False
        self.cursor = self.order.index(row)
        return True

    def _arrange(self, row: int) -> None:
        order = self.table.select(self._query)
        if self.sort is not None and self.sort[0] < len(self.table.columns):
            order = self.table.sorted(order, self.sort[0], descending=self.sort[1])
        self.order = order
        self._resize()
        index = order.index(row) if row >= 0 and row in order else 0
        self.set_reactive(VirtualTable.cursor, index)
        self.scroll_to_cell(index)
        self.refresh()
        self.post_message(Arranged(self))
        self.post_message(Moved(self))

    def _resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.order) + 1)

    # moving

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(len(self.order) - 1, cursor))

    def watch_cursor(self, old: int, new: int) -> None:
        if old != new:
            self.scroll_to_cell(new)
            self.redraw((old, new))
            self.post_message(Moved(self))

    def changed(self, rows: Container[int]) -> None:
        """Redraw those of `rows` that are visible."""
        top = self.scroll_offset.y
        visible_lines = range(top, min(len(self.order), top + max(0, self.size.height - 1)))
        self.redraw([index for index in visible_lines if self.order[index] in rows])

    def action_move(self, rows: int) -> None:
        self.cursor += rows

    def action_page(self, halves: int) -> None:
        self.cursor += halves * max(1, (self.size.height - 1) // 2)

    def action_first(self) -> None:
        """Go to the first row when `g` is pressed twice."""
        if self._is_g_pending:
            self.cursor = 0
        self._is_g_pending = not self._is_g_pending

    def on_key(self, event: events.Key) -> None:
        if event.key != "g":
            self._is_g_pending = False

    def action_choose(self) -> None:
        if self.row >= 0 and self.chooses:
            self.post_message(Chosen())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 (Textual's)
        return self.chooses or action != "choose"

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            return
        index = self.scroll_offset.y + event.y - 1
        if 0 <= index < len(self.order):
            self.cursor = index
            if event.chain == 2:
                self.action_choose()

    # sorting

    def action_sort(self) -> None:
        """Sort by the next visible column; after the last one, do not sort."""
        shown = [index for index, width in enumerate(self._widths) if width and self.table.columns[index].title]
        current = self.sort[0] if self.sort else -1
        following = [index for index in shown if index > current]
        self.sort = (following[0], False) if following else None
        self._arrange(self.row)

    def action_descend(self) -> None:
        if self.sort is not None:
            self.sort = (self.sort[0], not self.sort[1])
            self._arrange(self.row)

    @property
    def sorting(self) -> str:
        """The title of the column by which rows are sorted, and a sign for the direction; empty if unsorted."""
        return next((f"{column.title} {sign}" for column, sign in self._titled() if sign), "")

    def _titled(self) -> list[tuple[Column, str]]:
        """The columns, with a sign for the sort order."""
        index, descending = self.sort or (-1, False)
        sign = self.glyphs.down if descending else self.glyphs.up
        return [(column, sign if number == index else "") for number, column in enumerate(self.table.columns)]

    # drawing

    def on_resize(self) -> None:
        self._widths_for = -1
        self._resize()
        if self.size.height:  # as if the table had just been shown, regardless of earlier sizes
            visible = max(1, self.size.height - 1)
            self.scroll_to(y=max(0, self.cursor - visible + 1), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if self._widths_for != width:
            self._widths = widths(self.table, width - _GUTTER, _GAP)
            self._widths_for = width
        base = self.base
        if not self.order:
            return self._empty(y, base)
        if y == 0:
            return self._header(base)
        if (index := y + self.scroll_offset.y - 1) >= len(self.order):
            return Strip.blank(self.size.width, base)
        row = self.order[index]
        style = base
        if index == self.cursor:
            cursor = "virtual-table--cursor" if self.has_focus else "virtual-table--cursor-away"
            style = self.get_component_rich_style(cursor)
        sign = self.glyphs.cursor if index == self.cursor else " "
        segments = [Segment(f"{sign} ", self.toned(Tone.ACCENT, style))]
        segments += self._cells(self.table.rows[row], style)
        return Strip(segments).crop_extend(0, self.size.width, style)

    def _header(self, base: Style) -> Strip:
        style = self.header(base)
        titles = [f"{column.title}{sign}" for column, sign in self._titled()]
        segments = [Segment(" " * _GUTTER, style), *self._cells(titles, style)]
        return Strip(segments).crop_extend(0, self.size.width, style)

    def _cells(self, row: Sequence[Value], base: Style) -> list[Segment]:
        segments: list[Segment] = []
        for cell, width, column in zip(row, self._widths, self.table.columns, strict=True):
            if width:
                text = _fit(str(cell), width, self.glyphs.cut, tail=column.tail)
                parts = [Segment(text, self.toned(tone_of(cell), base)), Segment(" " * (width - cell_len(text)), base)]
                segments += [*(reversed(parts) if column.right else parts), Segment(" " * _GAP, base)]
        return segments

    def _empty(self, y: int, base: Style) -> Strip:
        """A line of the text that is shown instead of rows."""
        why = "The filter cannot be read." if self.has_invalid_filter else "No row matches the filter."
        lines = (why, "", "Esc clears it.") if len(self.table) else self.table.empty
        lines = ("Reading ...",) if self.table.waits else lines
        text = f"  {one_line(lines[y - 1])}" if 0 < y <= len(lines) else ""
        return Strip([Segment(text, base)]).crop_extend(0, self.size.width, base)


def _fit(text: str, width: int, cut: str, *, tail: bool = False) -> str:
    """Cut a text to at most `width` cells. The sign `cut` replaces its end or, with `tail`, its beginning.

    >>> _fit("abcdef", 4, "~"), _fit("abcdef", 4, "~", tail=True), _fit("7", 3, "~"), _fit("日本語", 4, "~", tail=True)
    ('abc~', '~def', '7', '~語')
    """
    text = one_line(text)
    if cell_len(text) <= width:
        return text
    if not tail or width < 2:
        return set_cell_size(text, width - 1) + cut
    return cut + ending(text, width - 1)


def ending(text: str, width: int) -> str:
    """The longest end of a text that fits into `width` cells.

    >>> ending("a日本語", 5), ending("abc", 2)
    ('本語', 'bc')
    """
    kept = text[-width:] if width > 0 else ""
    while cell_len(kept) > width:
        kept = kept[1:]
    return kept

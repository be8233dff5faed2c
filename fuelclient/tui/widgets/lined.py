"""The base class of widgets with a header and many lines, which they draw themselves."""

from __future__ import annotations

from collections.abc import Iterable

from rich.style import Style
from textual.scroll_view import ScrollView

from fuelclient.tui.glyphs import UNICODE, Glyphs
from fuelclient.tui.widgets.tones import TONE_CLASSES, Toned


class Lined(ScrollView, Toned, can_focus=True):
    """A header and any number of lines below it. It looks different while it has the focus."""

    COMPONENT_CLASSES = TONE_CLASSES | {"lined--header"}

    DEFAULT_CSS = """
    Lined { height: 1fr; scrollbar-size: 0 1; scrollbar-background: $background; scrollbar-color: $panel; }
    Lined > .lined--header { color: $text-muted; text-style: bold; }
    """

    def __init__(self, glyphs: Glyphs = UNICODE, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs

    def header(self, base: Style) -> Style:
        """Return the style of the header."""
        return base + self.get_component_rich_style("lined--header", partial=True)

    def scroll_to_cell(self, line: int, column: int = 0, columns: int = 1) -> None:
        """Scroll so that a line below the header, and a column out of as many as are seen at once, are seen."""
        if not self.size.height:
            return  # a resize follows
        lines = max(1, self.scrollable_content_region.height - 1)
        left, top = self.scroll_offset
        x, y = min(max(left, column - columns + 1), column), min(max(top, line - lines + 1), line)
        if (x, y) != (left, top):
            self.scroll_to(x=x, y=y, animate=False, force=True)

    def redraw(self, lines: Iterable[int]) -> None:
        """Draw lines again, by their number on the screen; after scrolling Textual draws all of them anyway."""
        for line in lines:
            self.refresh_line(line + 1)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

"""What tables and matrices share: lines under a header that stays, of which those that are seen are drawn."""

from __future__ import annotations

from collections.abc import Iterable

from rich.style import Style
from textual.scroll_view import ScrollView

from fuelclient.tui.glyphs import UNICODE, Glyphs
from fuelclient.tui.widgets.tones import TONE_CLASSES, Toned


class Lined(ScrollView, Toned, can_focus=True):
    """A header and any number of lines below it. It looks different where it has the focus."""

    COMPONENT_CLASSES = TONE_CLASSES | {"lined--header"}

    DEFAULT_CSS = """
    Lined { height: 1fr; scrollbar-size: 0 1; scrollbar-background: $background; scrollbar-color: $panel; }
    Lined > .lined--header { color: $text-muted; text-style: bold; }
    """

    def __init__(self, glyphs: Glyphs = UNICODE, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs

    def header(self, base: Style) -> Style:
        """The style of the header."""
        return base + self.get_component_rich_style("lined--header", partial=True)

    def redraw(self, lines: Iterable[int]) -> None:
        """Draw lines anew, by their number, as they are scrolled now; where it scrolls, Textual draws all of them."""
        for line in lines:
            self.refresh_line(line + 1)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

"""The styles of tones, for widgets that draw their lines themselves."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.widget import Widget

from fuelclient.printing import one_line
from fuelclient.tui.presenters.table import Cell, Tone, Value


def tone_of(cell: Value) -> Tone:
    return cell.tone if isinstance(cell, Cell) else Tone.PLAIN


TONE_CLASSES = {f"tone--{tone}" for tone in Tone}
"""Component classes of the tones. A widget with several bases must list them again: Textual inherits only from the
first one."""


class Toned(Widget):
    """A widget that draws its own lines in tones."""

    COMPONENT_CLASSES = TONE_CLASSES

    @property
    def base(self) -> Style:
        """The style of the widget. Textual caches `visual_style`, but not `rich_style`."""
        return self.visual_style.rich_style

    def toned(self, tone: Tone, base: Style) -> Style:
        if tone is Tone.PLAIN:
            return base
        return base + self.get_component_rich_style(f"tone--{tone}", partial=True)

    def segment(self, cell: Value, base: Style) -> Segment:
        return Segment(one_line(str(cell)), self.toned(tone_of(cell), base))

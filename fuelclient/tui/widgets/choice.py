"""A choice of one of some words, with the arrows or the space bar."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.table import Cell, Tone
from fuelclient.tui.widgets.tones import TONE_CLASSES, Toned


class Choice(Toned, can_focus=True):
    """A choice of one of `words`; the chosen word has a sign before it."""

    COMPONENT_CLASSES = TONE_CLASSES

    DEFAULT_CSS = """
    Choice { height: 1; }
    Choice:focus { background: $surface-lighten-1; text-style: bold; }
    """

    BINDINGS = [
        Binding("right,space,l", "step(1)", "next", show=False, id="choice.next"),
        Binding("left,h", "step(-1)", "before", show=False, id="choice.before"),
    ]

    place = reactive(0)

    class Changed(Message):
        """Another word is chosen."""

    def __init__(self, words: Sequence[str], glyphs: Glyphs, *, place: int = 0, id: str | None = None) -> None:
        super().__init__(id=id)
        self.words, self._glyphs = tuple(words), glyphs
        self.set_reactive(Choice.place, place)

    def action_step(self, step: int) -> None:
        self.place = (self.place + step) % len(self.words)
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        at = 0
        for place, word in enumerate(self.words):
            at += len(self._text(place, word)) + 2
            if event.x < at:
                self.action_step(place - self.place)
                return

    def _text(self, place: int, word: str) -> str:
        return f"{self._glyphs.on if place == self.place else self._glyphs.off} {word}"

    def render_line(self, y: int) -> Strip:
        base = self.base
        segments: list[Segment] = []
        for place, word in enumerate(self.words):
            tone = Tone.ACCENT if place == self.place else Tone.DIM
            segments += [self.segment(Cell(self._text(place, word), tone), base), Segment("  ", base)]
        return Strip(segments if y == 0 else []).crop_extend(0, self.size.width, base)

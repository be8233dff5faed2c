"""The tail of a log: it stays at its end unless somebody scrolls away from there."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding

from fuelclient.tui.presenters.table import Cell, Line, Tone
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.tones import content


class LogTail(Details):
    """What a task instance printed last. `following` is whether new lines scroll old ones away."""

    HELP = "What the task instance printed, its errors last. It stays at the end unless you scroll away; F follows."
    BINDING_GROUP_TITLE = "log"

    BINDINGS = [Binding("end", "scroll_end", "end", show=False, id="log.end")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = True
        self._shown: tuple[str, tuple[str, ...]] = ("", ())

    def show_log(self, name: str, lines: Sequence[str]) -> None:
        """Show the log of this name; of another one than before, from its end."""
        told = (name, tuple(lines))
        if told == self._shown:
            return
        at_end = self.scroll_offset.y >= self.max_scroll_y
        follows = name != self._shown[0] or (self.following and at_end)
        self._shown = told
        self.put(content([_line(line) for line in lines]))
        if follows:
            self.call_after_refresh(self.scroll_end, animate=False)


def _line(text: str) -> Line:
    lowered = text.lower()
    return (Cell(text, Tone.STRONG) if "error" in lowered or "fail" in lowered else text,)

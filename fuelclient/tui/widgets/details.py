"""Widgets with lines of text that wrap and scroll: details and logs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from fuelclient.printing import printable
from fuelclient.tui.presenters.table import Cell, Line, Tone
from fuelclient.tui.widgets.tones import tone_of

_STYLES = {
    Tone.PLAIN: "",
    Tone.DIM: "$text-muted",
    Tone.STRONG: "bold",
    Tone.ACCENT: "$accent",
    Tone.WARN: "$text-warning",
    Tone.BAD: "bold $text-error",
}


def content(lines: list[Line]) -> Content:
    """Join lines of cells into one text, without control characters."""
    parts: list[str | tuple[str, str]] = []
    for index, line in enumerate(lines):
        parts.append("\n" if index else "")
        parts += [(printable(str(cell), keep="\n\t"), _STYLES[tone_of(cell)]) for cell in line]
    return Content.assemble(*parts)


class Details(VerticalScroll, can_focus=True):
    """A text about the row or cell under the cursor of another pane."""

    DEFAULT_CSS = """
    Details { height: 1fr; scrollbar-size: 0 1; scrollbar-background: $background; scrollbar-color: $panel; }
    Details > Static { width: 1fr; padding: 0 1; }
    """

    HELP = "Details of what is under the cursor in the other pane. The text scrolls."
    BINDING_GROUP_TITLE = "text"

    BINDINGS = [
        Binding("j", "scroll_down", "scroll down", show=False, id="text.down"),
        Binding("k", "scroll_up", "scroll up", show=False, id="text.up"),
        Binding("ctrl+d", "page_down", "page down", show=False, id="text.page-down"),
        Binding("ctrl+u", "page_up", "page up", show=False, id="text.page-up"),
        Binding("g", "scroll_home", "beginning", show=False, id="text.first"),
        Binding("G,shift+g", "scroll_end", "end", show=False, id="text.last"),
    ]

    def __init__(self, lines: list[Line] | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = lines or []

    def compose(self) -> ComposeResult:
        yield Static(content(self._lines), markup=False)

    def show(self, lines: list[Line]) -> None:
        """Show other lines, and scroll to their beginning."""
        self.put(content(lines))
        if self.scroll_y:
            self.scroll_home(animate=False)

    def put(self, text: Content) -> None:
        """Replace the text. Lay out the screen only if the number of lines changes, because the layout is the slowest
        step after a key."""
        if (static := next(iter(self.query(Static)), None)) is None:
            return  # the widget is being removed
        width, before = static.content_size
        height = text.get_height(static.styles.get_rules(), width) if width else -1
        static.update(text, layout=height != before)


class LogTail(Details):
    """The last lines that a task instance printed. While `following`, it stays at the end."""

    HELP = "What the task instance printed, errors last. It stays at the end unless you scroll away; F follows again."
    BINDING_GROUP_TITLE = "log"

    BINDINGS = [Binding("end", "scroll_end", "end", show=False, id="log.end")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = True
        self._shown: tuple[str, tuple[str, ...]] = ("", ())

    def show_log(self, name: str, lines: Sequence[str]) -> None:
        """Show a log. If the name differs from the last one, scroll to the end."""
        shown = (name, tuple(lines))
        if shown == self._shown:
            return
        at_end = self.scroll_offset.y >= self.max_scroll_y
        follows = name != self._shown[0] or (self.following and at_end)
        self._shown = shown
        fault_words = ("error", "fail")
        tones = [Tone.STRONG if any(word in line.lower() for word in fault_words) else Tone.PLAIN for line in lines]
        self.put(content([(Cell(line, tone),) for line, tone in zip(lines, tones, strict=True)]))
        if follows:
            self.call_after_refresh(self.scroll_end, animate=False)

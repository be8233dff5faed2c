"""The line to type a filter in, and the number of rows that match."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from fuelclient.insight.query import BadQuery
from fuelclient.printing import one_line
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.table import Tone
from fuelclient.tui.widgets.bar import Bar


@dataclass
class QueryChanged(Message):
    """The query was changed."""

    text: str


@dataclass
class QueryLeft(Message):
    """The filter was left; with `clear` the query is dropped."""

    clear: bool


class _Query(Input):
    """The input; Enter leaves it and keeps the query, Escape clears it."""

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "enter", "down", "up"):
            event.stop()
            event.prevent_default()
            self.post_message(QueryLeft(clear=event.key == "escape"))


_SLASH = 3
"""The cells before the query."""


class QueryError(Static):
    """Why a query cannot be read, with a caret below the place; hidden if it can."""

    DEFAULT_CSS = """
    QueryError { height: auto; max-height: 4; color: $error; display: none; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, error: BadQuery | None, hidden: int = 0) -> None:
        """Show an error, or none; `hidden` characters of the query are scrolled out."""
        self.display = error is not None
        if error is None:
            return
        caret = " " * (_SLASH + max(0, error.at - hidden)) + "^"
        words = one_line(str(error))
        joint = " " if len(caret) + 1 + len(words) <= self.screen.size.width else f"\n{' ' * _SLASH}"
        self.update(caret + joint + words)


class FilterBar(Horizontal):
    """`/ query` on the left, `4/204` and the sort order on the right."""

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

    def on_mount(self) -> None:
        self._slash(inverted=False)

    @property
    def text(self) -> str:
        """The query as it was typed."""
        return self.query_one(_Query).value

    @text.setter
    def text(self, text: str) -> None:
        self.query_one(_Query).value = text

    def start_typing(self) -> None:
        """Focus the input at once: `focus` alone would let the next key through to the table. If there is no room for
        the line, it is shown while the user types in it."""
        self.styles.display = "block"
        self.screen.set_focus(self.query_one(_Query))

    def hide_if_short(self) -> None:
        """Hide the line again if the screen has no room for it; `start_typing` had shown it there."""
        self.styles.clear_rule("display")

    def tell(self, shown: int, total: int, sorting: str, *, inverted: bool) -> None:
        """Show how many rows are shown, out of how many, and in which order."""
        self._slash(inverted=inverted)
        chip = Part(f"{shown}/{total}", Tone.ACCENT if self.text.strip() else Tone.DIM)
        order = [Part(f"by {sorting}", Tone.DIM, rank=1)] if sorting else []
        self.query_one("#chip", Bar).show((), [*order, chip])

    @property
    def hidden(self) -> int:
        """How many characters of the query are scrolled out at its beginning."""
        return self.query_one(_Query).scroll_offset.x

    def _slash(self, *, inverted: bool) -> None:
        self.query_one("#slash", Bar).show([Part("!/" if inverted else " /", Tone.ACCENT)])

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(QueryChanged(event.value))

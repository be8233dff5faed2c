"""Dialogs: their base class, help with all keys that work now, and the log of equivalent command lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import title
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.screens.active_keys import Group
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane
from fuelclient.tui.widgets.virtual_table import VirtualTable

_CSS = """
Dialog { align: center middle; background: $background 60%; }
Dialog > Pane { width: 90%; max-width: 100; height: 90%; background: $surface; }
"""


class Dialog(ModalScreen[None]):
    """A pane over the screen; Escape closes it. Its content is put together first, because it may be closed before it
    has been built."""

    DEFAULT_CSS = _CSS
    BINDINGS = [Binding("escape,q", "app.pop_screen", "close", id="dialog.close")]


class HelpDialog(Dialog):
    """What can be done here, by key."""

    def __init__(self, groups: Iterable[Group]) -> None:
        super().__init__()
        self._groups = list(groups)

    def compose(self) -> ComposeResult:
        yield Pane("help  (Esc closes)", Details(self._text()))

    def _text(self) -> list[Line]:
        lines: list[Line] = []
        for name, text, keys in self._groups:
            lines += [title(name)]
            lines += [(Cell(text, Tone.DIM),)] if text else []
            lines += [(Cell(f"  {key:<14} ", Tone.ACCENT), what) for key, what in keys]
            lines += [()]
        return lines


class LogDialog(Dialog):
    """The command lines of what was looked at or done, the last one first. `y` copies one."""

    BINDINGS = [Binding("y,c", "copy", "copy this line", id="log.copy")]

    def __init__(self, lines: Sequence[str], glyphs: Glyphs) -> None:
        super().__init__()
        self._lines = list(reversed(lines))
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        table = VirtualTable(self._glyphs, chooses=False)
        table.show(self._table())
        yield Pane("command log  (y copies, Esc closes)", table)

    def _table(self) -> Table:
        line = Column("line", "the same on the command line", grows=True, most=200)
        columns = (Column("number", "#", least=2, right=True), line)
        rows = [(str(len(self._lines) - place), line) for place, line in enumerate(self._lines)]
        return Table(columns, rows, self._lines)

    def action_copy(self) -> None:
        table = self.query_one(VirtualTable)
        if table.row >= 0:
            self.app.copy_to_clipboard(self._lines[table.row])
            self.notify(self._lines[table.row], title="copied", markup=False)

"""Dialogs: help with all keys that work now, and the log of equivalent command lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen

from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters.formatting import title
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane
from fuelclient.tui.widgets.virtual_table import VirtualTable

_CSS = """
Dialog { align: center middle; background: $background 60%; }
Dialog > Pane { width: 90%; max-width: 100; height: 90%; background: $surface; }
"""

Group = tuple[str, str, Sequence[tuple[str, str]]]
"""A widget or screen with keys: its name, its help text, and its keys with what they do."""


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
    """The command lines of everything that was looked at or done, the last one first. `y` copies one."""

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


_SHOWN = {"left_square_bracket": "[", "right_square_bracket": "]", "exclamation_mark": "!", "question_mark": "?",
          "slash": "/", "at": "@", "colon": ":", "pagedown": "PgDn", "pageup": "PgUp", "enter": "Enter",
          "escape": "Esc", "tab": "Tab", "shift+tab": "shift+Tab"}  # fmt: skip

_LAST = ("help", "quit")


def key_name(key: str) -> str:
    """Return a key as people read it.

    >>> key_name("question_mark"), key_name("ctrl+r")
    ('?', 'ctrl+r')
    """
    return _SHOWN.get(key, key)


def active_keys(screen: Screen[Any], *, armed: bool = False) -> list[tuple[str, str]]:
    """Return the keys to show: first those that change something, if the UI is armed; help and quit last."""
    keys: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        acts = (binding.id or "").startswith("act.")
        if binding.show and active.enabled and (armed or not acts) and binding.description not in keys:
            keys[binding.description] = binding.key_display or key_name(binding.key)
            ranks[binding.description] = 0 if acts else 2 if binding.description in _LAST else 1
    ordered = sorted(keys, key=ranks.__getitem__)
    return [(keys[what], "disarm" if armed and what == "arm" else what) for what in ordered]


def _works(node: DOMNode, action: str) -> bool:
    """Return whether an action would do something now."""
    _, name, parameters = parse(action)
    return node.check_action(name, parameters) is True


def help_groups(screen: Screen[Any]) -> Iterator[Group]:
    """Return what the focused widget, the screen and the app are for, and their keys."""
    nodes: list[DOMNode] = [screen, screen.app]
    if screen.focused is not None:
        nodes.insert(0, screen.focused)
    for node in nodes:
        keys: dict[str, list[str]] = {}
        for cls in type(node).__mro__:
            for binding in cls.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.id and _works(node, binding.action):
                    names = [key_name(key) for key in binding.key.split(",")]
                    keys.setdefault(binding.description, []).extend(names)
        name = getattr(node, "BINDING_GROUP_TITLE", None) or type(node).__name__.removesuffix("Screen").lower()
        yield str(name), str(node.HELP or ""), [(" ".join(names), what) for what, names in keys.items()]

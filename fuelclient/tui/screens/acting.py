"""Dialogs before something is changed: what would be done, the command line that does the same, and a word to type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from fuelclient.model.run import PlannedGraph, RunRequest
from fuelclient.tui.actions import Action, Execute, command_of
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters import acting
from fuelclient.tui.screens.dialogs import Dialog
from fuelclient.tui.widgets.choice import Choice
from fuelclient.tui.widgets.panes import Pane
from fuelclient.tui.widgets.vtable import VirtualTable

if TYPE_CHECKING:
    from fuelclient.tui.app import FuelUI


class Asking(ModalScreen[Action | None]):
    """A dialog that comes to an action, or to none. Enter does it, once the word that it asks for has been typed."""

    AUTO_FOCUS = ""

    DEFAULT_CSS = """
    Asking { align: center middle; background: $background 60%; }
    Asking > Pane { width: 90%; max-width: 100; height: auto; max-height: 100%; background: $surface; padding: 0 1; }
    Asking Vertical { height: auto; }
    Asking Horizontal { height: 1; }
    Asking Label { width: 14; color: $text-muted; }
    Asking #said, Asking #line, Asking #wrong, Asking #help { width: 1fr; height: auto; }
    Asking #said { color: $foreground; }
    Asking #wrong { color: $text-error; }
    Asking Input { width: 1fr; height: 1; border: none; padding: 0; background: $background; }
    Asking Input:focus { border: none; background: $panel; }
    """

    HELP = "Type what it asks for, and press Enter. Escape leaves everything as it is; ctrl+y copies the command line."
    BINDING_GROUP_TITLE = "confirm"

    BINDINGS = [
        Binding("escape", "leave", "leave", id="ask.leave"),
        Binding("enter", "do", "do it", id="ask.do"),
        Binding("ctrl+y", "copy", "copy the command line", id="ask.copy", priority=True),
    ]

    def __init__(self, name: str, said: str, word: str, glyphs: Glyphs, program: str) -> None:
        super().__init__()
        self.word, self.glyphs = word, glyphs
        self._heading, self._said, self._program = name, said, program

    def compose(self) -> ComposeResult:
        yield Pane(self._heading, Vertical(
            Label(self._said, id="said", markup=False),
            *self.fields(),
            Horizontal(Label("to confirm"), Input(placeholder=f"type {self.word}", id="word")),
            Label("", id="wrong", markup=False),
            Label("", id="line", markup=False),
            Label("Enter does it   Tab next field   ctrl+y copies the line   Esc leaves", markup=False, id="help"),
        ))  # fmt: skip

    def fields(self) -> Sequence[Horizontal]:
        """What can be chosen."""
        return ()

    def action(self) -> Action | str:
        """What would be done now, or why nothing can be."""
        raise NotImplementedError

    def needs_word(self) -> bool:
        """Whether the word has to be typed for what would be done now."""
        return True

    def on_mount(self) -> None:
        self.set_class(self.glyphs.is_ascii, "-ascii")
        for word in self.query("#word").results(Input):
            self.set_focus(word)
        self.tell()

    @on(Input.Changed)
    @on(Choice.Changed)
    def _changed(self) -> None:
        self.tell()

    def tell(self, wrong: str = "") -> None:
        """Show the command line of what would be done now."""
        if not self.query("#help"):
            return  # it has been left before it was built
        found = self.action()
        line = "" if isinstance(found, str) else f"$ {command_of(found, self._program)}"
        self.query_one("#line", Label).update(line)
        self.query_one("#wrong", Label).update(wrong or (found if isinstance(found, str) else ""))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_do()

    def action_do(self) -> None:
        found = self.action()
        if isinstance(found, str):
            self.tell()
        elif self.needs_word() and _plain(self.query_one("#word", Input).value) != _plain(self.word):
            self.tell(f"Nothing was done: type {self.word} to confirm.")
            self.set_focus(self.query_one("#word", Input))
        else:
            self.dismiss(found)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_copy(self) -> None:
        found = self.action()
        if not isinstance(found, str):
            cast("FuelUI", self.app).copy_line(command_of(found, self._program))


def _plain(text: str) -> str:
    """A text as it is compared: how many blanks there are nobody sees."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Way:
    """One of the ways in which something can be done."""

    name: str
    action: Action


class ConfirmDialog(Asking):
    """Something is done to one run, in one of several ways."""

    def __init__(
        self, name: str, said: str, word: str, ways: Sequence[Way], glyphs: Glyphs, program: str, *, place: int = 0
    ) -> None:
        super().__init__(name, said, word, glyphs, program)
        self._ways, self._place = tuple(ways), place

    def fields(self) -> Sequence[Horizontal]:
        if len(self._ways) < 2:
            return ()
        words = [way.name for way in self._ways]
        return (Horizontal(Label("how"), Choice(words, self.glyphs, place=self._place, id="how")),)

    def action(self) -> Action | str:
        found = self.query("#how").results(Choice)
        chosen = next(iter(found), None)
        return self._ways[chosen.place if chosen is not None else 0].action


class ExecuteDialog(Asking):
    """Graphs are executed on an environment."""

    def __init__(
        self, env: int, env_name: str, graph_type: str, known: Sequence[str], glyphs: Glyphs, program: str
    ) -> None:
        said = f"Graphs of environment {env} {env_name}: {', '.join(known) or 'unknown yet'}."
        super().__init__("execute", said, acting.word_for(env, env_name), glyphs, program)
        self._env, self._type = env, graph_type

    def fields(self) -> Sequence[Horizontal]:
        return (
            Horizontal(Label("graph types"), Input(self._type, id="types", placeholder="one after another")),
            Horizontal(Label("nodes"), Input(id="nodes", placeholder="all that the graph names; or 1 2 5")),
            Horizontal(Label("tasks"), Input(id="tasks", placeholder="all; or netconfig keystone")),
            Horizontal(Label("manner"), Choice(acting.MANNERS, self.glyphs, id="manner")),
            Horizontal(Label("what is done"), Choice(acting.FORCES, self.glyphs, id="force")),
        )

    def action(self) -> Action | str:
        texts = {name: self.query_one(f"#{name}", Input).value for name in ("types", "nodes", "tasks")}
        manner, force = (self.query_one(f"#{name}", Choice).place for name in ("manner", "force"))
        found = acting.request(self._env, texts["types"], texts["nodes"], texts["tasks"], manner, bool(force))
        return found if isinstance(found, str) else Execute(found)

    def needs_word(self) -> bool:
        """A dry run changes nothing."""
        found = self.action()
        return not (isinstance(found, Execute) and found.request.dry_run)


class PlanDialog(Dialog):
    """What a dry run would have run."""

    def __init__(self, request: RunRequest, plans: Sequence[PlannedGraph], glyphs: Glyphs) -> None:
        super().__init__()
        self._request, self._plans, self._glyphs = request, plans, glyphs

    def compose(self) -> ComposeResult:
        table = VirtualTable(self._glyphs, chooses=False)
        table.show(acting.planned(self._plans, self._glyphs))
        yield Pane(f"dry run: {acting.summary(self._plans)}  (Esc closes)", table)

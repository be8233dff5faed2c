"""Dialogs: help, the command log, the plan of a dry run, and confirmations of changes. A confirmation shows the command
line of the change, and the user types a word to confirm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, Label

from fuelclient.backends import executor_kinds
from fuelclient.model.run import DryGraph
from fuelclient.tui.actions import Action, Choices, Execute, command_of
from fuelclient.tui.app_base import UI
from fuelclient.tui.glyphs import Glyphs
from fuelclient.tui.presenters import execute
from fuelclient.tui.presenters.formatting import title
from fuelclient.tui.presenters.table import Cell, Column, Line, Table, Tone
from fuelclient.tui.screens.base import Group
from fuelclient.tui.widgets.details import Details
from fuelclient.tui.widgets.panes import Pane
from fuelclient.tui.widgets.tones import Toned
from fuelclient.tui.widgets.virtual_table import VirtualTable


class Choice(Toned, can_focus=True):
    """A choice between several words; a sign marks the chosen one."""

    DEFAULT_CSS = """
    Choice { height: 1; }
    Choice:focus { background: $surface-lighten-1; text-style: bold; }
    """

    BINDINGS = [
        Binding("right,space,l", "step(1)", "next", show=False, id="choice.next"),
        Binding("left,h", "step(-1)", "previous", show=False, id="choice.before"),
    ]

    index = reactive(0)

    class Changed(Message):
        """Another word is chosen."""

    def __init__(self, words: Sequence[str], glyphs: Glyphs, *, index: int = 0, id: str | None = None) -> None:
        super().__init__(id=id)
        self.words, self._glyphs = tuple(words), glyphs
        self.set_reactive(Choice.index, index)

    def action_step(self, step: int) -> None:
        self.index = (self.index + step) % len(self.words)
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        at = 0
        for index, word in enumerate(self.words):
            at += len(self._text(index, word)) + 2
            if event.x < at:
                self.action_step(index - self.index)
                return

    def _text(self, index: int, word: str) -> str:
        return f"{self._glyphs.on if index == self.index else self._glyphs.off} {word}"

    def render_line(self, y: int) -> Strip:
        base = self.base
        segments: list[Segment] = []
        for index, word in enumerate(self.words):
            tone = Tone.ACCENT if index == self.index else Tone.DIM
            segments += [self.segment(Cell(self._text(index, word), tone), base), Segment("  ", base)]
        return Strip(segments if y == 0 else []).crop_extend(0, self.size.width, base)


class Dialog(ModalScreen[Action | None]):
    """A pane above the screen. It may be closed before it has been built."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > Pane { width: 90%; max-width: 100; height: 90%; background: $surface; }
    """

    @property
    def ui(self) -> UI:
        return cast(UI, self.app)


class ReadDialog(Dialog):
    """A dialog that returns nothing."""

    BINDINGS = [Binding("escape,q", "app.pop_screen", "close", id="dialog.close")]

    def table(self, table: Table) -> VirtualTable:
        widget = VirtualTable(self.ui.glyphs, chooses=False)
        widget.show(table)
        return widget


class HelpDialog(ReadDialog):
    """Help texts and keys."""

    def __init__(self, groups: Iterable[Group]) -> None:
        super().__init__()
        self._groups = list(groups)

    def compose(self) -> ComposeResult:
        lines: list[Line] = []
        for name, text, keys in self._groups:
            lines += [title(name)]
            lines += [(Cell(text, Tone.DIM),)] if text else []
            lines += [(Cell(f"  {key:<14} ", Tone.ACCENT), what) for key, what in keys]
            lines += [()]
        yield Pane("help  (Esc closes)", Details(lines))


class LogDialog(ReadDialog):
    """The command lines of visited screens and of actions, the last one first."""

    BINDINGS = [Binding("y,c", "copy", "copy this line", id="log.copy")]

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__()
        self._lines = list(lines)

    def compose(self) -> ComposeResult:
        line = Column("line", "the same on the command line", grows=True, most=200)
        columns = (Column("number", "#", least=2, right=True), line)
        rows = [(str(number), line) for number, line in enumerate(self._lines, start=1)]
        yield Pane("command log  (y copies, Esc closes)", self.table(Table(columns, rows[::-1], self._lines[::-1])))

    def action_copy(self) -> None:
        table = self.query_one(VirtualTable)
        if table.row >= 0:
            self.app.copy_to_clipboard(table.table.ids[table.row])
            self.notify(table.table.ids[table.row], title="copied", markup=False)


class PlanDialog(ReadDialog):
    """The task instances that would run according to the plan and to a Fuel master."""

    def __init__(self, graphs: Sequence[DryGraph], *, with_master: bool) -> None:
        super().__init__()
        self._graphs, self._with_master = graphs, with_master

    def compose(self) -> ComposeResult:
        summary = execute.summary(self._graphs, with_master=self._with_master)
        planned = execute.planned(self._graphs, self.ui.glyphs, with_master=self._with_master)
        yield Pane(f"dry run: {summary}  (Esc closes)", self.table(planned))


class ActionDialog(Dialog):
    """A dialog that returns an action or None. Enter confirms if `word` has been typed; the number of blanks does not
    matter, because they are hard to see. A dry run needs no word."""

    AUTO_FOCUS = ""

    DEFAULT_CSS = """
    ActionDialog > Pane { height: auto; max-height: 100%; padding: 0 1; }
    ActionDialog Vertical { height: auto; }
    ActionDialog Horizontal { height: 1; }
    ActionDialog Label { width: 14; color: $text-muted; }
    ActionDialog #question, ActionDialog #line, ActionDialog #wrong, ActionDialog #help { width: 1fr; height: auto; }
    ActionDialog #question { color: $foreground; }
    ActionDialog #wrong { color: $text-error; }
    ActionDialog Input { width: 1fr; height: 1; border: none; padding: 0; background: $background; }
    ActionDialog Input:focus { border: none; background: $panel; }
    """

    HELP = "Type what the dialog asks for, and press Enter. Escape changes nothing; ctrl+y copies the command line."
    BINDING_GROUP_TITLE = "confirm"

    BINDINGS = [
        Binding("escape", "leave", "leave", id="ask.leave"),
        Binding("enter", "do", "do it", id="ask.do"),
        Binding("ctrl+y", "copy", "copy the command line", id="ask.copy", priority=True),
    ]

    def __init__(self, heading: str, question: str, word: str) -> None:
        super().__init__()
        self._heading, self._question, self.word = heading, question, word

    def compose(self) -> ComposeResult:
        yield Pane(self._heading, Vertical(
            Label(self._question, id="question", markup=False),
            *self.fields(),
            Horizontal(Label("to confirm"), Input(placeholder=f"type {self.word}", id="word")),
            Label("", id="wrong", markup=False),
            Label("", id="line", markup=False),
            Label("Enter confirms   Tab next field   ctrl+y copies the line   Esc leaves", markup=False, id="help"),
        ))  # fmt: skip

    def fields(self) -> Sequence[Horizontal]:
        """The fields with the options of the action."""
        return ()

    @abstractmethod
    def action(self) -> Action | str:
        """The action that the fields describe, or an error message about them."""

    def on_mount(self) -> None:
        self.set_class(self.ui.glyphs.is_ascii, "-ascii")
        for word in self.query("#word").results(Input):
            self.set_focus(word)
        self.show_action()

    @on(Input.Changed)
    @on(Choice.Changed)
    def _changed(self) -> None:
        self.show_action()

    def show_action(self, wrong: str = "") -> None:
        """Show the command line of the action, or an error message: `wrong`, or that of `action`."""
        if not self.query("#help"):
            return  # the dialog was closed before it was built
        action = self.action()
        line = "" if isinstance(action, str) else f"$ {command_of(action, self.ui.program)}"
        self.query_one("#line", Label).update(line)
        self.query_one("#wrong", Label).update(wrong or (action if isinstance(action, str) else ""))

    @on(Input.Submitted)
    def action_do(self) -> None:
        action, word = self.action(), self.query_one("#word", Input)
        changes = not (isinstance(action, Execute) and action.request.dry_run)
        if isinstance(action, str):
            self.show_action()
        elif changes and " ".join(word.value.split()) != self.word:
            self.show_action(f"Nothing was done: type {self.word} to confirm.")
            self.set_focus(word)
        else:
            self.dismiss(action)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_copy(self) -> None:
        action = self.action()
        if not isinstance(action, str):
            self.ui.copy_line(command_of(action, self.ui.program))


class ConfirmDialog(ActionDialog):
    """Ask whether and how to change one run."""

    def __init__(self, heading: str, question: str, word: str, choices: Choices, *, chosen: int = 0) -> None:
        super().__init__(heading, question, word)
        self._choices, self._chosen = choices, chosen

    def fields(self) -> Sequence[Horizontal]:
        if len(self._choices) < 2:
            return ()
        words = [name for name, _ in self._choices]
        return (Horizontal(Label("how"), Choice(words, self.ui.glyphs, index=self._chosen, id="how")),)

    def action(self) -> Action | str:
        index = next((choice.index for choice in self.query("#how").results(Choice)), 0)
        return self._choices[index][1]


class ExecuteDialog(ActionDialog):
    """Ask what to execute on an environment."""

    def __init__(
        self, env: int, env_name: str, graph_type: str, graph_types: Sequence[str],
        picked: Mapping[str, Sequence[str]], *, over_ssh: bool = False,
    ) -> None:  # fmt: skip
        question = f"Graphs of environment {env} {env_name}: {', '.join(graph_types) or 'not known yet'}."
        super().__init__("execute", question, execute.word_for(env, env_name))
        self._env, self._type, self._over_ssh = env, graph_type, over_ssh
        self._picked = {kind: " ".join(ids) for kind, ids in picked.items()}

    def fields(self) -> Sequence[Horizontal]:
        glyphs = self.ui.glyphs
        fields = (
            ("graph types", Input(self._type, id="types", placeholder="one after another")),
            ("nodes", Input(self._picked["nodes"], id="nodes", placeholder="all nodes of the graph, or 1 2 5")),
            ("tasks", Input(self._picked["tasks"], id="tasks", placeholder="all; or netconfig keystone")),
            ("assume", Input(id="assume", placeholder="for a dry run: controller=3,compute=8")),
            ("manner", Choice(execute.MANNERS, glyphs, id="manner")),
            ("earlier runs", Choice(execute.FORCES, glyphs, id="force")),
            ("executor", Input(id="executor", placeholder="that of each node; or local, ssh, noop")),
            *([("SSH nodes", Choice(execute.CHECKS, glyphs, id="check"))] * self._over_ssh),
        )
        return [Horizontal(Label(label), field) for label, field in fields]

    def action(self) -> Action | str:
        names = ("types", "nodes", "tasks", "assume", "executor")
        types, nodes, tasks, assume, executor = (self.query_one(f"#{name}", Input).value.strip() for name in names)
        manner, force = (self.query_one(f"#{name}", Choice).index for name in ("manner", "force"))
        result = execute.request(self._env, types, nodes, tasks, manner, bool(force))
        if isinstance(result, str):
            return result
        if executor and executor not in executor_kinds():
            return f"There is no executor {executor}. Known: {', '.join(executor_kinds())}."
        result = replace(result, executor=executor)
        if assume and (refusal := execute.not_assumed(result)):
            return refusal
        skips = any(choice.index for choice in self.query("#check").results(Choice))
        return Execute(result, assume, check=result.dry_run or not skips)

"""The app: it goes from screen to screen, hands answers to them, and has the keys that work everywhere."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import cast

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.binding import Binding

from fuelclient.plan.study import TaskKey
from fuelclient.tui.command_palette import Palette, Places
from fuelclient.tui.gateway import Answered, Failed
from fuelclient.tui.presenters import bars
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.table import Tone
from fuelclient.tui.requests import AskGraph
from fuelclient.tui.routes import TABS, Route, View, command_line
from fuelclient.tui.screens.base import ViewScreen, active_keys, help_groups
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.panes import ASCII_CSS
from fuelclient.tui.widgets.tones import TONE_CSS
from fuelclient.tui.write_guard import GuardedUI

_SCREENS = {
    View.ENVIRONMENTS: "environments:EnvironmentsScreen",
    View.ROLES: "lists:RolesScreen",
    View.NODES: "lists:NodesScreen",
    View.PREVIEW: "preview:PreviewScreen",
    View.LANES: "lanes:LanesScreen",
    View.BROWSE: "browse:BrowseScreen",
    View.PROBLEMS: "lists:ProblemsScreen",
    View.PLUGINS: "lists:PluginsScreen",
    View.HISTORY: "history:HistoryScreen",
    View.RUN: "run:RunScreen",
    View.WHY: "browse:WhyScreen",
}
"""The module and the class of each view, loaded when it is shown first so that the first screen is fast."""

_TASKS = (View.PREVIEW, View.LANES, View.BROWSE, View.PROBLEMS, View.WHY)
"""The views whose rows are tasks, or about one."""


class FuelUI(GuardedUI):
    """The terminal UI.

    A task is marked by its name: a graph that is read again may have it in another row, or not at all.
    """

    TITLE = "fuel2"
    CSS = TONE_CSS + ASCII_CSS
    COMMANDS = {Places}
    ENABLE_COMMAND_PALETTE = True
    HELP = (
        "fuel2 shows environments, their roles, the order of their graphs, and runs. It is read-only until A arms it;"
        " then e executes, and x, X, u, D stop, kill, resume and delete a run. Each asks first, and leaving disarms."
    )
    BINDING_GROUP_TITLE = "everywhere"

    BINDINGS = [
        Binding("question_mark", "help", "help", id="app.help", key_display="?"),
        Binding("m", "mark", "mark", id="app.mark"),
        Binding("space", "pick", "pick for execute", show=False, id="app.pick"),
        Binding("w", "why", "why after", id="app.why"),
        *(
            Binding(str(digit), f"view('{view}')", view, show=False, id=f"app.{view}")
            for digit, view in enumerate(TABS, start=1)
        ),
        Binding("0", "environments", "environments", show=False, id="app.environments"),
        Binding("left_square_bracket,backspace", "go_back", "back", show=False, id="app.back", key_display="["),
        Binding("right_square_bracket", "go_forward", "forward", show=False, id="app.forward", key_display="]"),
        Binding("y", "copy_id", "copy id", id="app.copy-id"),
        Binding("Y,shift+y", "copy_yaml", "copy YAML", show=False, id="app.copy-yaml", key_display="Y"),
        Binding("c", "copy_line", "copy command line", show=False, id="app.copy-line"),
        Binding("at", "log", "command log", id="app.log", key_display="@"),
        Binding("t", "types", "graph type", show=False, id="app.types"),
        Binding("ctrl+r", "renew", "read again", show=False, id="app.renew"),
        Binding("colon", "command_palette", "go to ...", show=False, id="app.palette", key_display=":"),
        Binding("A,shift+a", "arm", "arm", id="app.arm", key_display="A"),
        Binding("e", "execute", "execute", id="act.execute"),
        Binding("q", "quit", "quit", id="app.quit"),
    ]

    trouble = ""
    _marked: tuple[AskGraph, TaskKey] | None = None
    _picked: tuple[AskGraph, dict[str, list[str]]] | None = None

    def on_mount(self) -> None:
        self.push_screen(self._made())
        self.set_interval(1.0, self._watch)

    def on_unmount(self) -> None:
        self.gateway.close()

    # going from place to place

    def go(self, route: Route) -> None:
        self._remember()
        before = self.trail.here
        self.trail.go(route)
        self._enter(before)

    def _enter(self, before: Route) -> None:
        if before.env and before.env != self.trail.here.env:
            self.disarm()
        while self.view not in (None, self.screen):
            self.pop_screen()  # a dialog
        self.switch_screen(self._made())

    def _made(self) -> ViewScreen:
        route = self.trail.here
        self.looked(route)
        self.typed.entered()
        screen = screen_class(route.view)(route)
        screen.set_class(self.glyphs.is_ascii, "-ascii")
        screen.fit(self.size)
        self.gateway.revisit(screen.request())
        self.trouble = self.gateway.trouble(screen.request())
        self.gateway.answer(screen.request())  # the backend works while the screen is put together
        return screen

    def _remember(self) -> None:
        """Note what the screen shows, so that coming back finds it."""
        if isinstance(self.screen, ViewScreen) and self.screen.filled:
            self.trail.here = self.screen.state()

    def action_go_back(self) -> None:
        self._step(self.trail.back)

    def action_go_forward(self) -> None:
        self._step(self.trail.forward)

    def _step(self, step: Callable[[], bool]) -> None:
        self._remember()
        before = self.trail.here
        if step():
            self._enter(before)

    def action_environments(self) -> None:
        if self.trail.here.view is not View.ENVIRONMENTS:
            self.go(Route(focus=str(self.trail.here.env)))

    def action_view(self, view: str) -> None:
        """Go to another view of the environment, or of the one under the cursor, at the same task."""
        here, screen = self.trail.here, self.view
        if screen is None or view == here.view:
            return
        if here.env:
            self.go(here.to(View(view), task=screen.task_here()))
        elif screen.env_here():
            self.go(Route(View(view), screen.env_here()))

    def action_types(self) -> None:
        """Go to the next graph type of the environment, from any screen."""
        types = self.graph.types if self.graph is not None else ()
        if len(types) > 1:
            place = types.index(self.trail.here.graph_type)
            self.go(self.trail.here.of(types[(place + 1) % len(types)]))
        else:
            self.notify("There is no other graph type here.")

    # marking and picking

    def _task_here(self) -> TaskKey | None:
        return self.view.task_here() if self.view is not None else None

    def action_mark(self) -> None:
        """Mark the task under the cursor, or unmark it."""
        task = self._task_here()
        if task is None:
            self.notify("There is no task under the cursor.")
            return
        mark = (self.graph_here, task)
        self._marked = None if self._marked == mark else mark
        self.decorate()

    @property
    def marked(self) -> str:
        """The marked task if it belongs to the graph on the screen, and whether that has lost it."""
        if self._marked is None or self.graph is None or self._marked[0] != self.graph_here:
            return ""
        task = self._marked[1]
        return task.id if self.graph.study.row_with(task) is not None else f"{task.id}, which is gone"

    def action_why(self) -> None:
        """Go to the chain between the marked task and the one under the cursor."""
        task, marked = self._task_here(), self._marked
        if task is None or marked is None or marked[0] != self.graph_here or marked[1] == task:
            self.notify("Mark a task with m, go to another one of the same graph, and press w there.")
        else:
            self.go(replace(self.trail.here.to(View.WHY, task=task), other=marked[1]))

    @property
    def picked(self) -> dict[str, list[str]]:
        """The ids of the `tasks` and `nodes` that are picked here: another environment or graph type begins anew."""
        if self._picked is None or self._picked[0] != self.graph_here:
            self._picked = (self.graph_here, {"tasks": [], "nodes": []})
        return self._picked[1]

    def action_pick(self) -> None:
        """Pick the task or the node under the cursor, or no longer."""
        task, name = self._task_here(), self.view.name_here() if self.view is not None else ""
        if self.trail.here.view is View.NODES and name.isdigit():
            kind = "nodes"
        elif task is not None:
            kind, name = "tasks", task.id
        else:
            self.notify("There is no task and no node under the cursor.")
            return
        ids = self.picked[kind]
        if name in ids:
            ids.remove(name)
        else:
            ids.append(name)
        self.decorate()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable the keys about tasks on the views whose rows are tasks, and only what the backend can do."""
        if (action, *parameters) == ("stop", True):
            return self.abilities.kill
        if action == "resume":
            return self.abilities.resume
        return action not in ("mark", "why", "copy_yaml") or self.trail.here.view in _TASKS

    # copying

    def action_copy_id(self) -> None:
        if self.view is not None:
            self.copy_line(self.view.name_here())

    def action_copy_yaml(self) -> None:
        """Copy the merged definition of the task under the cursor."""
        graph = self.graph
        row = self.view.task_row() if self.view is not None else -1
        if graph is None or row < 0:
            self.notify("There is no task under the cursor.")
            return
        from fuelclient import files
        from fuelclient.serializers.task import task_to

        self.copy_line(files.dumps([task_to(graph.study.task(row).task)], "yaml"))

    def action_copy_line(self) -> None:
        if self.view is not None:
            self.copy_line(command_line(self.view.shown(), self.program))

    def copy_line(self, text: str) -> None:
        if text:
            self.copy_to_clipboard(text)
            self.notify(text if len(text) < 200 else f"{text[:200]} ...", title="copied", markup=False)

    # typing ahead

    def is_filled(self) -> bool:
        return not isinstance(self.screen, ViewScreen) or self.screen.filled or bool(self.trouble)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.touch()
        await super().on_event(event)

    # dialogs

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())  # without an id: the one before may not be gone yet

    def action_help(self) -> None:
        from fuelclient.tui.screens.dialogs import HelpDialog

        self.push_screen(HelpDialog(help_groups(self.screen)))

    def action_log(self) -> None:
        from fuelclient.tui.screens.dialogs import LogDialog

        self.push_screen(LogDialog(self.log_lines))

    def pop_screen(self) -> AwaitComplete:
        """Close what lies over a view. The view stays: a palette that two clicks at once close asks for it twice."""
        return AwaitComplete() if self.view in (None, self.screen) else super().pop_screen()

    # answers

    @on(Answered)
    def _answered(self, message: Answered) -> None:
        if self.gateway.settle(message):
            self.trouble = self._troubled()
            if self.view is not None:
                self.view.refill()

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        if message.request not in self.gateway.pending:
            return
        delay = self.gateway.fail(message)
        self.trouble = self._troubled()
        if delay is not None:
            self.set_timer(delay, lambda: self._again(message))
        screen = self.view
        if screen is not None and screen.is_whole():
            if message.gone and screen.filled and message.request == screen.request():
                screen.empty()
            screen.missed(message.request)
        self.decorate()

    def _again(self, message: Failed) -> None:
        if self.gateway.pending.get(message.request) is message.waiting:
            self.gateway.ask(message.request)

    def _watch(self) -> None:
        """Once a second: say so if a backend takes its time, and ask again for what changes by itself."""
        release_garbage_collector()
        if not self.trouble and self._troubled():
            self.tell_trouble(self._troubled())
        self.disarm_if_idle()
        for request in self.view.live() if self.view is not None else ():
            if request not in self.gateway.failed and request not in self.gateway.pending:
                self.gateway.ask(request)

    def _troubled(self) -> str:
        """Return what is wrong with what the screen shows, else with any request; empty if all is well."""
        slow = self.gateway.slow()
        trouble = self.gateway.trouble(*(self.view.asked() if self.view is not None else ()))
        return trouble or (f"Still waiting for {slow} ...  ctrl+r asks again" if slow else "")

    def tell_trouble(self, text: str) -> None:
        self.trouble = text
        self.decorate()

    def action_renew(self) -> None:
        self.trouble = ""
        if isinstance(self.screen, ViewScreen):
            self.gateway.renew(self.screen.request())
            for request in self.screen.asked():
                self.gateway.revisit(request)
            self.decorate()

    # the bars

    def decorate(self) -> None:
        screen = self.view
        if screen is None or not screen.query("#keys"):
            return
        here, graph = self.trail.here, self.graph
        badges = bars.badges(here, graph, screen.size.width - 62, armed=self.armed)
        screen.query_one("#head", Bar).show(bars.crumbs(here, graph, self.glyphs), badges)
        screen.query_one("#tabs", Bar).show(bars.tabs(here))
        banner = screen.query_one("#banner", Bar)
        banner.set_class(bool(self.trouble), "shown")
        banner.show([Part(f" {self.glyphs.error} {self.trouble}", Tone.BAD)])
        command = command_line(screen.shown(), self.program)
        screen.query_one("#line", Bar).show(*bars.line(command, self.marked, self.picked))
        screen.query_one("#keys", Bar).show(bars.keys(active_keys(screen, armed=self.armed)))


def screen_class(view: View) -> type[ViewScreen]:
    """Return the class of a view's screens."""
    module, _, name = _SCREENS[view].partition(":")
    return cast("type[ViewScreen]", getattr(import_module(f"fuelclient.tui.screens.{module}"), name))


def release_garbage_collector() -> None:
    """Collect garbage again if the start has turned that off, but never look at what the start has made: a quarter of a
    million objects, hardly any of which ever dies. That keeps later collections short."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()

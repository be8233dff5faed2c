"""The app: where one is, what is known, and the keys that work everywhere. It decides nothing about graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import cast

from textual import events, on
from textual.binding import Binding
from textual.filter import LineFilter

from fuelclient.backends.base import Backend
from fuelclient.model.run import Run
from fuelclient.tui import collector
from fuelclient.tui.arming import Arming
from fuelclient.tui.drawing import Harmless
from fuelclient.tui.gateway import Gateway
from fuelclient.tui.glyphs import glyphs
from fuelclient.tui.keys import active_keys, help_groups
from fuelclient.tui.known import Known
from fuelclient.tui.marks import Marks
from fuelclient.tui.messages import Acted, Answered, Failed, Refused
from fuelclient.tui.presenters import chrome
from fuelclient.tui.presenters.chrome import Part
from fuelclient.tui.presenters.table import Tone
from fuelclient.tui.providers import Places
from fuelclient.tui.requests import AskRuns
from fuelclient.tui.routes import TABS, Route, Trail, View, command_line
from fuelclient.tui.screens.view import ViewScreen
from fuelclient.tui.subject import Subject
from fuelclient.tui.theme import THEME
from fuelclient.tui.typeahead import PatientApp
from fuelclient.tui.widgets.bar import Bar
from fuelclient.tui.widgets.panes import ASCII_CSS
from fuelclient.tui.widgets.tones import TONE_CSS

_SCREENS = {
    View.ENVIRONMENTS: "environments:EnvironmentsScreen",
    View.ROLES: "roles:RolesScreen",
    View.NODES: "roles:NodesScreen",
    View.PREVIEW: "preview:PreviewScreen",
    View.LANES: "lanes:LanesScreen",
    View.BROWSE: "browse:BrowseScreen",
    View.PROBLEMS: "problems:ProblemsScreen",
    View.PLUGINS: "problems:PluginsScreen",
    View.HISTORY: "history:HistoryScreen",
    View.RUN: "run:RunScreen",
    View.WHY: "browse:WhyScreen",
}
"""The module and the class of each view; they are loaded when they are shown first, so that the first screen does not
wait for the others."""

_TASKS = (View.PREVIEW, View.LANES, View.BROWSE, View.PROBLEMS, View.WHY)
"""The views whose rows are tasks, or about one."""


class FuelUI(PatientApp):
    """The terminal UI over any backend; `connect` makes one in whatever thread calls it."""

    TITLE = "fuel2"
    CSS = TONE_CSS + ASCII_CSS
    COMMANDS = {Places}
    ENABLE_COMMAND_PALETTE = True
    HELP = (
        "fuel2 shows environments, their roles, the order of their graphs, and runs. It only reads until A arms it;"
        " then e executes, and x, X, u, D stop, kill, resume and delete a run. Each asks first, and leaving disarms."
    )
    BINDING_GROUP_TITLE = "everywhere"

    BINDINGS = [
        Binding("question_mark", "help", "help", id="app.help", key_display="?"),
        Binding("m,space", "mark", "mark", id="app.mark", key_display="m"),
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

    def __init__(
        self,
        connect: Callable[[], Backend],
        *,
        env: int = 0,
        ascii_only: bool = False,
        program: str = "fuel2",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self.clock = clock
        self.glyphs = glyphs(ascii_only=ascii_only)
        self.gateway = Gateway(connect, self.post_message, time.monotonic)
        self.trail = Trail(Route())
        if env:
            self.trail.go(Route(View.ROLES, env))
        self.known = Known(self.gateway, self.trail)
        self.log_lines: list[str] = []
        self.marks = Marks(self)
        self.program = program
        self.trouble = ""
        self._harmless = Harmless()
        self.arming = Arming(self)
        self.register_theme(THEME)
        self.theme = THEME.name

    def on_mount(self) -> None:
        self.push_screen(self._made())
        self.set_interval(1.0, self._watch)

    def on_unmount(self) -> None:
        self.gateway.close()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._harmless]

    # where one is

    def go(self, route: Route) -> None:
        """Be somewhere else."""
        self._remember()
        before = self.trail.here
        self.trail.go(route)
        self._enter(before)

    def _enter(self, before: Route) -> None:
        self.arming.left(before, self.trail.here)
        while not isinstance(self.screen, ViewScreen):
            self.pop_screen()  # a dialog over the place that is left
        self.switch_screen(self._made())

    def _made(self) -> ViewScreen:
        route = self.trail.here
        self.log_lines.append(command_line(route, self.program))
        self.typed.entered()
        screen = screen_class(route.view)(route)
        screen.set_class(self.glyphs.is_ascii, "-ascii")
        screen.fit(self.size)
        self.gateway.revisit(screen.request())
        self.trouble = self.gateway.trouble(screen.request())
        self.gateway.answer(screen.request())  # asked for already while the screen is put together
        return screen

    def _remember(self) -> None:
        """Keep what the screen shows, so that coming back finds it."""
        if isinstance(self.screen, ViewScreen) and self.screen.filled:
            self.trail.amend(self.screen.state())

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
        """Another view of the environment, or of the one under the cursor; at the same task."""
        here, screen = self.trail.here, self.screen
        if not isinstance(screen, ViewScreen) or view == here.view:
            return
        if here.env:
            self.go(here.to(View(view), task=screen.task_here()))
        elif screen.env_here():
            self.go(Route(View(view), screen.env_here()))

    def action_types(self) -> None:
        """The next graph type of the environment."""
        subject = self.subject_here()
        if subject is not None and len(subject.types) > 1:
            place = subject.types.index(self.trail.here.graph_type)
            self.go(self.trail.here.of(subject.types[(place + 1) % len(subject.types)]))
        else:
            self.notify("There is no other graph type here.")

    def subject_here(self) -> Subject | None:
        """What is known of the environment on the screen."""
        return self.known.subject

    # marks

    def action_mark(self) -> None:
        self.marks.toggle()

    def action_why(self) -> None:
        self.marks.why()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 (Textual's)
        """Keys about tasks work where rows are tasks."""
        return action not in ("mark", "why", "copy_yaml") or self.trail.here.view in _TASKS

    # copying

    def action_copy_id(self) -> None:
        if isinstance(self.screen, ViewScreen):
            self._copy(self.screen.name_here())

    def action_copy_yaml(self) -> None:
        """Copy the merged definition of the task under the cursor."""
        subject = self.subject_here()
        row = self.screen.subject_row() if isinstance(self.screen, ViewScreen) else -1
        if subject is None or row < 0:
            self.notify("There is no task under the cursor.")
            return
        from fuelclient import files
        from fuelclient.serializers.task import task_to

        self._copy(files.dumps([task_to(subject.study.task(row).task)], "yaml"))

    def action_copy_line(self) -> None:
        self._copy(self.log_lines[-1])

    def copy_line(self, line: str) -> None:
        """Copy a command line."""
        self._copy(line)

    def _copy(self, text: str) -> None:
        if text:
            self.copy_to_clipboard(text)
            self.notify(text if len(text) < 200 else f"{text[:200]} ...", title="copied", markup=False)

    # acting

    def action_arm(self) -> None:
        self.arming.toggle()

    def action_execute(self) -> None:
        self.arming.execute()

    def action_stop(self, kill: bool) -> None:
        self.arming.stop(kill=kill)

    def action_resume(self) -> None:
        self.arming.resume()

    def action_delete(self) -> None:
        self.arming.delete()

    def run_found(self, found: Run) -> None:
        """A run is known better than the history had it, which is asked for again when it is shown."""
        self.gateway.forget(AskRuns())
        self.gateway.forget(AskRuns(found.cluster_id))

    # typing ahead

    def is_built(self) -> bool:
        return self.screen.focused is not None

    def is_filled(self) -> bool:
        return not isinstance(self.screen, ViewScreen) or self.screen.filled or bool(self.trouble)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.arming.touch()
        await super().on_event(event)

    # dialogs

    def action_help(self) -> None:
        if isinstance(self.screen, ViewScreen):
            from fuelclient.tui.screens.dialogs import HelpDialog

            self.push_screen(HelpDialog(help_groups(self.screen)))

    def action_log(self) -> None:
        if isinstance(self.screen, ViewScreen):
            from fuelclient.tui.screens.dialogs import LogDialog

            self.push_screen(LogDialog(self.log_lines, self.glyphs))

    # answers

    @on(Answered)
    def _answered(self, message: Answered) -> None:
        if self.gateway.settle(message):
            screen = self._view()
            self.trouble = self._troubled()
            if screen is not None:
                screen.refill()

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        if message.request not in self.gateway.pending:
            return
        delay = self.gateway.fail(message)
        self.trouble = self._troubled()
        if delay is not None:
            self.set_timer(delay, lambda: self._again(message))
        screen = self._view()
        if screen is not None and screen.is_whole():
            if message.gone and screen.filled and message.request == screen.request():
                screen.empty()
            screen.missed(message.request)
        self.decorate()

    def _again(self, message: Failed) -> None:
        waiting = self.gateway.pending.get(message.request)
        if waiting is not None and waiting.ticket == message.ticket:
            self.gateway.ask(message.request)

    @on(Acted)
    def _acted(self, message: Acted) -> None:
        self.arming.acted(message)

    @on(Refused)
    def _refused(self, message: Refused) -> None:
        self.arming.refused(message)

    def _watch(self) -> None:
        """Once a second: tell when a backend takes its time, and ask again for what changes by itself."""
        collector.release()
        if not self.trouble and self._troubled():
            self.tell_trouble(self._troubled())
        self.arming.watch()
        screen = self._view()
        if (
            screen is not None
            and screen.is_live()
            and screen.request() not in self.gateway.failed
            and screen.request() not in self.gateway.pending
        ):
            screen.renewed()

    def _troubled(self) -> str:
        """What is wrong with what the screen shows, else with what is waited for; empty when all is well."""
        screen, slow = self._view(), self.gateway.slow()
        trouble = self.gateway.trouble(*(screen.asked() if screen is not None else ()))
        return trouble or (f"Still waiting for {slow[0]} ...  ctrl+r asks again" if slow else "")

    def tell_trouble(self, text: str) -> None:
        """Show a banner, or none."""
        self.trouble = text
        self.decorate()

    def action_renew(self) -> None:
        self.trouble = ""
        if isinstance(self.screen, ViewScreen):
            self.gateway.renew(self.screen.request())
            self.decorate()

    def _view(self) -> ViewScreen | None:
        """The view that is shown, maybe under a dialog; None while the app begins or ends."""
        views = [screen for screen in self._screen_stack if isinstance(screen, ViewScreen)]
        return views[-1] if views else None

    # the bars

    def decorate(self) -> None:
        """Fill the bars of the screen."""
        screen = self._view()
        if screen is None or not screen.query("#keys"):
            return
        here, subject = self.trail.here, self.subject_here()
        badges = chrome.badges(here, subject, screen.size.width - 62, armed=self.arming.armed)
        screen.query_one("#head", Bar).show(chrome.crumbs(here, subject, self.glyphs), badges)
        screen.query_one("#tabs", Bar).show(chrome.tabs(here))
        banner = screen.query_one("#banner", Bar)
        banner.set_class(bool(self.trouble), "shown")
        banner.show([Part(f" {self.glyphs.error} {self.trouble}", Tone.BAD)])
        screen.query_one("#line", Bar).show(*chrome.line(command_line(here, self.program), self.marks.text))
        screen.query_one("#keys", Bar).show(chrome.keys(active_keys(screen, armed=self.arming.armed)))


def screen_class(view: View) -> type[ViewScreen]:
    """The class of a view's screens."""
    module, _, name = _SCREENS[view].partition(":")
    return cast("type[ViewScreen]", getattr(import_module(f"fuelclient.tui.screens.{module}"), name))

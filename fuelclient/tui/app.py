"""The app: it switches screens, gives them answers, handles the keys that work everywhere, and confirms changes.

Dialogs are imported when they are opened, to show the first screen sooner.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import cast

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.screen import Screen

from fuelclient.insight.progress import rest_of
from fuelclient.model.node import DEFAULT_EXECUTOR
from fuelclient.model.run import DryRun, Run
from fuelclient.model.status import RunStatus
from fuelclient.plan.study import TaskKey
from fuelclient.tui.actions import Action, Choices, Delete, Execute, Resume, Stop, command_of
from fuelclient.tui.app_base import UI
from fuelclient.tui.command_palette import Palette, Places
from fuelclient.tui.gateway import Answered, Failed
from fuelclient.tui.presenters import bars
from fuelclient.tui.presenters.bars import Part
from fuelclient.tui.presenters.table import Tone
from fuelclient.tui.requests import AskGraph, Request
from fuelclient.tui.routes import TABS, Route, View, command_line
from fuelclient.tui.screens.base import ViewScreen, active_keys, help_groups
from fuelclient.tui.widgets.bar import Bar

IDLE = 600.0
"""Seconds without a key after which the UI disarms itself."""

_MODULES = {
    "environments": (View.ENVIRONMENTS, View.HISTORY),
    "lists": (View.ROLES, View.NODES, View.PROBLEMS, View.PLUGINS),
    "graph": (View.PREVIEW, View.LANES),
    "browse": (View.BROWSE, View.WHY),
    "run": (View.RUN,),
}
"""Modules of `screens`, imported when one of their views is first shown. The class of `View.ROLES` is `RolesScreen`."""

_TASK_VIEWS = (View.PREVIEW, View.LANES, View.BROWSE, View.PROBLEMS, View.WHY)
"""The views whose rows are tasks, or are about tasks."""


class FuelUI(UI):
    """The terminal UI. Tasks are marked by key, because they may be in other rows after a graph is read again."""

    TITLE = "fuel2"
    CSS = """
    .tone--dim { color: $text-muted; }
    .tone--strong { text-style: bold; }
    .tone--accent { color: $accent; }
    .tone--warn { color: $text-warning; }
    .tone--bad { color: $text-error; text-style: bold; }
    .-ascii Pane { border-top: ascii $panel; }
    .-ascii Pane:focus-within { border-top: ascii $accent; }
    .-ascii Toast { border-left: ascii $accent; }
    .-ascii Lined, .-ascii Details { scrollbar-size: 0 0; }
    """
    COMMANDS = {Places}
    HELP = (
        "fuel2 shows environments, their roles, the order of their graphs, and runs. It is read-only until A arms it;"
        " then e executes, and x, X, u, D stop, kill, resume and delete a run. Each asks first, and leaving disarms."
    )
    BINDING_GROUP_TITLE = "everywhere"

    BINDINGS = [
        Binding("question_mark", "help", "help", id="app.help"),
        Binding("m", "mark", "mark", id="app.mark"),
        Binding("space", "pick", "pick for execute", show=False, id="app.pick"),
        Binding("w", "why", "why after", id="app.why"),
        *(
            Binding(str(digit), f"view('{view}')", view, show=False, id=f"app.{view}")
            for digit, view in enumerate(TABS, start=1)
        ),
        Binding("0", "environments", "environments", show=False, id="app.environments"),
        Binding("left_square_bracket,backspace", "go_back", "back", show=False, id="app.back"),
        Binding("right_square_bracket", "go_forward", "forward", show=False, id="app.forward"),
        Binding("y", "copy_id", "copy id", id="app.copy-id"),
        Binding("Y,shift+y", "copy_yaml", "copy YAML", show=False, id="app.copy-yaml"),
        Binding("c", "copy_line", "copy command line", show=False, id="app.copy-line"),
        Binding("at", "log", "command log", id="app.log"),
        Binding("t", "types", "graph type", show=False, id="app.types"),
        Binding("ctrl+r", "renew", "read again", show=False, id="app.renew"),
        Binding("colon", "command_palette", "go to ...", show=False, id="app.palette"),
        Binding("A,shift+a", "arm", "arm", id="app.arm"),
        Binding("e", "execute", "execute", id="act.execute"),
        Binding("q", "quit", "quit", id="app.quit"),
    ]

    armed = False
    """Whether the UI may make changes. It is disarmed by the same key, by leaving the environment, and after `IDLE`."""

    view: ViewScreen
    """The current view, possibly below a dialog."""

    _last_key = 0.0
    _marked: tuple[AskGraph, TaskKey] | None = None
    _picked: tuple[AskGraph, dict[str, list[str]]] | None = None

    def on_mount(self) -> None:
        self.push_screen(self._new_screen())
        self.set_interval(1.0, self._watch)

    def on_unmount(self) -> None:
        self.gateway.close()

    # switching screens

    def go(self, route: Route) -> None:
        self._remember()
        self.trail.go(route)
        self._enter()

    def _enter(self) -> None:
        if self.view.route.env not in (0, self.trail.here.env):
            self.disarm()
        while self.screen is not self.view:
            self.pop_screen()  # a dialog
        self.switch_screen(self._new_screen())

    def _new_screen(self) -> ViewScreen:
        route = self.trail.here
        self.log_route(route)
        self.typed.entered()
        screen = self.view = screen_class(route.view)(route)
        screen.set_class(self.glyphs.is_ascii, "-ascii")
        screen.fit(self.size)
        self.gateway.revisit(screen.request())
        self.trouble = self.gateway.trouble(screen.request())
        self.gateway.answer(screen.request())  # the backend works while the screen is built
        return screen

    def _remember(self) -> None:
        """Save the state of the screen for the user's return."""
        if self.screen is self.view and self.view.filled:
            self.trail.here = self.view.state()

    def action_go_back(self) -> None:
        self._step(self.trail.back)

    def action_go_forward(self) -> None:
        self._step(self.trail.forward)

    def _step(self, step: Callable[[], bool]) -> None:
        self._remember()
        if step():
            self._enter()

    def action_environments(self) -> None:
        if self.trail.here.view is not View.ENVIRONMENTS:
            self.go(Route(focus=str(self.trail.here.env)))

    def action_view(self, view: str) -> None:
        """Go to another view of the environment (of the screen, or under the cursor), at the same task."""
        here = self.trail.here
        if view == here.view:
            return
        if here.env:
            self.go(here.to(View(view), task=self.view.task_here()))
        elif self.view.env_here():
            self.go(Route(View(view), self.view.env_here()))

    def action_types(self) -> None:
        types = self.graph.types if self.graph is not None else ()
        if len(types) > 1:
            index = types.index(self.trail.here.graph_type)
            self.go(self.trail.here.of(types[(index + 1) % len(types)]))
        else:
            self.notify("There is no other graph type here.")

    # marking and picking

    def action_mark(self) -> None:
        if (task := self.view.task_here()) is None:
            self.notify("There is no task under the cursor.")
            return
        mark = (self.graph_here, task)
        self._marked = None if self._marked == mark else mark
        self.decorate()

    @property
    def marked(self) -> str:
        """The marked task if it is of the graph on the screen, with a note if the graph no longer has it."""
        if self._marked is None or self.graph is None or self._marked[0] != self.graph_here:
            return ""
        task = self._marked[1]
        return task.id if self.graph.study.row_with(task) is not None else f"{task.id}, which is gone"

    def action_why(self) -> None:
        task, marked = self.view.task_here(), self._marked
        if task is None or marked is None or marked[0] != self.graph_here or marked[1] == task:
            self.notify("Mark a task with m, go to another one of the same graph, and press w there.")
        else:
            self.go(replace(self.trail.here.to(View.WHY, task=task), other=marked[1]))

    @property
    def picked(self) -> dict[str, list[str]]:
        """The ids of picked `tasks` and `nodes`. They are dropped when the environment or graph type changes."""
        if self._picked is None or self._picked[0] != self.graph_here:
            self._picked = (self.graph_here, {"tasks": [], "nodes": []})
        return self._picked[1]

    def action_pick(self) -> None:
        task, name = self.view.task_here(), self.view.name_here()
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
        """Enable keys for tasks only in `_TASK_VIEWS`, kill and resume only if the backend supports them."""
        if (action, *parameters) == ("stop", True):
            return self.abilities.kill
        if action == "resume":
            return self.abilities.resume
        return action not in ("mark", "why", "copy_yaml") or self.trail.here.view in _TASK_VIEWS

    # copying

    def action_copy_id(self) -> None:
        self.copy_line(self.view.name_here())

    def action_copy_yaml(self) -> None:
        graph, row = self.graph, self.view.task_row()
        if graph is None or row < 0:
            self.notify("There is no task under the cursor.")
            return
        from fuelclient import files
        from fuelclient.serializers.task import task_to

        self.copy_line(files.dumps([task_to(graph.study.task(row).task)], "yaml"))

    def action_copy_line(self) -> None:
        self.copy_line(command_line(self.view.shown(), self.program))

    # typing ahead

    def is_filled(self) -> bool:
        return self.screen is not self.view or self.view.filled or bool(self.trouble)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.touch()
        await super().on_event(event)

    # dialogs

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())  # no id: it must be unique, and the last palette may still exist

    def action_help(self) -> None:
        from fuelclient.tui.screens.dialogs import HelpDialog

        self.push_screen(HelpDialog(help_groups(self.screen)))

    def action_log(self) -> None:
        from fuelclient.tui.screens.dialogs import LogDialog

        self.push_screen(LogDialog(self.log_lines))

    def pop_screen(self) -> AwaitComplete:
        """Close a dialog, never a view: two clicks may close a palette twice."""
        return AwaitComplete() if self.screen is self.view else super().pop_screen()

    # answers

    def on_answered(self, message: Answered) -> None:
        if not self.gateway.accept(message):
            return
        if not isinstance(message.job, Request):
            self._acted(message.job, message.value)
        else:
            self.view.refill()
            self.trouble = self._trouble_text()  # the screen may have dropped the request that had failed

    def on_failed(self, message: Failed) -> None:
        if (request := message.job) not in self.gateway.pending:
            return
        if not isinstance(request, Request):
            self._refused(request, message)
            return
        delay = self.gateway.fail(request, message)
        self.trouble = self._trouble_text()
        if delay is not None:
            self.set_timer(delay, lambda: self._again(message))
        if self.view.is_whole():
            if message.gone and self.view.filled and request == self.view.request():
                self.view.empty()
            self.view.explain(request)
        self.decorate()

    def _again(self, message: Failed) -> None:
        if self.gateway.pending.get(message.job) is message.waiting:
            self.gateway.ask(message.job)

    def _watch(self) -> None:
        """Every second: report slow backends, disarm an idle UI, and repeat live requests."""
        resume_garbage_collection()
        self.trouble = self.trouble or self._trouble_text()
        self.disarm_if_idle()
        for request in self.view.live() if self.view.is_whole() else ():
            if request not in self.gateway.failed and request not in self.gateway.pending:
                self.gateway.ask(request)

    def _trouble_text(self) -> str:
        """Why data is missing or late (requests of the screen first); empty if nothing is."""
        slow = self.gateway.slow()
        trouble = self.gateway.trouble(*self.view.requests())
        return trouble or (f"Still waiting for {slow} ...  ctrl+r asks again" if slow else "")

    def action_renew(self) -> None:
        self.trouble = ""
        if self.screen is self.view:
            self.gateway.renew(self.view.request())
            for request in self.view.requests():
                self.gateway.revisit(request)
            self.decorate()

    # changes: only while armed, each after a confirmation, and never repeated

    def action_arm(self) -> None:
        if self.armed:
            self.disarm()
            return
        self.armed = True
        self.touch()
        can = self.abilities
        keys = f"e executes, x stops,{' X kills,' * can.kill}{' u resumes,' * can.resume} D deletes"
        self.notify(f"Armed: {keys}; each asks first. A disarms.")
        self.decorate()

    def touch(self) -> None:
        self._last_key = self.gateway.now()

    def disarm_if_idle(self) -> None:
        if self.gateway.now() - self._last_key > IDLE:
            self.disarm()

    def disarm(self) -> None:
        if self.armed:
            self.armed = False
            self.notify("Read-only again.")
            self.decorate()

    def action_execute(self) -> None:
        env = self.view.env_here()
        if not self._require_armed():
            return
        if not env:
            self.notify("Choose an environment to execute on.")
            return
        from fuelclient.tui.screens.dialogs import ExecuteDialog

        types = self.graph.types if self.graph is not None else ()
        name = self.environment_names().get(env, str(env))
        over_ssh = self._over_ssh(env)
        self._ask(ExecuteDialog(env, name, self.trail.here.graph_type, types, self.picked, over_ssh=over_ssh))

    def _over_ssh(self, env: int) -> bool:
        """Whether any node of an environment, among the nodes read so far, is reached over SSH."""
        graph, overview = self.graph, self.overview
        nodes = graph.study.snapshot.nodes if graph is not None else overview.nodes if overview is not None else ()
        over_ssh = (node.reached_by == DEFAULT_EXECUTOR for node in nodes if node.cluster_id == env)
        return self.abilities.executors and any(over_ssh)

    def action_stop(self, kill: bool) -> None:
        run = self._run_for("stop")
        if run is not None and run.is_final:
            self.notify(f"Run {run.id} has ended already: it is {run.word}.")
        elif run is not None:
            choices = [("let running tasks finish", Stop(run.id)), ("kill running tasks", Stop(run.id, kill=True))]
            ways = choices if self.abilities.kill else choices[:1]
            self._confirm("stop", run, "Nothing else will start.", ways, chosen=int(kill))

    def action_resume(self) -> None:
        if (run := self._run_for("resume")) is not None and run.is_final:
            rest = rest_of(run)
            ended = f"Run {run.id} has ended already: it is {run.word}."
            self.notify(f"{ended} Execute what it left: {rest}." if rest else ended)
        elif run is not None and run.runner != "gone":
            self.notify(f"Run {run.id} is running already.")
        elif run is not None:
            choices = (("as it was left", Resume(run.id)), ("rerun what was interrupted", Resume(run.id, again=True)))
            self._confirm("resume", run, "What has ended is not run again.", choices)

    def action_delete(self) -> None:
        if (run := self._run_for("delete")) is not None:
            ways = [("", Delete(run.id, force=not run.is_final))]
            self._confirm("delete", run, "Its history and its logs are deleted too.", ways)

    def _require_armed(self) -> bool:
        if not self.armed:
            self.notify("The UI is read-only until you press A to arm it.", severity="warning")
        return self.armed

    def _run_for(self, verb: str) -> Run | None:
        """The run of the screen or under the cursor if the UI is armed; else notify the user."""
        run = self.view.run_here()
        if not self._require_armed():
            return None
        if run is None:
            self.notify(f"There is no run here to {verb}.")
        return run

    def _confirm(self, verb: str, run: Run, effect: str, choices: Choices, *, chosen: int = 0) -> None:
        from fuelclient.tui.screens.dialogs import ConfirmDialog

        question = f"{verb.capitalize()} run {run.id} of environment {run.cluster_id}? {effect}"
        self._ask(ConfirmDialog(verb, question, str(run.id), choices, chosen=chosen))

    def _ask(self, dialog: Screen[Action | None]) -> None:
        self.clear_notifications()  # they would cover the dialog
        self.push_screen(dialog, self.perform)

    def perform(self, action: Action | None) -> None:
        """Send an action to the backend, once. Its command line is logged even if it fails."""
        self.touch()
        if action is None or not self._require_armed():
            return
        if self.gateway.acting is not None:
            self.notify("The last action has had no answer yet.", severity="warning")
            return
        self.gateway.ask(action)
        self.log_lines.append(command_of(action, self.program))

    def _acted(self, action: Action, value: object) -> None:
        """Report a successful action, and go to the screen that shows its effect."""
        self.gateway.acted(removed=isinstance(action, Delete))
        if isinstance(value, DryRun):
            self._show_dry_run(value)
            return
        self.notify(command_of(action, self.program), title=f"done: {action.what}", markup=False)
        if isinstance(action, Execute) and isinstance(value, Run):
            self.go(Route(View.RUN, value.cluster_id, self.trail.here.graph_type, run=value.id))
        elif isinstance(action, Delete) and self.trail.here.view is View.RUN:
            self.go(Route(View.HISTORY, self.trail.here.env, self.trail.here.graph_type))
        else:
            self.action_renew()

    def _show_dry_run(self, dry_run: DryRun) -> None:
        from fuelclient.tui.screens.dialogs import PlanDialog

        run = dry_run.run
        if run is not None and run.status != RunStatus.READY:
            ended = f"ended: {run.word}. {run.message}" if run.is_final else "has not ended yet: see the history (8)."
            text = f"The master's dry run {run.id} {ended}"
            self.notify(text, title="dry run", severity="warning", timeout=15, markup=False)
        if run is None or run.is_final:
            self.push_screen(PlanDialog(dry_run.graphs, with_master=run is not None))

    def _refused(self, action: Action, message: Failed) -> None:
        self.gateway.drop(action)
        self.gateway.acted()
        text = message.reason
        if message.transient:
            text += "  It may have been done all the same: look at the history (8) before you repeat it."
        self.notify(text, title=f"not done: {action.what}", severity="error", timeout=15, markup=False)
        self.action_renew()

    # the bars

    def decorate(self) -> None:
        screen = self.view
        if not screen.is_whole():
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
    name = next(name for name, views in _MODULES.items() if view in views)
    module = import_module(f"fuelclient.tui.screens.{name}")
    return cast("type[ViewScreen]", getattr(module, f"{view.capitalize()}Screen"))


def resume_garbage_collection() -> None:
    """Turn garbage collection on again after the start. The quarter of a million objects made until then are frozen,
    because most are permanent: collections stay short."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()

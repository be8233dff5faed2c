"""Keep the UI read-only until A arms it, and ask before each change, which is then made once.

The dialogs are loaded when they are opened: the first screen does not wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fuelclient.insight.progress import rest_of
from fuelclient.model.node import DEFAULT_EXECUTOR
from fuelclient.model.run import DryRun, Run
from fuelclient.model.status import RunStatus
from fuelclient.tui.actions import Action, Delete, Execute, Resume, Stop, command_of
from fuelclient.tui.app_base import UI
from fuelclient.tui.gateway import Acted, Refused
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.base import ViewScreen

if TYPE_CHECKING:
    from fuelclient.tui.screens.action_dialogs import ActionDialog, Choices

IDLE = 600.0
"""Seconds without a key after which the UI disarms itself."""


class WriteGuard:
    """Whether the UI may change something, and all steps from a key to the change.

    A key arms it. The same key disarms it, and so do leaving the environment and `IDLE` seconds without a key.
    """

    def __init__(self, ui: UI) -> None:
        self._ui = ui
        self.armed = False
        self._since = 0.0

    def toggle(self) -> None:
        """Arm, or disarm."""
        self.armed = not self.armed
        self.touch()
        can = self._ui.abilities
        keys = f"e executes, x stops,{' X kills,' * can.kill}{' u resumes,' * can.resume} D deletes"
        self._ui.notify(f"Armed: {keys}; each asks first. A disarms." if self.armed else "Read-only again.")
        self._ui.decorate()

    def touch(self) -> None:
        """Note that a key was pressed."""
        self._since = self._ui.gateway.now()

    def watch(self) -> None:
        """Disarm if no key was pressed for a long time."""
        if self.armed and self._ui.gateway.now() - self._since > IDLE:
            self.disarm()

    def disarm(self) -> None:
        if self.armed:
            self.armed = False
            self._ui.notify("Read-only again.")
            self._ui.decorate()

    def left(self, before: Route, after: Route) -> None:
        """Disarm if an environment is left, for another one or for all of them."""
        if before.env and before.env != after.env:
            self.disarm()

    # asking

    def execute(self, tasks: Sequence[str] = (), nodes: Sequence[str] = ()) -> None:
        """Ask what to execute on the environment here; `tasks` and `nodes` are picked."""
        ui = self._ui
        env = ui.screen.env_here() if isinstance(ui.screen, ViewScreen) else 0
        if not self._may():
            return
        if not env:
            ui.notify("Choose an environment to execute on.")
            return
        from fuelclient.tui.screens.action_dialogs import ExecuteDialog

        types = ui.graph.types if ui.graph is not None else ()
        name = ui.environment_names().get(env, str(env))
        here, picked = ui.trail.here.graph_type, (tasks, nodes)
        self._ask(ExecuteDialog(env, name, here, types, ui.glyphs, ui.program, picked, over_ssh=self._over_ssh(env)))

    def _over_ssh(self, env: int) -> bool:
        """Return whether a node of an environment is reached over SSH, by what is known already."""
        graph, overview = self._ui.graph, self._ui.overview
        nodes = graph.study.snapshot.nodes if graph is not None else overview.nodes if overview is not None else ()
        over_ssh = (node.reached_by == DEFAULT_EXECUTOR for node in nodes if node.cluster_id == env)
        return self._ui.abilities.executors and any(over_ssh)

    def stop(self, *, kill: bool) -> None:
        """Ask whether to stop the run here, and how."""
        run = self._run("stop")
        if run is not None and run.is_final:
            self._ui.notify(f"Run {run.id} has ended already: it is {run.status}.")
        elif run is not None:
            choices: tuple[tuple[str, Action], ...] = (
                ("let running tasks finish", Stop(run.id)), ("kill running tasks", Stop(run.id, kill=True)),
            )  # fmt: skip
            if not self._ui.abilities.kill:
                choices = choices[:1]
            self._confirm("stop", run, "Nothing else will start.", choices, chosen=int(kill))

    def resume(self) -> None:
        """Ask whether to resume the run here."""
        run = self._run("resume")
        if run is not None and run.is_final:
            rest = rest_of(run)
            ended = f"Run {run.id} has ended already: it is {run.status}."
            self._ui.notify(f"{ended} Execute what it left: {rest}." if rest else ended)
        elif run is not None and run.runner != "gone":
            self._ui.notify(f"Run {run.id} is running already.")
        elif run is not None:
            choices = (("as it was left", Resume(run.id)), ("rerun what was interrupted", Resume(run.id, again=True)))
            self._confirm("resume", run, "What has ended is not run again.", choices)

    def delete(self) -> None:
        """Ask whether to delete the run here."""
        run = self._run("delete")
        if run is not None:
            choices = (("", Delete(run.id, force=not run.is_final)),)
            self._confirm("delete", run, "Its history and its logs are deleted too.", choices)

    def _may(self) -> bool:
        if not self.armed:
            self._ui.notify("The UI is read-only until you press A to arm it.", severity="warning")
        return self.armed

    def _run(self, verb: str) -> Run | None:
        """Return the run here, if the UI is armed and there is one."""
        screen = self._ui.screen
        run = screen.run_here() if isinstance(screen, ViewScreen) else None
        if not self._may():
            return None
        if run is None:
            self._ui.notify(f"There is no run here to {verb}.")
        return run

    def _confirm(self, verb: str, run: Run, effect: str, choices: Choices, *, chosen: int = 0) -> None:
        from fuelclient.tui.screens.action_dialogs import ConfirmDialog

        ui = self._ui
        question = f"{verb.capitalize()} run {run.id} of environment {run.cluster_id}? {effect}"
        self._ask(ConfirmDialog(verb, question, str(run.id), choices, ui.glyphs, ui.program, chosen=chosen))

    def _ask(self, dialog: ActionDialog) -> None:
        self._ui.clear_notifications()  # they would cover the dialog
        self._ui.push_screen(dialog, self.perform)

    # doing

    def perform(self, action: Action | None) -> None:
        """Carry out an action once, and log it as a command line, whether it succeeds or not."""
        ui = self._ui
        self.touch()
        if action is None or not self._may():
            return
        if not ui.gateway.act(action):
            ui.notify("The last action has had no answer yet.", severity="warning")
            return
        ui.log_lines.append(command_of(action, ui.program))

    def acted(self, message: Acted) -> None:
        """Go where the outcome of an action is seen."""
        ui, action = self._ui, message.action
        ui.gateway.acted(removed=isinstance(action, Delete))
        if isinstance(message.value, DryRun):
            self._show_dry_run(message.value)
            return
        ui.notify(command_of(action, ui.program), title=f"done: {action.what}", markup=False)
        if isinstance(action, Execute) and isinstance(message.value, Run):
            ui.go(Route(View.RUN, message.value.cluster_id, ui.trail.here.graph_type, run=message.value.id))
        elif isinstance(action, Delete) and ui.trail.here.view is View.RUN:
            ui.go(Route(View.HISTORY, ui.trail.here.env, ui.trail.here.graph_type))
        else:
            ui.action_renew()

    def _show_dry_run(self, dry_run: DryRun) -> None:
        from fuelclient.tui.screens.action_dialogs import PlanDialog

        run = dry_run.run
        if run is not None and run.status != RunStatus.READY:
            ended = f"ended: {run.status}. {run.message}" if run.is_final else "has not ended yet: see the history (8)."
            text = f"The master's dry run {run.id} {ended}"
            self._ui.notify(text, title="dry run", severity="warning", timeout=15, markup=False)
        if run is None or run.is_final:
            self._ui.push_screen(PlanDialog(dry_run.graphs, self._ui.glyphs, with_master=run is not None))

    def refused(self, message: Refused) -> None:
        """Say why nothing was done, or that this is not known."""
        ui = self._ui
        ui.gateway.acted()
        text = message.reason
        if message.unknown:
            text += "  It may have been done all the same: look at the history (8) before you repeat it."
        ui.notify(text, title=f"not done: {message.action.what}", severity="error", timeout=15, markup=False)
        ui.action_renew()

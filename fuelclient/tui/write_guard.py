"""Keep the UI read-only until A arms it, and ask before each change, which is then made once.

The dialogs are loaded when they are opened: the first screen does not wait for them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import on

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
    from fuelclient.tui.screens.dialogs import ActionDialog, Choices

IDLE = 600.0
"""Seconds without a key after which the UI disarms itself."""


class GuardedUI(UI):
    """The app as far as it changes something: whether it may, and all steps from a key to the change.

    A key arms it. The same key disarms it, and so do leaving the environment and `IDLE` seconds without a key.
    """

    armed = False
    _last_key = 0.0

    @property
    def view(self) -> ViewScreen | None:
        """The view that is shown, possibly under a dialog; None while the app starts or ends."""
        return next((screen for screen in reversed(self._screen_stack) if isinstance(screen, ViewScreen)), None)

    @property
    @abstractmethod
    def picked(self) -> dict[str, list[str]]:
        """The ids of the `tasks` and `nodes` that are picked here."""

    def action_arm(self) -> None:
        """Arm, or disarm."""
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
        """Note that a key was pressed."""
        self._last_key = self.gateway.now()

    def disarm_if_idle(self) -> None:
        """Disarm if no key was pressed for a long time."""
        if self.gateway.now() - self._last_key > IDLE:
            self.disarm()

    def disarm(self) -> None:
        if self.armed:
            self.armed = False
            self.notify("Read-only again.")
            self.decorate()

    # asking

    def action_execute(self) -> None:
        """Ask what to execute on the environment here, of what is picked."""
        env = self.view.env_here() if self.view is not None else 0
        if not self._may():
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
        """Return whether a node of an environment is reached over SSH, by what is known already."""
        graph, overview = self.graph, self.overview
        nodes = graph.study.snapshot.nodes if graph is not None else overview.nodes if overview is not None else ()
        over_ssh = (node.reached_by == DEFAULT_EXECUTOR for node in nodes if node.cluster_id == env)
        return self.abilities.executors and any(over_ssh)

    def action_stop(self, kill: bool) -> None:
        """Ask whether to stop the run here, and how."""
        run = self._run_to("stop")
        if run is not None and run.is_final:
            self.notify(f"Run {run.id} has ended already: it is {run.status}.")
        elif run is not None:
            choices = [("let running tasks finish", Stop(run.id)), ("kill running tasks", Stop(run.id, kill=True))]
            ways = choices if self.abilities.kill else choices[:1]
            self._confirm("stop", run, "Nothing else will start.", ways, chosen=int(kill))

    def action_resume(self) -> None:
        """Ask whether to resume the run here."""
        run = self._run_to("resume")
        if run is not None and run.is_final:
            rest = rest_of(run)
            ended = f"Run {run.id} has ended already: it is {run.status}."
            self.notify(f"{ended} Execute what it left: {rest}." if rest else ended)
        elif run is not None and run.runner != "gone":
            self.notify(f"Run {run.id} is running already.")
        elif run is not None:
            choices = (("as it was left", Resume(run.id)), ("rerun what was interrupted", Resume(run.id, again=True)))
            self._confirm("resume", run, "What has ended is not run again.", choices)

    def action_delete(self) -> None:
        """Ask whether to delete the run here."""
        run = self._run_to("delete")
        if run is not None:
            ways = [("", Delete(run.id, force=not run.is_final))]
            self._confirm("delete", run, "Its history and its logs are deleted too.", ways)

    def _may(self) -> bool:
        if not self.armed:
            self.notify("The UI is read-only until you press A to arm it.", severity="warning")
        return self.armed

    def _run_to(self, verb: str) -> Run | None:
        """Return the run here, if the UI is armed and there is one."""
        run = self.view.run_here() if self.view is not None else None
        if not self._may():
            return None
        if run is None:
            self.notify(f"There is no run here to {verb}.")
        return run

    def _confirm(self, verb: str, run: Run, effect: str, choices: Choices, *, chosen: int = 0) -> None:
        from fuelclient.tui.screens.dialogs import ConfirmDialog

        question = f"{verb.capitalize()} run {run.id} of environment {run.cluster_id}? {effect}"
        self._ask(ConfirmDialog(verb, question, str(run.id), choices, chosen=chosen))

    def _ask(self, dialog: ActionDialog) -> None:
        self.clear_notifications()  # they would cover the dialog
        self.push_screen(dialog, self.perform)

    # doing

    def perform(self, action: Action | None) -> None:
        """Carry out an action once, and log it as a command line, whether it succeeds or not."""
        self.touch()
        if action is None or not self._may():
            return
        if not self.gateway.act(action):
            self.notify("The last action has had no answer yet.", severity="warning")
            return
        self.log_lines.append(command_of(action, self.program))

    @on(Acted)
    def _acted(self, message: Acted) -> None:
        """Go where the outcome of an action is seen."""
        action = message.action
        self.gateway.acted(removed=isinstance(action, Delete))
        if isinstance(message.value, DryRun):
            self._show_dry_run(message.value)
            return
        self.notify(command_of(action, self.program), title=f"done: {action.what}", markup=False)
        if isinstance(action, Execute) and isinstance(message.value, Run):
            self.go(Route(View.RUN, message.value.cluster_id, self.trail.here.graph_type, run=message.value.id))
        elif isinstance(action, Delete) and self.trail.here.view is View.RUN:
            self.go(Route(View.HISTORY, self.trail.here.env, self.trail.here.graph_type))
        else:
            self.action_renew()

    def _show_dry_run(self, dry_run: DryRun) -> None:
        from fuelclient.tui.screens.dialogs import PlanDialog

        run = dry_run.run
        if run is not None and run.status != RunStatus.READY:
            ended = f"ended: {run.status}. {run.message}" if run.is_final else "has not ended yet: see the history (8)."
            text = f"The master's dry run {run.id} {ended}"
            self.notify(text, title="dry run", severity="warning", timeout=15, markup=False)
        if run is None or run.is_final:
            self.push_screen(PlanDialog(dry_run.graphs, with_master=run is not None))

    @on(Refused)
    def _refused(self, message: Refused) -> None:
        """Say why nothing was done, or that this is not known."""
        self.gateway.acted()
        text = message.reason
        if message.unknown:
            text += "  It may have been done all the same: look at the history (8) before you repeat it."
        self.notify(text, title=f"not done: {message.action.what}", severity="error", timeout=15, markup=False)
        self.action_renew()

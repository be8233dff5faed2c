"""Acting: the UI reads only until it is armed, and then asks before it changes something, which it does once.

The dialogs are loaded when they are opened: the first screen does not wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fuelclient.model.run import PlannedGraph, Run
from fuelclient.tui.actions import Action, Delete, Execute, Resume, Stop, command_of
from fuelclient.tui.messages import Acted, Refused
from fuelclient.tui.routes import Route, View
from fuelclient.tui.screens.view import ViewScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuelclient.tui.app import FuelUI
    from fuelclient.tui.screens.acting import Asking, Way

IDLE = 600.0
"""Seconds without a key after which the UI is disarmed by itself."""


class Arming:
    """Whether the UI may change something, and the way from a key to the change.

    It is armed by a key, and disarmed by the same key, by leaving the environment, and after `IDLE` seconds.
    """

    def __init__(self, ui: FuelUI) -> None:
        self._ui = ui
        self.armed = False
        self._since = 0.0

    def toggle(self) -> None:
        """Arm, or disarm."""
        self.armed = not self.armed
        self.touch()
        self._ui.notify(
            "Armed: e executes, x stops, X kills, u resumes, D deletes; each asks first. A disarms."
            if self.armed else "Read-only again."
        )  # fmt: skip
        self._ui.decorate()

    def touch(self) -> None:
        """Somebody is there."""
        self._since = self._ui.gateway.now()

    def watch(self) -> None:
        """Disarm when nobody has been there for a long time."""
        if self.armed and self._ui.gateway.now() - self._since > IDLE:
            self.disarm()

    def disarm(self) -> None:
        if self.armed:
            self.armed = False
            self._ui.notify("Read-only again.")
            self._ui.decorate()

    def left(self, before: Route, after: Route) -> None:
        """Disarm where an environment is left: for another one, or for all of them."""
        if before.env and before.env != after.env:
            self.disarm()

    # asking

    def execute(self) -> None:
        """Ask what to execute on the environment here."""
        screen, here = self._ui.screen, self._ui.trail.here
        env = screen.env_here() if isinstance(screen, ViewScreen) else 0
        if not self._may():
            return
        if not env:
            self._ui.notify("There is no environment here to execute on.")
            return
        from fuelclient.tui.screens.acting import ExecuteDialog

        subject = self._ui.subject_here()
        types = subject.types if subject is not None else ()
        self._ask(ExecuteDialog(env, self._ui.known.environment_name(env), here.graph_type, types, self._ui.glyphs,
                                self._ui.program))  # fmt: skip

    def stop(self, *, kill: bool) -> None:
        """Ask whether to stop the run here, and how."""
        found = self._run("stop")
        if found is None or self._has_ended(found):
            return
        from fuelclient.tui.screens.acting import Way

        ways = (Way("let what runs end", Stop(found.id)), Way("kill what runs", Stop(found.id, kill=True)))
        said = f"Run {found.id} of environment {found.cluster_id} is stopped: nothing more starts."
        self._confirm("stop", said, found, ways, place=int(kill))

    def resume(self) -> None:
        """Ask whether to go on with the run here."""
        found = self._run("resume")
        if found is None or self._has_ended(found):
            return
        from fuelclient.tui.screens.acting import Way

        ways = (
            Way("as it was left", Resume(found.id)),
            Way("run again what was interrupted", Resume(found.id, again=True)),
        )
        said = f"Run {found.id} of environment {found.cluster_id} goes on; what has ended is not run again."
        self._confirm("resume", said, found, ways)

    def delete(self) -> None:
        """Ask whether to delete the run here."""
        found = self._run("delete")
        if found is None:
            return
        from fuelclient.tui.screens.acting import Way

        said = f"Run {found.id} of environment {found.cluster_id} is deleted with its history and its logs."
        self._confirm("delete", said, found, (Way("", Delete(found.id, force=not found.is_final)),))

    def _may(self) -> bool:
        if not self.armed:
            self._ui.notify("The UI only reads until you press A to arm it.", severity="warning")
        return self.armed

    def _run(self, verb: str) -> Run | None:
        """The run here, if something may be done to it."""
        screen = self._ui.screen
        found = screen.run_here() if isinstance(screen, ViewScreen) else None
        if not self._may():
            return None
        if found is None:
            self._ui.notify(f"There is no run here to {verb}.")
        return found

    def _has_ended(self, found: Run) -> bool:
        if found.is_final:
            self._ui.notify(f"Run {found.id} has ended already: it is {found.status}.")
        return found.is_final

    def _confirm(self, name: str, said: str, found: Run, ways: Sequence[Way], *, place: int = 0) -> None:
        from fuelclient.tui.screens.acting import ConfirmDialog

        ui = self._ui
        self._ask(ConfirmDialog(name, said, str(found.id), ways, ui.glyphs, ui.program, place=place))

    def _ask(self, dialog: Asking) -> None:
        self._ui.clear_notifications()  # they would cover what the dialog asks
        self._ui.push_screen(dialog, self.perform)

    # doing

    def perform(self, action: Action | None) -> None:
        """Have an action done, once; it is in the log as a command line whatever comes of it."""
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
        line = command_of(action, ui.program)
        if isinstance(action, Execute) and action.request.dry_run:
            from fuelclient.tui.screens.acting import PlanDialog

            ui.push_screen(PlanDialog(action.request, cast("Sequence[PlannedGraph]", message.value), ui.glyphs))
            return
        ui.notify(line, title=f"done: {action.what}", markup=False)
        if isinstance(action, Execute) and isinstance(message.value, Run):
            ui.go(Route(View.RUN, message.value.cluster_id, ui.trail.here.graph_type, run=message.value.id))
        elif isinstance(action, Delete) and ui.trail.here.view is View.RUN:
            ui.go(Route(View.HISTORY, ui.trail.here.env, ui.trail.here.graph_type))
        else:
            ui.action_renew()

    def refused(self, message: Refused) -> None:
        """Tell why nothing was done, or that nobody knows."""
        ui = self._ui
        ui.gateway.acted()
        told = message.reason
        if message.unknown:
            told += "  Whether it was done nobody knows: look at the history (8) before you do it again."
        ui.notify(told, title=f"not done: {message.action.what}", severity="error", timeout=15, markup=False)
        ui.action_renew()

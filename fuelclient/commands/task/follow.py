"""Follow a run until it ends. A follower only reads, so closing it never hurts the run."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from fuelclient.backends.time_left import earlier_of_graph
from fuelclient.commands.exits import Exit
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.failures import ON_A_MASTER, Failures, labelled
from fuelclient.commands.task.live_display import LiveDisplay, counts, live_display
from fuelclient.errors import Conflict, Gone, Unavailable
from fuelclient.insight.progress import Key, Progress, duration, elapsed, explanation, status_word
from fuelclient.support import supports

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.run import Event, Run

_PAUSE = 0.2
"""Seconds between two looks at a run: short enough to seem immediate, at next to no cost. A Fuel master keeps no events
and answers each look with whole histories."""

_AWAY = 15
"""Seconds for which a server may be away before its follower gives up: enough to restart it."""

_BATCH = 1000
_SUMMED_UP = 5
"""How many failures a summary lists."""


class PlainLines:
    """Print a line for each change: for logs, pipes, and terminals that cannot move their cursor."""

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._running: set[Key] = set()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Do nothing: there is nothing to draw and to remove."""
        yield

    def tell(self, event: Event, *, was_stopped: bool = False) -> None:
        """Print an event; instances that are skipped before they begin, and events about anything else, with `-v`
        only."""
        if event.kind != "instance":
            LOG.debug("%s %d: %s %d%% %s", event.kind, event.run_id, event.status, event.progress, event.message)
            return
        why = explanation(event.reason, event.message)
        word = status_word(event.status, event.reason, was_stopped=was_stopped)
        name = labelled(event.graph_type, event.task, event.node)
        key = (event.run_id, event.task, event.node)
        if event.status == "error":
            self._failures.show(event.parent_id, key, name, word, why)
            return
        is_said = event.status in ("running", "ready") or key in self._running
        if event.status == "running":
            self._running.add(key)
        LOG.log(logging.INFO if is_said else logging.DEBUG, "%s %s%s", name, word, f" ({why})" if why else "")

    def show(self, run: Run, progress: Progress, now: datetime) -> None:
        """Do nothing: the lines have said it."""


def follow(backend: Backend, run_id: int, stderr: TextIO, *, timeout: float | None = None) -> Exit:
    """Print what happens to a run until it has ended, or its runner is gone, and return the exit code for that.

    The first Ctrl-C asks the run to stop, the second one kills what runs; both follow the run to its end and return
    `INTERRUPTED`. The third one leaves while the run goes on ending, and so does the second one on a Fuel master, which
    cannot kill.

    A server that is away, for example because it is restarted, is asked again for some seconds before `Unavailable` is
    raised. After `timeout` seconds the follower leaves; the run goes on.
    """
    failures = Failures(has_logs=supports(backend.runs.logs))
    display = live_display(stderr, failures) or PlainLines(failures)
    return Follower(backend, run_id, display, timeout, failures).follow()


class Follower:
    """One run that is followed: what is known of it, how many interrupts were served, and since when its server is
    away."""

    def __init__(
        self,
        backend: Backend,
        run_id: int,
        display: LiveDisplay | PlainLines,
        timeout: float | None,
        failures: Failures,
    ) -> None:
        self._backend, self._id, self._display, self._failures = backend, run_id, display, failures
        self._until = None if timeout is None else time.monotonic() + timeout
        self.progress = Progress()
        self._known: set[int] = set()
        self._planned: set[int] = set()
        self._last_event = 0
        self._served = 0
        self._away_since: float | None = None

    def follow(self) -> Exit:
        """Follow the run until it has ended, its runner is gone, or the time is up."""
        with _interrupts() as given, self._display.shown():
            try:
                while (run := self.look(len(given))) is None or not (run.is_final or run.runner == "gone"):
                    if self._until is not None and time.monotonic() >= self._until:
                        LOG.error(
                            "Run %d has not ended within the time of --timeout; it goes on. `fuel2 task watch %d` "
                            "follows it.", self._id, self._id,
                        )  # fmt: skip
                        return Exit.INTERRUPTED if given else Exit.TIMED_OUT
                    time.sleep(max(_PAUSE, self._backend.runs.pause))
            except KeyboardInterrupt:
                # all may have come between two looks: those before the last one count all the same
                self._serve(2 if self._can_kill() else 1)
                LOG.warning("No longer following run %d; `fuel2 task watch %d` follows it again.", self._id, self._id)
                raise
        code = outcome(run, self.progress, self._failures, has_logs=supports(self._backend.runs.logs))
        return Exit.INTERRUPTED if given else code

    def look(self, interrupts: int) -> Run | None:
        """Bring everything up to date, serve that many Ctrl-C, and return the run; None if the server does not
        answer."""
        try:
            run = self._backend.runs.get(self._id)
            self._learn(run)
            while events := self._backend.runs.events(self._id, after=self._last_event, limit=_BATCH):
                self.progress.apply(events)
                for event in events:
                    self._display.tell(event, was_stopped=self.progress.was_stopped)
                self._last_event = events[-1].id
            if not (run.is_final or run.runner == "gone"):
                self._serve(interrupts)
        except Gone:
            raise
        except Unavailable as error:
            self._wait_for_server(error)
            return None
        self._away_since = None
        self._display.show(run, self.progress, datetime.now(UTC))
        return run

    def _learn(self, run: Run) -> None:
        """Read the instances of graphs that have been planned and, for a display, how the graphs went earlier."""
        self.progress.note(run)
        for child in run.children:
            if child.id not in self._known:
                earlier = earlier_of_graph(self._backend, child) if isinstance(self._display, LiveDisplay) else None
                self.progress.remember(child.id, earlier)
                self._known.add(child.id)
            if child.id not in self._planned and (child.digest or child.status != "pending"):
                self.progress.add(self._backend.runs.history(child.id))
                self._planned.add(child.id)

    def _serve(self, interrupts: int) -> None:
        """Do what each Ctrl-C does that has not been served; a run that has ended meanwhile needs nothing."""
        while self._served < interrupts:
            kill, can_kill = self._served > 0, self._can_kill()
            if kill and not can_kill:
                raise KeyboardInterrupt
            if kill:
                LOG.warning("Killing running tasks. Another Ctrl-C ends this command.")
            else:
                then = "kills them" if can_kill else "ends this command, because a Fuel master cannot kill them"
                LOG.warning("Stopping: running tasks may finish, no more start. Another Ctrl-C %s.", then)
            with suppress(Conflict):
                self._backend.runs.stop(self._id, kill=kill)
            self._served += 1

    def _can_kill(self) -> bool:
        return supports(self._backend.runs.stop, "kill")

    def _wait_for_server(self, error: Unavailable) -> None:
        """Say once that the server does not answer. Raise `Unavailable` if that has been so for too long."""
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
            LOG.warning("%s Asking again for up to %d seconds.", error.message, _AWAY)
        elif now - self._away_since > _AWAY:
            hint = f"The run goes on; `fuel2 task watch {self._id}` follows it."
            raise Unavailable(error.message, hint=hint) from error


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect the first two Ctrl-C in the list that this yields; the third one interrupts as usual.

    As exceptions they would come anywhere: a second one while the first is being served would leave at once, with
    what runs neither stopped nor killed. Only the main thread gets signals, and where Ctrl-C is ignored, as in the
    background of a shell, it stays so.
    """
    given: list[int] = []
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield given
        return

    def note(number: int, _frame: FrameType | None) -> None:
        given.append(number)
        if len(given) > 2:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield given
    finally:
        signal.signal(signal.SIGINT, before)


def outcome(run: Run, progress: Progress, printed: Failures, *, has_logs: bool = True) -> Exit:
    """Print how a run ended and what to look at, except failures that were `printed`, and return its exit code."""
    if not run.is_final:
        LOG.error(
            "Run %d has not ended, but its runner is gone. `fuel2 task resume %d` resumes it, `fuel2 task stop %d` "
            "ends it.", run.id, run.id, run.id,
        )  # fmt: skip
        if run.message:
            LOG.info("%s", run.message)
        return Exit.FAILED
    is_ready = run.status == "ready"
    LOG.log(logging.INFO if is_ready else logging.ERROR, "Run %d ended: %s. %s", run.id, run.status, run.message)
    took = elapsed(run.time_start, run.time_end, datetime.now(UTC)) if run.time_end else None
    LOG.info("%s%s.", ", ".join(counts(progress)) or "nothing", "" if took is None else f" in {duration(took)}")
    failures = progress.failures
    unprinted = [number for number in failures if progress.keys[number] not in printed.keys]
    room = max(0, _SUMMED_UP - len(printed.keys))
    for number in unprinted[:room]:
        why = explanation(progress.reasons[number], progress.messages[number])
        key = progress.keys[number]
        name = labelled(progress.graph_type(number), *key[1:])
        printed.show(run.parent_id or run.id, key, name, progress.word(number), why)
    if len(unprinted) > room:
        LOG.info("  and %s.", count(len(unprinted) - room, "more failure"))
    if failures and not has_logs:
        LOG.info("%s", ON_A_MASTER)
    asked = run.request
    selects = asked.task_names or asked.subgraphs or asked.node_ids
    if is_ready and (progress.counts["ready"] or not failures or not selects):
        return Exit.OK
    LOG.info("`fuel2 task history show %d --why` has the reasons.", run.id)
    if is_ready:
        LOG.error("Nothing of what was selected for run %d succeeded.", run.id)
    return Exit.FAILED

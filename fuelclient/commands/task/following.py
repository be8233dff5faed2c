"""Following a run until it ends; a follower only reads, so that closing it never hurts the run."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from fuelclient.commands.exits import Exit
from fuelclient.commands.shell import LOG, count
from fuelclient.commands.task.live import LiveTeller, live_on, look_at
from fuelclient.commands.task.pace import clock, earlier_of, moment
from fuelclient.commands.task.progress import Progress, counted, named, why
from fuelclient.errors import Conflict, Gone, Unavailable

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.run import Event, Run

_PAUSE = 0.2
"""Seconds between two looks at the log of a run: a person takes it for at once, and the disk for nothing."""

_AWAY = 15
"""Seconds for which a server may be away before its follower gives up: enough to restart it."""

_BATCH = 1000
_LEVELS = {"running": logging.INFO, "ready": logging.INFO, "error": logging.ERROR}
_SUMMED_UP = 5
"""So many failures are in a summary."""


class LineTeller:
    """Says what happens in lines, one for each change: for logs, pipes and terminals that cannot move their cursor."""

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Nothing has to be drawn."""
        yield

    def tell(self, event: Event) -> None:
        """One line for an event of a task instance; instances that are passed by are told with `-v`."""
        if event.kind != "instance":
            LOG.debug("%s %d: %s %d%% %s", event.kind, event.run_id, event.status, event.progress, event.message)
            return
        told = why(event)
        told = f" ({told})" if told else ""
        LOG.log(_LEVELS.get(event.status, logging.DEBUG), "%s %s%s", named(event), event.status, told)

    def show(self, found: Run, progress: Progress, now: datetime) -> None:
        """The lines have said it."""


@dataclass(slots=True)
class _Place:
    """How far a follower is: how long it may follow, the last event it told of, the interrupts it served, since when
    the server is away."""

    until: float | None = None
    seen: int = 0
    asked: int = 0
    away_since: float | None = None

    @property
    def is_late(self) -> bool:
        """Whether it has followed for as long as it may."""
        return self.until is not None and time.monotonic() >= self.until

    def lost(self, run_id: int, error: Unavailable) -> None:
        """The server gave no answer, which is said once. Raises `Unavailable` when that has been so for too long."""
        now = time.monotonic()
        if self.away_since is None:
            self.away_since = now
            LOG.warning("%s Asking again for %d seconds.", error.message, _AWAY)
        elif now - self.away_since > _AWAY:
            hint = f"The run goes on; `fuel2 task watch {run_id}` follows it."
            raise Unavailable(error.message, hint=hint) from error


def follow(backend: Backend, run_id: int, stderr: TextIO, *, timeout: float | None = None) -> Exit:
    """Say on stderr what happens to a run until it has ended, or nobody works at it any more; the exit code for it.

    The first Ctrl-C asks the run to stop, the second one kills what runs; both are followed to the end, which
    is then the interrupt that the user asked for. The third one leaves, and the run goes on ending.

    A server that is away, as while it is restarted, is asked again for some seconds; `Unavailable` when it stays so.
    After `timeout` seconds the follower leaves, and says so; the run goes on.
    """
    teller = live_on(stderr) or LineTeller()
    progress, planned, place = Progress(), set[int](), _Place(None if timeout is None else time.monotonic() + timeout)
    with _interrupts() as given, teller.shown():
        try:
            while True:
                try:
                    found = backend.runs.get(run_id)
                    if isinstance(teller, LiveTeller):
                        _learn(backend, found, progress, planned)
                    _tell(backend, run_id, place, teller, progress)
                    if found.is_final or found.runner == "gone":
                        break
                    _serve(backend, run_id, place, given)
                except Gone:
                    raise
                except Unavailable as error:
                    place.lost(run_id, error)
                else:
                    place.away_since = None
                    teller.show(found, progress, datetime.now(UTC))
                if place.is_late:
                    return _left_late(run_id, interrupted=bool(given))
                time.sleep(_PAUSE)
        except KeyboardInterrupt:  # three between two looks: the first two count all the same
            for number in range(place.asked + 1, 3):
                _interrupt(backend, run_id, number)
            LOG.warning("Left; `fuel2 task watch %d` follows it.", run_id)
            raise
    code = outcome(found, progress)
    return Exit.INTERRUPTED if given else code


def _left_late(run_id: int, *, interrupted: bool) -> Exit:
    """Say that a run is not followed any more, though it has not ended; the exit code for that."""
    LOG.error(
        "Transaction %d has not ended in the time that --timeout allows: it goes on. `fuel2 task watch %d` follows it.",
        run_id, run_id,
    )  # fmt: skip
    return Exit.INTERRUPTED if interrupted else Exit.TIMED_OUT


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """The first two Ctrl-C are only noted, in the list that this gives; the third one interrupts, as ever.

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


def outcome(found: Run, progress: Progress) -> Exit:
    """Say how a run ended, and what to look at; the exit code for it."""
    if not found.is_final:
        LOG.error(
            "Transaction %d has not ended, but nobody works at it: its runner is gone. "
            "Run `fuel2 task resume %d`, or `fuel2 task stop %d`.", found.id, found.id, found.id,
        )  # fmt: skip
        if found.message:
            LOG.info("%s", found.message)
        return Exit.FAILED
    took = ""
    if found.time_start and found.time_end:
        took = f" in {clock((moment(found.time_end) - moment(found.time_start)).total_seconds())}"
    told = ", ".join(counted(progress)) or "nothing"
    if found.status == "ready":
        LOG.info("Transaction %d ended: ready. %s", found.id, found.message)
        LOG.info("%s%s.", told, took)
    else:
        LOG.error("Transaction %d ended: %s. %s", found.id, found.status, found.message)
        LOG.info("%s%s.", told, took)
    _failures(progress.failures)
    if found.status != "ready":
        LOG.info("`fuel2 task history show %d --why` has the reasons.", found.id)
        return Exit.FAILED
    return Exit.OK


def _failures(failures: list[Event]) -> None:
    """The first failures once more: each with its message and the command that prints its log."""
    for event in failures[:_SUMMED_UP]:
        told = why(event)
        LOG.info("  %s error%s", named(event), f" ({told})" if told else "")
        LOG.info("    %s", look_at(event))
    if len(failures) > _SUMMED_UP:
        LOG.info("  and %s.", count(len(failures) - _SUMMED_UP, "more failure"))


def _interrupt(backend: Backend, run_id: int, asked: int) -> None:
    """What the Ctrl-C number `asked` does; a run that has ended meanwhile needs nothing."""
    if asked == 1:
        LOG.warning("Stopping: what runs may end, nothing more starts. Another Ctrl-C kills what runs.")
    else:
        LOG.warning("Killing what runs. Another Ctrl-C leaves.")
    with suppress(Conflict):
        backend.runs.stop(run_id, kill=asked > 1)


def _serve(backend: Backend, run_id: int, place: _Place, given: Sequence[int]) -> None:
    """Each Ctrl-C that was noted has done what it does."""
    while place.asked < len(given):
        _interrupt(backend, run_id, place.asked + 1)
        place.asked += 1


def _learn(backend: Backend, found: Run, progress: Progress, planned: set[int]) -> None:
    """It is known how the graphs of a run went before, and the instances of those that are planned are expected."""
    for child in found.children:
        if child.id not in progress.paces:
            progress.remember(child.id, earlier_of(backend, child))
        if child.id not in planned and (child.digest or child.status != "pending"):
            planned.add(child.id)
            progress.expect(backend.runs.history(child.id))


def _tell(backend: Backend, run_id: int, place: _Place, teller: LineTeller | LiveTeller, progress: Progress) -> None:
    """What happened since the last look is said."""
    while events := backend.runs.events(run_id, after=place.seen, limit=_BATCH):
        for event in events:
            progress.apply(event)
            teller.tell(event)
            place.seen = event.id

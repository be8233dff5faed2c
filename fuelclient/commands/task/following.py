"""Following a run until it ends; a follower only reads, so that closing it never hurts the run."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from fuelclient.commands.exits import Exit
from fuelclient.commands.shell import LOG
from fuelclient.commands.task.cells import instance
from fuelclient.errors import Conflict

if TYPE_CHECKING:
    from fuelclient.backends.base import Backend
    from fuelclient.model.transaction import Event, Transaction

_PAUSE = 0.2
"""Seconds between two looks at the log of a run: a person takes it for at once, and the disk for nothing."""

_BATCH = 1000
_LEVELS = {"running": logging.INFO, "ready": logging.INFO, "error": logging.ERROR}


def follow(backend: Backend, transaction_id: int) -> Exit:
    """Say on stderr what happens to a run until it has ended, or nobody works at it any more; the exit code for it.

    The first Ctrl-C asks the run to stop, the second one kills what runs; both are followed to the end, which
    is then the interrupt that the user asked for. The third one leaves, and the run goes on ending.
    """
    seen = asked = 0
    while True:
        try:
            found = backend.transactions.get(transaction_id)
            seen = _tell(backend, transaction_id, seen)
            if found.is_final or found.runner == "gone":
                break
            time.sleep(_PAUSE)
        except KeyboardInterrupt:
            asked += 1
            _interrupt(backend, transaction_id, asked)
    code = outcome(found)
    return Exit.INTERRUPTED if asked else code


def outcome(found: Transaction) -> Exit:
    """Say how a run ended; the exit code for it."""
    if not found.is_final:
        LOG.error(
            "Transaction %d has not ended, but nobody works at it: its runner is gone. "
            "Run `fuel2 task resume %d`, or `fuel2 task stop %d`.", found.id, found.id, found.id,
        )  # fmt: skip
        return Exit.FAILED
    if found.status == "ready":
        LOG.info("Transaction %d ended: ready. %s", found.id, found.message)
        return Exit.OK
    LOG.error("Transaction %d ended: %s. %s", found.id, found.status, found.message)
    LOG.info("`fuel2 task history show %d --why` has the reasons.", found.id)
    return Exit.FAILED


def _interrupt(backend: Backend, transaction_id: int, asked: int) -> None:
    """What the Ctrl-C number `asked` does; a run that has ended meanwhile needs nothing."""
    if asked > 2:
        raise KeyboardInterrupt
    if asked == 1:
        LOG.warning("Stopping: what runs may end, nothing more starts. Another Ctrl-C kills what runs.")
    else:
        LOG.warning("Killing what runs. Another Ctrl-C leaves.")
    with suppress(Conflict):
        backend.transactions.stop(transaction_id, kill=asked > 1)


def _tell(backend: Backend, transaction_id: int, seen: int) -> int:
    """Say what happened after the event `seen`; the last event there is."""
    while events := backend.transactions.events(transaction_id, after=seen, limit=_BATCH):
        for event in events:
            _say(event)
        seen = events[-1].id
    return seen


def _say(event: Event) -> None:
    """One line for an event of a task instance; instances that are passed by are told with `-v`."""
    if event.kind != "instance":
        LOG.debug("%s %d: %s %d%% %s", event.kind, event.transaction_id, event.status, event.progress, event.message)
        return
    told = ": ".join(filter(None, (event.reason, event.message)))
    line = f"{event.graph_type}: {instance(event.task, event.node)} {event.status}"
    LOG.log(_LEVELS.get(event.status, logging.DEBUG), "%s%s", line.removeprefix(": "), f" ({told})" if told else "")

"""The gateway: the one place that calls a backend, each request in a thread of its own.

An engine connection is usable only in the thread that opened it, so each thread makes a backend, asks it one thing
and closes it. Threads are daemons: a backend that never answers keeps nobody from leaving.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from textual.message import Message

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, Unavailable
from fuelclient.tui.messages import Answered, Failed
from fuelclient.tui.requests import Request

Answer = TypeVar("Answer")

PATIENCE = (1.0, 2.0, 5.0, 15.0)
"""Seconds before the first, second ... next attempt; the last one goes for all that follow."""

SLOW = 3.0
"""Seconds after which a request that has no answer is told."""


@dataclass(slots=True)
class Pending:
    """A request on its way: its number, when it was asked (by the caller's clock), and how often it failed."""

    ticket: int
    since: float
    failures: int = 0


@dataclass(slots=True)
class Gateway:
    """Asks, remembers answers, and forgets the ones that come too late.

    `connect` makes a backend in the thread that calls it; `post` takes messages from any thread; `now` is a clock.
    """

    connect: Callable[[], Backend]
    post: Callable[[Message], object]
    now: Callable[[], float]
    pending: dict[Request[object], Pending] = field(default_factory=dict)
    _answers: dict[Request[object], object] = field(default_factory=dict)
    _tickets: itertools.count[int] = field(default_factory=itertools.count)

    def answer(self, request: Request[Answer]) -> Answer | None:
        """What is known, or None; then it is asked for, unless somebody has already."""
        if request in self._answers:
            return cast(Answer, self._answers[request])
        if request not in self.pending:
            self.ask(request)
        return None

    def ask(self, request: Request[object]) -> None:
        """Ask, whatever is known or on its way; only the answer to the last of equal requests counts."""
        before = self.pending.get(request)
        ticket = next(self._tickets)
        self.pending[request] = Pending(ticket, self.now(), before.failures if before else 0)
        threading.Thread(target=self._work, args=(ticket, request), name=f"ask-{ticket}", daemon=True).start()

    def known(self, request: Request[object]) -> object | None:
        """What is known, and nothing is asked for."""
        return self._answers.get(request)

    def renew(self, request: Request[object]) -> None:
        """Ask again, since the data may have changed. The old answer stays until there is a new one; those to other
        requests are forgotten."""
        kept = {request: self._answers[request]} if request in self._answers else {}
        self._answers = kept
        self.ask(request)

    def settle(self, message: Answered) -> bool:
        """Remember an answer; False for one that somebody stopped waiting for."""
        waiting = self.pending.get(message.request)
        if waiting is None or waiting.ticket != message.ticket:
            return False
        del self.pending[message.request]
        self._answers[message.request] = message.value
        return True

    def fail(self, message: Failed) -> float | None:
        """Note a failure, and after how many seconds to ask again; None when that is pointless, or too late."""
        waiting = self.pending.get(message.request)
        if waiting is None or waiting.ticket != message.ticket:
            return None
        waiting.failures += 1
        if not message.passing:
            del self.pending[message.request]
            return None
        return PATIENCE[min(waiting.failures, len(PATIENCE)) - 1]

    def slow(self) -> list[Request[object]]:
        """The requests that have waited for too long without any word."""
        return [one for one, waiting in self.pending.items() if self.now() - waiting.since > SLOW]

    def _work(self, ticket: int, request: Request[object]) -> None:
        try:
            backend = self.connect()
            try:
                value = request.read(backend)
            finally:
                backend.close()
        except Exception as error:  # whatever a backend does, the UI lives
            self._post(Failed(ticket, request, *_reason(error)))
        else:
            self._post(Answered(ticket, request, value))

    def _post(self, message: Message) -> None:
        try:
            self.post(message)
        except RuntimeError:  # the app has gone meanwhile, and its loop with it
            return


def _reason(error: Exception) -> tuple[str, bool]:
    """An error in one line, and whether it may pass. A deliberate error is about the request, and stays."""
    if isinstance(error, FuelError):
        return " ".join(str(error).split()), isinstance(error, Unavailable)
    return " ".join(f"unexpected error {type(error).__name__}: {error}".split()), True

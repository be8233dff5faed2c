"""The gateway: the one place that calls a backend, in threads of its own, and tells the app what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from textual.message import Message

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError
from fuelclient.tui.actions import Action
from fuelclient.tui.messages import Acted, Answered, Failed, Refused
from fuelclient.tui.requests import Request
from fuelclient.tui.workers import Feed, Job, Workers, is_lost

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
    `acting` is an action on its way and since when; nobody repeats one by himself.
    """

    connect: Callable[[], Backend]
    post: Callable[[Message], object]
    now: Callable[[], float]
    pending: dict[Request[object], Pending] = field(default_factory=dict)
    acting: tuple[Action, float] | None = None
    _answers: dict[Request[object], object] = field(default_factory=dict)
    _old: set[Request[object]] = field(default_factory=set)
    _tickets: itertools.count[int] = field(default_factory=itertools.count)
    _feeds: list[Feed] = field(default_factory=list)
    _workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        self._workers = Workers(self.connect, self.now)

    def answer(self, request: Request[Answer]) -> Answer | None:
        """What is known, or None; what is not known, or old, is asked for, unless somebody has already."""
        known = request in self._answers
        if (not known or request in self._old) and request not in self.pending:
            self.ask(request)
        self._old.discard(request)
        return cast(Answer, self._answers[request]) if known else None

    def ask(self, request: Request[object]) -> None:
        """Ask, whatever is known or on its way; only the answer to the last of equal requests counts."""
        before = self.pending.get(request)
        ticket = next(self._tickets)
        self.pending[request] = Pending(ticket, self.now(), before.failures if before else 0)

        def wanted() -> bool:
            waiting = self.pending.get(request)
            return waiting is not None and waiting.ticket == ticket

        def run(backend: Backend) -> None:
            self._post(Answered(ticket, request, request.read(backend)))

        def failed(error: Exception) -> None:
            self._post(Failed(ticket, request, reason(error), is_lost(error)))

        self._workers.put(Job(wanted, run, failed))

    def known(self, request: Request[object]) -> object | None:
        """What is known, and nothing is asked for."""
        return self._answers.get(request)

    def forget(self, request: Request[object]) -> None:
        """An answer is old: it is asked for again when somebody wants it, who gets the old one meanwhile."""
        if request in self._answers:
            self._old.add(request)

    def drop(self, request: Request[object]) -> None:
        """Nobody waits for this any more."""
        self.pending.pop(request, None)

    def renew(self, request: Request[object]) -> None:
        """Ask again, since the data may have changed; all answers are old, and stay until there are new ones."""
        self._old.update(self._answers)
        self._old.discard(request)
        self.ask(request)

    def settle(self, message: Answered) -> bool:
        """Remember an answer; False for one that somebody stopped waiting for."""
        waiting = self.pending.get(message.request)
        if waiting is None or waiting.ticket != message.ticket:
            return False
        del self.pending[message.request]
        self._answers[message.request] = message.value
        self._old.discard(message.request)
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
        return patience(waiting.failures)

    def slow(self) -> list[str]:
        """What has been waited for too long without any word."""
        now = self.now()
        late = [one.what for one, waiting in self.pending.items() if now - waiting.since > SLOW]
        if self.acting is not None and now - self.acting[1] > SLOW:
            late.insert(0, f"the answer to: {self.acting[0].what}")
        return late

    def act(self, action: Action) -> bool:
        """Have something changed, once; False while the last action has had no answer yet."""
        if self.acting is not None:
            return False
        self.acting = (action, self.now())

        def run(backend: Backend) -> None:
            self._post(Acted(action, action.act(backend)))

        def failed(error: Exception) -> None:
            self._post(Refused(action, reason(error), is_lost(error)))

        self._workers.put(Job(lambda: True, run, failed))
        return True

    def acted(self, *, removed: bool = False) -> None:
        """The action has had its answer, and what was known before it is old; where something was removed, it may be
        about what is not there any more, and is forgotten."""
        self.acting = None
        self._old.update(self._answers)
        if removed:
            self._answers.clear()
            self._old.clear()

    def follow(self, transaction_id: int) -> Feed:
        """The log of a run, as it grows; whoever follows it stops it."""
        feed = Feed(self.connect, transaction_id, patience)
        self._feeds.append(feed)
        return feed

    def close(self) -> None:
        """Let go of all backends. It takes a second where one of them hangs."""
        for feed in self._feeds:
            feed.stop()
        end = self.now() + 1.0
        for feed in self._feeds:
            feed.join(max(0.0, end - self.now()))
        self._workers.close(max(0.0, end - self.now()))

    def _post(self, message: Message) -> None:
        try:
            self.post(message)
        except RuntimeError:  # the app has gone meanwhile, and its loop with it
            return


def patience(failures: int) -> float:
    """How many seconds to wait after so many failures in a row."""
    return PATIENCE[min(failures, len(PATIENCE)) - 1]


def reason(error: Exception) -> str:
    """An error in one line; one that nobody meant is called so."""
    told = str(error) if isinstance(error, FuelError) else f"unexpected error {type(error).__name__}: {error}"
    return " ".join(told.split())

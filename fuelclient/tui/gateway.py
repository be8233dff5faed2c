"""The gateway: the one place that calls a backend, in threads of its own, and tells the app what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from textual.message import Message

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, NotFound
from fuelclient.printing import printable
from fuelclient.tui.actions import Action
from fuelclient.tui.answers import Answers
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
    `acting` is an action on its way and since when; nobody repeats one by himself. `failed` says of requests that had
    no answer since they failed what is wrong, and who asks again.
    """

    connect: Callable[[], Backend]
    post: Callable[[Message], object]
    now: Callable[[], float]
    pending: dict[Request[object], Pending] = field(default_factory=dict)
    acting: tuple[Action, float] | None = None
    failed: dict[Request[object], str] = field(default_factory=dict)
    _answers: Answers = field(default_factory=Answers)
    _tickets: itertools.count[int] = field(default_factory=itertools.count)
    _feeds: list[Feed] = field(default_factory=list)
    _workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        self._workers = Workers(self.connect, self.now)

    def answer(self, request: Request[Answer]) -> Answer | None:
        """What is known, or None; what is not known, or old, is asked for, unless somebody has already."""
        known = request in self._answers
        if (not known or self._answers.is_old(request)) and request not in self.pending:
            self.ask(request)
        self._answers.renewing(request)
        return cast(Answer, self._answers.get(request)) if known else None

    def revisit(self, request: Request[object]) -> None:
        """Somebody comes to see it: what failed, and was given up, is asked for again."""
        if request in self.failed and request not in self.pending:
            self.ask(request)

    def ask(self, request: Request[object]) -> None:
        """Ask, whatever is known or on its way; only the answer to the last of equal requests counts."""
        before = self.pending.get(request)
        if before is None:
            self.failed.pop(request, None)
        ticket = next(self._tickets)
        self.pending[request] = Pending(ticket, self.now(), before.failures if before else 0)

        def wanted() -> bool:
            waiting = self.pending.get(request)
            return waiting is not None and waiting.ticket == ticket

        def run(backend: Backend) -> None:
            self._post(Answered(ticket, request, request.read(backend)))

        def failed(error: Exception) -> None:
            self._post(Failed(ticket, request, reason(error), is_lost(error), isinstance(error, NotFound)))

        self._workers.put(Job(wanted, run, failed))

    def known(self, request: Request[object]) -> object | None:
        """What is known, and nothing is asked for."""
        return self._answers.get(request)

    @property
    def size(self) -> int:
        """How many answers are kept."""
        return len(self._answers)

    def forget(self, request: Request[object]) -> None:
        """An answer is old: it is asked for again when somebody wants it, who gets the old one meanwhile."""
        self._answers.age(request)

    def drop(self, request: Request[object]) -> None:
        """Nobody waits for this any more."""
        self.pending.pop(request, None)
        self.failed.pop(request, None)

    def renew(self, request: Request[object]) -> None:
        """Ask again, since the data may have changed; all answers are old, and stay until there are new ones."""
        self._answers.age_all()
        self._answers.renewing(request)
        self.ask(request)

    def settle(self, message: Answered) -> bool:
        """Remember an answer; False for one that somebody stopped waiting for."""
        waiting = self.pending.get(message.request)
        if waiting is None or waiting.ticket != message.ticket:
            return False
        self.drop(message.request)
        self._answers.put(message.request, message.value)
        return True

    def fail(self, message: Failed) -> float | None:
        """Note a failure, and after how many seconds to ask again; None when that is pointless, or too late. What does
        not exist any more is not known any more either."""
        waiting = self.pending.get(message.request)
        if waiting is None or waiting.ticket != message.ticket:
            return None
        waiting.failures += 1
        delay = patience(waiting.failures) if message.passing else None
        again = f"asking again in {delay:.0f} s" if delay is not None else "ctrl+r asks again"
        self.failed[message.request] = f"{message.reason}  {again}"
        if delay is None:
            del self.pending[message.request]
        if message.gone:
            self._answers.drop(message.request)
        return delay

    def trouble(self, *requests: Request[object]) -> str:
        """What is wrong with the first of some requests that failed, else with any that is still asked for; empty when
        all is well."""
        return next((self.failed[one] for one in (*requests, *self.pending) if one in self.failed), "")

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
        self._answers.age_all()
        if removed:
            self._answers.clear()

    @property
    def following(self) -> int:
        """How many runs are followed, or were until the last one began to be."""
        return len(self._feeds)

    def follow(self, run_id: int) -> Feed:
        """The log of a run, as it grows; whoever follows it stops it."""
        feed = Feed(self.connect, run_id, patience)
        self._feeds = [*(one for one in self._feeds if one.is_reading()), feed]
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
    return printable(" ".join(told.split()))

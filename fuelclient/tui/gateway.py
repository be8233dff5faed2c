"""Send requests and actions to a backend in threads, keep the answers, ask again after failures, and follow runs.

An engine connection is usable only in the thread that opened it, so a backend never leaves the thread that made it,
which also closes it. Threads are daemons: a backend that never answers does not keep the UI from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TypeVar, cast

from textual.message import Message

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, NotFound, Unavailable
from fuelclient.model.run import DryRun, Event, Run
from fuelclient.printing import printable
from fuelclient.tui.actions import Action
from fuelclient.tui.requests import AskEnabling, AskGraph, AskLog, AskRun, AskSource, Request


@dataclass
class Pending:
    """A pending request: when it was asked (by the caller's clock), and how often it failed."""

    since: float
    failures: int = 0


@dataclass
class Answered(Message):
    """A backend has answered a request. The answer counts as long as `waiting` is what is pending."""

    waiting: Pending
    request: Request[object]
    value: object


@dataclass
class Failed(Message):
    """A backend could not answer. What is `passing` may be well again in a moment; everything else fails again until
    the data changes. What is `gone` does not exist in the backend, or no longer does."""

    waiting: Pending
    request: Request[object]
    reason: str
    passing: bool
    gone: bool = False


@dataclass
class Acted(Message):
    """A backend has done something; `value` is its answer."""

    action: Action
    value: Run | DryRun | None


@dataclass
class Refused(Message):
    """A backend did not do something; with `unknown` it may have been done all the same."""

    action: Action
    reason: str
    unknown: bool


Answer = TypeVar("Answer")

PATIENCE = (1.0, 2.0, 5.0, 15.0)
"""Seconds before the next attempt after the first, second ... failure; the last one holds for all that follow."""

SLOW = 3.0
"""Seconds after which a banner shows that the UI still waits for an answer."""

KEPT: dict[type, int] = {AskLog: 32, AskRun: 6, AskSource: 64, AskGraph: 12, AskEnabling: 12}
"""How many answers of a kind are kept, so that a day of looking at logs and runs needs no more memory than the first
minutes: a run may have a hundred thousand instances. Answers of other kinds are few and small."""


class AnswerCache:
    """Answers by their requests, the last used at the end. An *old* one is shown while it is asked for again."""

    def __init__(self) -> None:
        self._known: dict[Request[object], object] = {}
        self.old: set[Request[object]] = set()

    def __contains__(self, request: object) -> bool:
        return request in self._known

    def __len__(self) -> int:
        return len(self._known)

    def get(self, request: Request[Answer]) -> Answer | None:
        """The answer, which counts as used now: those unused for the longest time are dropped first."""
        if request not in self._known:
            return None
        answer = self._known[request] = self._known.pop(request)
        return cast(Answer, answer)

    def put(self, request: Request[object], value: object) -> None:
        """Keep an answer, and drop the one of its kind that was not used for the longest time if there are too many."""
        self._known.pop(request, None)
        self._known[request] = value
        self.old.discard(request)
        most = KEPT.get(type(request))
        if most is not None:
            same = [known for known in self._known if type(known) is type(request)]
            for oldest in same[:-most]:
                self.drop(oldest)

    def drop(self, request: Request[object]) -> None:
        self._known.pop(request, None)
        self.old.discard(request)

    def age(self, concerns: Callable[[Request[object]], bool] = lambda _: True) -> None:
        """Make all answers old, or those to the requests that this `concerns`."""
        self.old.update(filter(concerns, self._known))


SIZE = 3
"""How many answers are worked on at once; those that hang do not count."""

STUCK = 10.0
"""Seconds after which a worker is taken for hanging, and another one may take its place."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do with a backend, unless it is no longer `wanted`. `run`, or after an exception `failed`, makes the
    message to post."""

    wanted: Callable[[], bool]
    run: Callable[[Backend], Message]
    failed: Callable[[Exception], Message]


class Workers:
    """At most `SIZE` threads; each is started when it is needed and makes its backend when it has work."""

    def __init__(
        self, connect: Callable[[], Backend], post: Callable[[Message], object], now: Callable[[], float]
    ) -> None:
        self._connect, self._post, self._now = connect, post, now
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy_since: dict[threading.Thread, float] = {}
        self._outstanding = 0
        self._lock = threading.Lock()

    def put(self, job: Job) -> None:
        """Do something as soon as a worker is free."""
        with self._lock:
            self._outstanding += 1
            stuck = sum(self._now() - since > STUCK for since in self._busy_since.values())
            if self._outstanding > len(self._threads) and len(self._threads) - stuck < SIZE:
                self._threads.append(threading.Thread(target=self._work, name="tui-worker", daemon=True))
                self._threads[-1].start()
        self._jobs.put(job)

    def close(self, seconds: float) -> None:
        """Close all backends; workers that do not end within `seconds` are left alone."""
        end = self._now() + seconds
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - self._now()))

    def _work(self) -> None:
        backend: Backend | None = None
        thread = threading.current_thread()
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._busy_since[thread] = self._now()
            try:
                if job.wanted():
                    backend = backend or self._connect()
                    self._post(job.run(backend))
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    close_quietly(backend)
                    backend = None
                self._post(job.failed(error))
            with self._lock:
                del self._busy_since[thread]
                self._outstanding -= 1
        close_quietly(backend)


BATCH = 1000
"""How many events are asked for at once."""

PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two looks at a run: while things happen, and when nothing has happened for a while, or at a backend
that keeps no events and answers each look with whole histories."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened to a run since the last batch, and how it stands; or why that could not be read."""

    events: tuple[Event, ...] = ()
    run: Run | None = None
    trouble: Exception | None = None
    delay: float = 0.0


class Feed(threading.Thread):
    """A thread that reads the events of one run until the run has ended or `stop` is called.

    What it reads waits in a queue. `patience` says how many seconds to wait after that many failures in a row.
    """

    def __init__(self, connect: Callable[[], Backend], run_id: int, patience: Callable[[int], float]) -> None:
        super().__init__(name=f"follow-{run_id}", daemon=True)
        self._connect, self._id, self._patience = connect, run_id, patience
        self._batches: SimpleQueue[Batch] = SimpleQueue()
        self._ends = threading.Event()

    def take(self) -> list[Batch]:
        """The batches since the last call."""
        taken = []
        with suppress(Empty):
            while True:
                taken.append(self._batches.get_nowait())
        return taken

    def stop(self) -> None:
        self._ends.set()

    def run(self) -> None:
        backend: Backend | None = None
        after, failures, pause = 0, 0, PAUSE
        while not self._ends.is_set():
            try:
                backend = backend or self._connect()
                run = backend.runs.get(self._id)  # before its events: the last of them report its end
                events = tuple(backend.runs.events(self._id, after=after, limit=BATCH))
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    close_quietly(backend)
                    backend = None
                failures += 1
                pause = self._patience(failures)
                self._batches.put(Batch(trouble=error, delay=pause))
                if isinstance(error, NotFound):
                    break  # the run has been deleted
            else:
                failures, after = 0, events[-1].id if events else after
                self._batches.put(Batch(events, run))
                if not events and (run.is_final or run.runner == "gone"):
                    break
                pause = 0.0 if len(events) == BATCH else PAUSE if events else min(2 * max(pause, PAUSE), LONGEST_PAUSE)
                pause = max(pause, backend.runs.pause)
            self._ends.wait(pause)
        close_quietly(backend)


def is_lost(error: Exception) -> bool:
    """Whether an error is of the backend and may pass; any other is of the request and stays."""
    return not isinstance(error, FuelError) or isinstance(error, Unavailable)


def close_quietly(backend: Backend | None) -> None:
    """Close a backend, if there is one, and ignore whatever goes wrong: it is given up anyway."""
    if backend is not None:
        with suppress(Exception):
            backend.close()


@dataclass(slots=True)
class Gateway:
    """Ask, keep answers, and ignore the ones that come too late.

    `connect` makes a backend in the thread that calls it; `post` takes messages from any thread; `now` is a clock.
    `answers` are those that are known. `acting` is the pending action and since when; actions are never repeated.
    `failed` says of requests what is wrong since their last answer, and when or how they are asked again. `feeds` are
    those that were still read when the last one was made.
    """

    connect: Callable[[], Backend]
    post: Callable[[Message], object]
    now: Callable[[], float]
    pending: dict[Request[object], Pending] = field(default_factory=dict)
    acting: tuple[Action, float] | None = None
    failed: dict[Request[object], str] = field(default_factory=dict)
    answers: AnswerCache = field(default_factory=AnswerCache)
    feeds: list[Feed] = field(default_factory=list)
    _workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        self._workers = Workers(self.connect, self._post, self.now)

    def answer(self, request: Request[Answer]) -> Answer | None:
        """The answer, or None. A request without one, or with an old one, is sent unless it is pending."""
        if (request not in self.answers or request in self.answers.old) and request not in self.pending:
            self.ask(request)
        self.answers.old.discard(request)
        return self.answers.get(request)

    def answer_once(self, request: Request[Answer]) -> Answer | None:
        """Like `answer`, but do not ask again for what failed. It is for what a screen shows again when it learns of
        the failure: that would ask for ever."""
        return self.answers.get(request) if request in self.failed else self.answer(request)

    def revisit(self, request: Request[object]) -> None:
        """Ask again for what failed and was given up: the user comes back to it."""
        if request in self.failed and request not in self.pending:
            self.ask(request)

    def ask(self, request: Request[object]) -> None:
        """Send a request even if it is answered or pending. Of equal ones only the answer to the last counts."""
        before = self.pending.get(request)
        if before is None:
            self.failed.pop(request, None)
        waiting = self.pending[request] = Pending(self.now(), before.failures if before else 0)
        self._workers.put(
            Job(
                lambda: self.pending.get(request) is waiting,
                lambda backend: Answered(waiting, request, request.read(backend)),
                lambda error: Failed(waiting, request, reason(error), is_lost(error), isinstance(error, NotFound)),
            )
        )

    def drop(self, request: Request[object]) -> None:
        """Stop waiting for an answer."""
        self.pending.pop(request, None)
        self.failed.pop(request, None)

    def renew(self, request: Request[object]) -> None:
        """Ask again because the data may have changed; that makes all other answers old."""
        self.answers.age()
        self.answers.old.discard(request)
        self.ask(request)

    def settle(self, message: Answered) -> bool:
        """Keep an answer; return False if it is no longer waited for."""
        if self.pending.get(message.request) is not message.waiting:
            return False
        self.drop(message.request)
        self.answers.put(message.request, message.value)
        return True

    def fail(self, message: Failed) -> float | None:
        """Note a failure, and return after how many seconds to ask again; None if that is pointless or too late."""
        if self.pending.get(message.request) is not message.waiting:
            return None
        message.waiting.failures += 1
        delay = patience(message.waiting.failures) if message.passing else None
        again = f"asking again in {delay:.0f} s" if delay is not None else "ctrl+r asks again"
        self.failed[message.request] = f"{message.reason}  {again}"
        if delay is None:
            del self.pending[message.request]
        if message.gone:
            self.answers.drop(message.request)
        return delay

    def trouble(self, *requests: Request[object]) -> str:
        """Why the first of `requests` that failed did so, else any that is pending; empty if none failed."""
        return next((self.failed[failed] for failed in (*requests, *self.pending) if failed in self.failed), "")

    def slow(self) -> str:
        """What has been pending for too long, an action before requests; empty if nothing has."""
        waits = [(f"the answer to: {self.acting[0].what}", self.acting[1])] if self.acting is not None else []
        waits += [(request.what, waiting.since) for request, waiting in self.pending.items()]
        return next((what for what, since in waits if self.now() - since > SLOW), "")

    def act(self, action: Action) -> bool:
        """Carry out an action, once; return False while the last action has had no answer yet."""
        if self.acting is not None:
            return False
        self.acting = (action, self.now())
        self._workers.put(
            Job(
                lambda: True,
                lambda backend: Acted(action, action.act(backend)),
                lambda error: Refused(action, reason(error), is_lost(error)),
            )
        )
        return True

    def acted(self, *, removed: bool = False) -> None:
        """Note that the action has had its answer: what was known before is old, or after a removal dropped, because it
        may be about what does not exist any more."""
        self.acting = None
        self.answers.age()
        if removed:
            self.answers = AnswerCache()

    def follow(self, run_id: int) -> Feed:
        """A feed of the events of a run; the caller stops it."""
        feed = Feed(self.connect, run_id, patience)
        feed.start()
        self.feeds = [*filter(Feed.is_alive, self.feeds), feed]
        return feed

    def close(self) -> None:
        """Close all backends; that takes a second if one of them hangs."""
        for feed in self.feeds:
            feed.stop()
        end = self.now() + 1.0
        for feed in self.feeds:
            feed.join(max(0.0, end - self.now()))
        self._workers.close(max(0.0, end - self.now()))

    def _post(self, message: Message) -> None:
        with suppress(RuntimeError):  # the app and its event loop are gone
            self.post(message)


def patience(failures: int) -> float:
    """How many seconds to wait after that many failures in a row."""
    return PATIENCE[min(failures, len(PATIENCE)) - 1]


def reason(error: Exception) -> str:
    """An error on one line; one that is not ours is called unexpected."""
    message = str(error) if isinstance(error, FuelError) else f"unexpected error {type(error).__name__}: {error}"
    return printable(" ".join(message.split()))

"""Send requests and actions to a backend in threads, cache answers, repeat failed requests, and follow live runs.

An engine connection works only in the thread that opened it, so each thread makes and closes its own backend.
Threads are daemons, so that a hanging backend does not keep the UI from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TypeVar, cast

from textual.message import Message

from fuelclient.backends.base import Backend
from fuelclient.errors import FuelError, NotFound, Unavailable
from fuelclient.model.run import Event, Run
from fuelclient.printing import printable
from fuelclient.tui.actions import Action
from fuelclient.tui.requests import AskEnabling, AskGraph, AskLog, AskSource, Request
from fuelclient.tui.run_requests import AskCells, AskColumn, AskPage, AskRun

Job = Request[object] | Action
"""What a worker sends to a backend."""


@dataclass
class Pending:
    """When a job was last sent, by the gateway's clock, and how often it has failed."""

    since: float
    failures: int = 0


@dataclass
class Answered(Message):
    """A backend has finished a job. This is ignored unless `waiting` is still pending."""

    waiting: Pending
    job: Job
    value: object


@dataclass
class Failed(Message):
    """A backend has failed. If the failure is `transient`, a request is repeated, and an action may have been carried
    out. If the object is `gone`, it does not exist in the backend."""

    waiting: Pending
    job: Job
    reason: str
    transient: bool
    gone: bool = False


Answer = TypeVar("Answer")

PATIENCE = (1.0, 2.0, 5.0, 15.0)
"""Seconds before the next attempt after 1, 2, 3 and more failures in a row."""

SLOW = 3.0
"""Seconds without an answer after which a banner appears."""

KEPT: dict[type, int] = {AskLog: 32, AskRun: 6, AskSource: 64, AskGraph: 12, AskEnabling: 12}
KEPT |= {AskPage: 400, AskCells: 1, AskColumn: 3}
"""The largest number of cached answers to a type of request, to bound memory: a run may have a million instances.
Answers to other types are few and small. With fewer than a screen shows at once, it would ask again for ever: sorted
rows may all be on different pages."""


class AnswerCache:
    """Answers by request, the last used at the end. An *old* answer is shown until it has been read again."""

    def __init__(self) -> None:
        self._answers: dict[Request[object], object] = {}
        self.old: set[Request[object]] = set()

    def __contains__(self, request: object) -> bool:
        return request in self._answers

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, request: Request[Answer]) -> Answer | None:
        """The answer or None. It becomes the last used one."""
        if request not in self._answers:
            return None
        answer = self._answers[request] = self._answers.pop(request)
        return cast(Answer, answer)

    def put(self, request: Request[object], value: object) -> None:
        """Cache an answer, and drop the least recently used ones beyond `KEPT`."""
        self._answers.pop(request, None)
        self._answers[request] = value
        self.old.discard(request)
        if (most := KEPT.get(type(request))) is not None:
            same = [each for each in self._answers if type(each) is type(request)]
            for oldest in same[:-most]:
                self.drop(oldest)

    def drop(self, request: Request[object]) -> None:
        self._answers.pop(request, None)
        self.old.discard(request)

    def age(self, concerns: Callable[[Request[object]], bool] = lambda _: True) -> None:
        """Mark as old all answers, or those for whose request `concerns` is true."""
        self.old.update(filter(concerns, self._answers))


SIZE = 3
"""How many jobs run at once, not counting those that hang."""

STUCK = 10.0
"""Seconds with one job after which a worker counts as hanging, and may be replaced."""


class Workers:
    """At most `SIZE` threads that do not hang. Each is started when needed, and has its own backend."""

    def __init__(self, gateway: Gateway) -> None:
        self._connect, self._post, self._now = gateway.connect, gateway.deliver, gateway.now
        self._pending = gateway.pending
        self._jobs: SimpleQueue[tuple[Job, Pending] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy_since: dict[threading.Thread, float] = {}
        self._outstanding = 0
        self._lock = threading.Lock()

    def put(self, job: Job, waiting: Pending) -> None:
        """Queue a job for the next free worker, which skips it if `waiting` is no longer pending."""
        with self._lock:
            self._outstanding += 1
            stuck = sum(self._now() - since > STUCK for since in self._busy_since.values())
            if self._outstanding > len(self._threads) and len(self._threads) - stuck < SIZE:
                self._threads.append(threading.Thread(target=self._work, name="tui-worker", daemon=True))
                self._threads[-1].start()
        self._jobs.put((job, waiting))

    def close(self, seconds: float) -> None:
        """Close all backends. Do not wait longer than `seconds` for workers to end."""
        end = self._now() + seconds
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - self._now()))

    def _work(self) -> None:
        backend: Backend | None = None
        thread = threading.current_thread()
        while (item := self._jobs.get()) is not None:
            job, waiting = item
            with self._lock:
                self._busy_since[thread] = self._now()
            try:
                if self._pending.get(job) is waiting:
                    backend = backend or self._connect()
                    value = job.read(backend) if isinstance(job, Request) else job.act(backend)
                    self._post(Answered(waiting, job, value))
            except Exception as error:  # whatever a backend does, the UI lives
                if is_lost(error):
                    close_quietly(backend)
                    backend = None
                self._post(Failed(waiting, job, reason(error), is_lost(error), isinstance(error, NotFound)))
            with self._lock:
                del self._busy_since[thread]
                self._outstanding -= 1
        close_quietly(backend)


BATCH = 1000
"""How many events of a run are read at once."""

PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two reads of a live run: while events arrive, and the longest pause while none do. A backend may
require a longer pause."""


@dataclass(frozen=True, slots=True)
class Batch:
    """New events of a run, and the run; or why they could not be read, and whether the run is `gone`."""

    events: tuple[Event, ...] = ()
    run: Run | None = None
    trouble: str = ""
    gone: bool = False


class Feed(threading.Thread):
    """A thread that reads the events of a run into a queue, until the run ends or `stop` is called."""

    def __init__(self, connect: Callable[[], Backend], run_id: int) -> None:
        super().__init__(name=f"follow-{run_id}", daemon=True)
        self._connect, self._id = connect, run_id
        self._batches: SimpleQueue[Batch] = SimpleQueue()
        self._ends = threading.Event()

    def take(self) -> list[Batch]:
        """The batches since the last call."""
        return [self._batches.get() for _ in range(self._batches.qsize())]

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
                pause = patience(failures)
                gone = isinstance(error, NotFound)
                self._batches.put(Batch(trouble=f"{reason(error)}  asking again in {pause:.0f} s", gone=gone))
                if gone:
                    break
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
    """Whether the backend failed, so that a new attempt may succeed; other errors are due to the request."""
    return not isinstance(error, FuelError) or isinstance(error, Unavailable)


def close_quietly(backend: Backend | None) -> None:
    if backend is not None:
        with suppress(Exception):
            backend.close()


@dataclass(slots=True)
class Gateway:
    """Sends jobs, caches answers, and ignores late ones.

    `connect` makes a backend for the thread that calls it; `post` takes messages from any thread; `now` is a clock.
    `pending` has at most one action, because actions are never repeated. `failed` has the message of each job that has
    failed since its last answer. `feeds` has the feeds that were alive when the last one was started.
    """

    connect: Callable[[], Backend]
    post: Callable[[Message], object]
    now: Callable[[], float]
    pending: dict[Job, Pending] = field(default_factory=dict)
    failed: dict[Job, str] = field(default_factory=dict)
    answers: AnswerCache = field(default_factory=AnswerCache)
    feeds: list[Feed] = field(default_factory=list)
    _workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        self._workers = Workers(self)

    @property
    def acting(self) -> Action | None:
        """The pending action."""
        return next((job for job in self.pending if not isinstance(job, Request)), None)

    def answer(self, request: Request[Answer]) -> Answer | None:
        """The cached answer or None. If it is missing or old, send the request unless it is pending."""
        if (request not in self.answers or request in self.answers.old) and request not in self.pending:
            self.ask(request)
        self.answers.old.discard(request)
        return self.answers.get(request)

    def answer_once(self, request: Request[Answer]) -> Answer | None:
        """Like `answer`, but do not repeat a failed request: a screen that shows each failure would do so for ever."""
        return self.answers.get(request) if request in self.failed else self.answer(request)

    def revisit(self, request: Request[object]) -> None:
        """Repeat a failed request, because the user comes back to its screen."""
        if request in self.failed and request not in self.pending:
            self.ask(request)

    def ask(self, job: Job) -> None:
        """Send a job even if it is answered or pending. Answers to earlier equal jobs are ignored."""
        before = self.pending.get(job)
        if before is None:
            self.failed.pop(job, None)
        waiting = self.pending[job] = Pending(self.now(), before.failures if before else 0)
        self._workers.put(job, waiting)

    def drop(self, job: Job) -> None:
        """Stop waiting for an answer."""
        self.pending.pop(job, None)
        self.failed.pop(job, None)

    def renew(self, request: Request[object]) -> None:
        """Repeat a request, and mark all other answers as old, because data may have changed."""
        self.answers.age()
        self.answers.old.discard(request)
        self.ask(request)

    def accept(self, message: Answered) -> bool:
        """Cache an answer; return False if it is too late."""
        if self.pending.get(message.job) is not message.waiting:
            return False
        self.drop(message.job)
        if isinstance(message.job, Request):
            self.answers.put(message.job, message.value)
        return True

    def fail(self, request: Request[object], message: Failed) -> float | None:
        """Record a failure. Return the seconds until the next attempt, or None if there will be none."""
        if self.pending.get(request) is not message.waiting:
            return None
        message.waiting.failures += 1
        delay = patience(message.waiting.failures) if message.transient else None
        again = f"asking again in {delay:.0f} s" if delay is not None else "ctrl+r asks again"
        self.failed[request] = f"{message.reason}  {again}"
        if delay is None:
            del self.pending[request]
        if message.gone:
            self.answers.drop(request)
        return delay

    def trouble(self, *requests: Request[object]) -> str:
        """Why the first failed one of `requests`, or else any pending job, has failed; empty if none has."""
        return next((self.failed[failed] for failed in (*requests, *self.pending) if failed in self.failed), "")

    def slow(self) -> str:
        """The name of a job that has been pending for more than `SLOW` seconds, preferably the action's; else empty."""
        late = [job for job, waiting in self.pending.items() if self.now() - waiting.since > SLOW]
        if (action := self.acting) in late:
            return f"the answer to: {action.what}"
        return late[0].what if late else ""

    def acted(self, *, removed: bool = False) -> None:
        """Mark all answers as old after an action. Drop them after a removal: their objects may no longer exist."""
        self.answers.age()
        if removed:
            self.answers = AnswerCache()

    def follow(self, run_id: int) -> Feed:
        """Start to read the events of a run, until the caller stops the feed."""
        feed = Feed(self.connect, run_id)
        feed.start()
        self.feeds = [*filter(Feed.is_alive, self.feeds), feed]
        return feed

    def close(self) -> None:
        """Close all backends. This takes a second if one hangs."""
        for feed in self.feeds:
            feed.stop()
        end = self.now() + 1.0
        for feed in self.feeds:
            feed.join(max(0.0, end - self.now()))
        self._workers.close(max(0.0, end - self.now()))

    def deliver(self, message: Message) -> None:
        with suppress(RuntimeError):  # the app and its event loop are gone
            self.post(message)


def patience(failures: int) -> float:
    """Seconds until the attempt after that many failures in a row."""
    return PATIENCE[min(failures, len(PATIENCE)) - 1]


def reason(error: Exception) -> str:
    """The message of an error, on one line. Errors other than `FuelError` are called unexpected."""
    message = str(error) if isinstance(error, FuelError) else f"unexpected error {type(error).__name__}: {error}"
    return printable(" ".join(message.split()))

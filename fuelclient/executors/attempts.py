"""Try one recipe until it succeeds or its limits are reached, and describe the result. Earlier tries also count.

The label of a try, such as `1.2`, consists of the number of the job's attempt and the number of the try in it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from fuelclient import redact
from fuelclient.executors.job import Job, Log, Outcome, Recipe
from fuelclient.executors.spool import KEPT_BYTES, NEVER, NOTHING_SEEN, STOPPED, TIMEOUT, VANISHED, Ended, Spool
from fuelclient.executors.transport import ConnectionBroken, Limits, TransportError
from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.model.task import TaskType

T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_PREPARE_SECONDS = 600.0
_START_SECONDS = 10.0
"""How many seconds a started try may take to store its process number, since a machine can be very busy."""

MAX_OUTPUT_CHARACTERS = 1000
"""The maximum number of characters of a command's output in a message. The spool contains the whole output."""


class Interrupted(Exception):
    """A try has begun, but its result is lost."""


@dataclass(frozen=True, slots=True)
class RecipeResult:
    """How a recipe ended: the exit code of its last try, the reason if that did not end by itself, the number of tries,
    and the end of the last output. `cut` is true if the last try was killed while it ran."""

    ok: bool
    code: int | None
    why: str
    tries: int
    out: str = ""
    err: str = ""
    cut: bool = False


class CutShort(Exception):
    """The time has run out (`TIMEOUT`), or the job was stopped (`STOPPED`)."""


class Attempts:
    """The tries of one recipe in one spool.

    `attempt` is the number of the job's attempt, `stop` is set to end the job, and `grace` is the number of seconds
    between SIGTERM and SIGKILL. `before` prepares the machine; its time does not count towards the timeout.
    """

    def __init__(
        self, spool: Spool, recipe: Recipe, limits: Limits, *, attempt: int, stop: asyncio.Event, grace: float,
        say: Log, before: Callable[[], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._spool, self._recipe, self._limits = spool, recipe, limits
        self._attempt, self._stop, self._grace, self._say, self._before = attempt, stop, grace, say, before
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        self._seen = NOTHING_SEEN
        self._broken_by = ""
        self._attached = ""

    async def run(self, *, recovering: bool = False) -> RecipeResult:
        """Try until the limits are reached.

        With `recovering`, first read the spool: count tries that ended, and wait for one that still runs. Raise
        `Interrupted` (only with `recovering`) if an earlier try ended without a result, and `TransportError` if the
        machine cannot be reached. A try that vanishes during this call counts as failed. A try that was claimed but
        never began, because its starter died in between, does not count.
        """
        if recovering:
            self._seen = await retry_unreachable(self._spool.look, self._limits.timeout, self._stop)
            self._began = self._clock() - self._seen.age
        elif self._attempt > 1:
            await self._end_earlier_attempts()
        earlier = self._seen.claimed
        failures = successes = number = 0
        code: int | None = None
        while True:
            number += 1
            try:
                end = await self._wait_for_end(number, earlier)
            except CutShort as error:
                return self._result(False, code, str(error), number - 1)
            if end is not None and end.why == NEVER:
                continue
            code = end.code if end else None
            if end is not None and end.why != "exit":
                return self._result(False, code, end.why, number, cut=True)
            if code in self._recipe.ok:
                successes += 1
                if successes > self._limits.repeats:
                    return self._result(True, code, "", number)
            else:
                failures += 1
                if failures > self._limits.retries:
                    why = "" if end else self._broken_by or VANISHED
                    return self._result(False, code, why, number)
                how = f"exit code {code}" if end else self._broken_by or "its process vanished"
                left = self._limits.retries + self._limits.repeats + 1
                self._say(f"try {number} of {left} failed ({how}); next one in {self._limits.interval:g} s")
            is_next_claimed = f"{self._attempt}.{number + 1}" in self._seen.claimed
            if not is_next_claimed and not await self._pause(self._limits.interval):
                return self._result(False, code, self._stop_reason(), number)

    def _result(self, ok: bool, code: int | None, why: str, tries: int, *, cut: bool = False) -> RecipeResult:
        return RecipeResult(ok, code, why, tries, self._seen.out, self._seen.err, cut)

    async def _wait_for_end(self, number: int, earlier: frozenset[str]) -> Ended | None:
        """Wait until no process of a try runs any more. Return None if the try vanished, or never began.

        `earlier` are the labels of the tries from before this call. Raise what `_try` and `_end_of_earlier` raise.
        """
        label = f"{self._attempt}.{number}"
        end = await self._try(label)
        if end is None and label in earlier:
            if f"{self._attempt}.{number + 1}" not in earlier:
                end = await self._end_of_earlier(label)
        elif end is None and label in self._seen.claimed:
            end = await self._end_leftovers(label)
        return None if end is not None and end.why == VANISHED else end

    async def _end_earlier_attempts(self) -> None:
        """Kill processes of earlier attempts, which may still run: this attempt began without their results."""
        self._seen = await retry_unreachable(self._spool.look, self._limits.timeout, self._stop)
        for label in sorted(self._seen.claimed - self._seen.ended.keys()):
            if not label.startswith(f"{self._attempt}."):
                await self._end_leftovers(label)

    async def _end_leftovers(self, label: str) -> Ended | None:
        """Kill the remaining session of a try whose leader is gone, which would otherwise run beside the next try.
        Raise `Unreachable` if that is impossible."""
        kill = functools.partial(self._spool.kill, label, VANISHED, self._grace)
        await retry_unreachable(kill, max(_START_SECONDS, self._left()), self._stop)
        self._seen = await retry_unreachable(self._spool.look, max(_START_SECONDS, self._left()), self._stop)
        return self._seen.ended.get(label)

    async def _try(self, label: str) -> Ended | None:
        """Begin a try unless it has begun, and wait for its end. Return None if it left no result, or never began.

        Raise `CutShort` if there is no time left to begin.
        """
        self._broken_by = ""
        if label not in self._seen.claimed and label not in self._seen.ended:
            if self._stop_reason():
                raise CutShort(self._stop_reason())
            try:
                await self._begin(label)
            except TransportError as error:
                if error.final:
                    raise
                self._broken_by = str(error)
                return None
            except CutShort as error:
                return await self._end(label, str(error))
        if label in self._seen.ended:
            return self._seen.ended[label]
        try:
            await with_deadline(self._follow(label), self._left(), self._stop)
        except CutShort as error:
            return await self._end(label, str(error))
        return self._seen.ended.get(label)

    async def _end_of_earlier(self, label: str) -> Ended:
        """Wait for the end of an earlier try without a result. If it has no process yet, prevent it from beginning.

        Raise `Interrupted` if it began and its result is lost.
        """
        end = None
        if self._seen.running != label:
            self._seen = await retry_unreachable(functools.partial(self._spool.fence, label), self._left(), self._stop)
            end = await self._try(label)
        if end is None:
            raise Interrupted(label)
        return end

    async def _begin(self, label: str) -> None:
        """Start a try, and wait for its end unless the connection breaks."""
        since = self._clock()
        await with_deadline(self._before(), _PREPARE_SECONDS, self._stop)
        self._began += self._clock() - since
        try:
            await with_deadline(self._launch(label), self._left(), self._stop)
        except ConnectionBroken as error:
            self._broken_by = str(error)
            self._say("the connection broke; the command may go on, looking for it")

    async def _launch(self, label: str) -> None:
        """Start a try and wait for its end, unless it is claimed already. So this can be called again."""
        if self._attached != label:  # only once, since a command that has begun may be reading the files
            await self._spool.attach(self._recipe)
            self._attached = label
        self._seen = await self._spool.launch(self._recipe, label, self._clock() - self._began)

    async def _follow(self, label: str) -> None:
        """Poll the spool until the try has ended, has vanished, or has not begun in time."""
        pause, since = _FIRST_PAUSE, self._clock()
        while True:
            try:
                self._seen = await self._spool.look()
                if self._broken_by and label not in self._seen.claimed:
                    await self._launch(label)  # a start still under way has to claim the label first
            except TransportError as error:
                if error.final:
                    raise
                since = self._clock()
            else:
                if label in self._seen.ended or (self._seen.running == label and not self._seen.alive):
                    return
                if self._seen.running != label and self._clock() - since > _START_SECONDS:
                    return
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    async def _end(self, label: str, why: str) -> Ended | None:
        """Kill the try. It may just have ended by itself."""
        try:
            await self._spool.kill(label, why, self._grace)
            self._seen = await self._spool.look()
        except TransportError as error:
            self._say(f"the command could not be ended: {error}")
        return self._seen.ended.get(label, Ended(137, why))

    async def _pause(self, seconds: float) -> bool:
        try:
            await with_deadline(asyncio.sleep(seconds), self._left(), self._stop)
        except CutShort:
            return False
        return not self._stop_reason()

    def _left(self) -> float:
        return max(0.0, self._limits.timeout - (self._clock() - self._began))

    def _stop_reason(self) -> str:
        if self._stop.is_set():
            return STOPPED
        return TIMEOUT if self._left() <= 0 else ""


async def retry_unreachable(ask: Callable[[], Awaitable[T]], seconds: float, stop: asyncio.Event) -> T:
    """Call `ask`, and repeat that while the machine cannot be reached.

    Raise `TransportError` if this takes longer than `seconds`, if the error is final, or if `stop` is set.
    """
    clock = asyncio.get_running_loop().time
    deadline, pause = clock() + seconds, _FIRST_PAUSE
    while True:
        try:
            return await ask()
        except TransportError as error:
            if error.final or stop.is_set() or clock() >= deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


async def with_deadline(work: Awaitable[T], seconds: float, stop: asyncio.Event) -> T:
    """Wait for `work`. Raise `CutShort` after `seconds`, or as soon as `stop` is set."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise CutShort(STOPPED if stop.is_set() else TIMEOUT)
    finally:
        stopped.cancel()
        if not task.done():
            task.cancel()
        await asyncio.wait({task, stopped})
        if not task.cancelled():
            task.exception()  # otherwise asyncio would report an exception that was never retrieved


def outcome_of(job: Job, tried: RecipeResult, limits: Limits) -> Outcome:
    """Turn the result of a recipe into an outcome, with a message without secrets and the ends of the outputs."""
    out, err = output_end(job, tried.out), output_end(job, tried.err)
    summary = {"tries": tried.tries, **{name: text for name, text in (("out", out), ("err", err)) if text}}
    if tried.ok:
        return Outcome(InstanceStatus.READY, tried.code, "", summary)
    message = redact.scrubbed(_failure_text(tried, limits), job.known_secrets())
    if job.type == TaskType.PUPPET:  # its other lines are notices and traces of its own code
        output = "\n".join([line for line in err.splitlines() if line.startswith("Error")]) or err
    else:
        output = err or out
    if output:
        message = f"{message}: {output}"
    reason = Reason.INTERRUPTED if tried.why == STOPPED else ""
    return Outcome(InstanceStatus.ERROR, tried.code, message, summary, reason)


def _failure_text(tried: RecipeResult, limits: Limits) -> str:
    """Describe why the tries did not succeed. A timeout or a stop can happen during a try, between two tries, or before
    the first one."""
    times, is_late = f" after {tried.tries} tries" if tried.tries > 1 else "", tried.why == TIMEOUT
    late = f"timed out: not done within {limits.timeout:g} s"
    if tried.why == VANISHED:
        return f"its process vanished without an exit code{times}; it was killed, or the machine restarted"
    if tried.why not in (TIMEOUT, STOPPED):
        return f"{tried.why.rstrip('.') or f'exit code {tried.code}'}{times}"
    if tried.cut:
        return f"{f'{late}, its' if is_late else 'stopped: its'} processes were ended{times}"
    if not tried.tries:
        begin = f"timed out: there was no time to begin within {limits.timeout:g} s"
        return begin if is_late else "stopped before it began"
    last = "no exit code" if tried.code is None else f"exit code {tried.code}"
    return f"{late if is_late else 'stopped between two tries'}; {last}{times or ' after 1 try'}"


def output_end(job: Job, text: str) -> str:
    """Shorten an output to its end for a message, and mask secrets.

    Messages are printed on terminals, so control characters become spaces. The spool has the original output.
    """
    text = redact.masked_part(text, job.known_secrets(), head=len(text.encode()) >= KEPT_BYTES).strip()
    text = "".join(char if char in "\n\t" or char.isprintable() else " " for char in text)
    return text if len(text) <= MAX_OUTPUT_CHARACTERS else f"...{text[-MAX_OUTPUT_CHARACTERS:]}"

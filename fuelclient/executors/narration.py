"""Narration: what an executor tells of a job, short and free of secrets."""

from __future__ import annotations

from dataclasses import replace

from fuelclient import redact
from fuelclient.executors.attempts import Tried
from fuelclient.executors.base import MOST_TOLD, Job, Log, Outcome
from fuelclient.executors.limits import Limits
from fuelclient.executors.spool import KEEP, STOPPED, TIMEOUT, VANISHED
from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.model.task import TaskType

_CUT = 256


def quiet(line: str) -> None:
    """Tell nobody."""


def scrubbing(job: Job, log: Log) -> Log:
    """A log that gets each line with the task instance before it, and without secrets."""
    secrets = job.known_secrets()
    return lambda line: log(redact.scrubbed(f"{job.label}: {line}", secrets))


def skipped(job: Job, reason: str = "") -> Outcome:
    """Nothing was done."""
    return Outcome(InstanceStatus.SKIPPED, message=redact.scrubbed(reason, job.known_secrets()))


def failure(job: Job, message: str, code: int | None = None) -> Outcome:
    """It could not be done."""
    return Outcome(InstanceStatus.ERROR, code, redact.scrubbed(message, job.known_secrets()))


def interrupted(job: Job, message: str = STOPPED) -> Outcome:
    """Somebody had it ended."""
    return replace(failure(job, message), reason=Reason.INTERRUPTED)


def told(job: Job, tried: Tried, limits: Limits) -> Outcome:
    """The outcome of a recipe."""
    out, err = end_of(job, tried.out), end_of(job, tried.err)
    summary = {"tries": tried.tries, **{name: text for name, text in (("out", out), ("err", err)) if text}}
    if tried.ok:
        return Outcome(InstanceStatus.READY, tried.code, "", summary)
    message = redact.scrubbed(_why(tried, limits), job.known_secrets())
    said = _errors(err) if job.type == TaskType.PUPPET else err or out
    if said:
        message = f"{message}: {said}"
    reason = Reason.INTERRUPTED if tried.why == STOPPED else ""
    return Outcome(InstanceStatus.ERROR, tried.code, message, summary, reason)


def _errors(text: str) -> str:
    """What puppet calls errors: the rest is notices, and traces of its own code."""
    lines = [line for line in text.splitlines() if line.startswith("Error")]
    return "\n".join(lines) or text


def _why(tried: Tried, limits: Limits) -> str:
    times = f" after {tried.tries} tries" if tried.tries > 1 else ""
    if tried.why in (TIMEOUT, STOPPED):
        return _ended(tried, limits, times)
    if tried.why == VANISHED:
        return f"its process vanished without an exit code{times}; the machine restarted, or somebody killed it"
    if tried.why:
        return f"{tried.why.rstrip('.')}{times}"
    return f"exit code {tried.code}{times}"


def _ended(tried: Tried, limits: Limits, times: str) -> str:
    """How the time, or somebody, put an end to the tries: while one ran, between two of them, or before the first."""
    is_late = tried.why == TIMEOUT
    if tried.cut:
        how = f"timed out: not done within {limits.timeout:g} s, its" if is_late else "stopped: its"
        return f"{how} processes were ended{times}"
    if not tried.tries:
        return (
            f"timed out: there was no time to begin within {limits.timeout:g} s"
            if is_late
            else "stopped before it began"
        )
    how = f"timed out: not done within {limits.timeout:g} s" if is_late else "stopped between two tries"
    last = "no exit code" if tried.code is None else f"exit code {tried.code}"
    return f"{how}; {last}{times or ' after 1 try'}"


def end_of(job: Job, text: str) -> str:
    """The end of an output, as a message may carry it.

    What was cut off before may have cut a secret in two, so the first piece after a cut goes as well. Messages are
    printed on terminals, so nothing is in them that a terminal would obey; the spool has the output as it is.
    """
    if len(text.encode()) >= KEEP:
        head, newline, rest = text.partition("\n")
        text = rest if newline and len(head) < len(text) - _CUT else text[_CUT:]
    text = redact.scrubbed(text, job.known_secrets()).strip()
    text = "".join(one if one in "\n\t" or one.isprintable() else " " for one in text)
    return text if len(text) <= MOST_TOLD else f"...{text[-MOST_TOLD:]}"

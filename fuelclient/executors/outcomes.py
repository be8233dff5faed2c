"""The outcomes of jobs: how each ended, in a few words and without secrets."""

from __future__ import annotations

from dataclasses import replace

from fuelclient import redact
from fuelclient.executors.attempts import Tried
from fuelclient.executors.job import Job, Log, Outcome
from fuelclient.executors.spool import KEEP, STOPPED, TIMEOUT, VANISHED
from fuelclient.executors.transport import Limits
from fuelclient.model.status import InstanceStatus, Reason
from fuelclient.model.task import TaskType

MOST_TOLD = 1000
"""The most characters of a command's output that a message has; the spool has all of it."""


def scrubbing(job: Job, log: Log) -> Log:
    """Return a log that puts the instance before each line, and masks secrets."""
    secrets = job.known_secrets()
    return lambda line: log(redact.scrubbed(f"{job.label}: {line}", secrets))


def skipped(job: Job, reason: str = "") -> Outcome:
    """Return the outcome of a job for which nothing was done."""
    return Outcome(InstanceStatus.SKIPPED, message=redact.scrubbed(reason, job.known_secrets()))


def failure(job: Job, message: str, code: int | None = None) -> Outcome:
    """Return the outcome of a job that failed."""
    return Outcome(InstanceStatus.ERROR, code, redact.scrubbed(message, job.known_secrets()))


def interrupted(job: Job, message: str = STOPPED) -> Outcome:
    """Return the outcome of a job that was stopped."""
    return replace(failure(job, message), reason=Reason.INTERRUPTED)


def outcome_of(job: Job, tried: Tried, limits: Limits) -> Outcome:
    """Return the outcome of a recipe."""
    out, err = end_of(job, tried.out), end_of(job, tried.err)
    summary = {"tries": tried.tries, **{name: text for name, text in (("out", out), ("err", err)) if text}}
    if tried.ok:
        return Outcome(InstanceStatus.READY, tried.code, "", summary)
    message = redact.scrubbed(_why(tried, limits), job.known_secrets())
    output = _errors(err) if job.type == TaskType.PUPPET else err or out
    if output:
        message = f"{message}: {output}"
    reason = Reason.INTERRUPTED if tried.why == STOPPED else ""
    return Outcome(InstanceStatus.ERROR, tried.code, message, summary, reason)


def _errors(text: str) -> str:
    """Return the lines that puppet calls errors: the rest is notices, and traces of its own code."""
    return "\n".join([line for line in text.splitlines() if line.startswith("Error")]) or text


def _why(tried: Tried, limits: Limits) -> str:
    times = f" after {tried.tries} tries" if tried.tries > 1 else ""
    if tried.why in (TIMEOUT, STOPPED):
        return _ended(tried, limits, times)
    if tried.why == VANISHED:
        return f"its process vanished without an exit code{times}; it was killed, or the machine restarted"
    if tried.why:
        return f"{tried.why.rstrip('.')}{times}"
    return f"exit code {tried.code}{times}"


def _ended(tried: Tried, limits: Limits, times: str) -> str:
    """Say how a timeout or a stop ended the tries: while one ran, between two of them, or before the first."""
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
    """Return the end of an output, as a message can carry it.

    Messages are printed on terminals, so control characters become spaces; the spool has the output as it was.
    """
    text = redact.masked_part(text, job.known_secrets(), head=len(text.encode()) >= KEEP).strip()
    text = "".join(char if char in "\n\t" or char.isprintable() else " " for char in text)
    return text if len(text) <= MOST_TOLD else f"...{text[-MOST_TOLD:]}"

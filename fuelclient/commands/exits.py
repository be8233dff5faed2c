"""Exit codes: every way in which a `fuel2` command can end, and which error ends it so."""

from __future__ import annotations

from enum import IntEnum

from fuelclient import errors


class Exit(IntEnum):
    """What a script can learn from `$?`. The numbers are part of the interface and never change meaning."""

    OK = 0
    """Done."""
    UNEXPECTED = 1
    """A defect of this program, or of the system below it; `--debug` shows where."""
    USAGE = 2
    """The command line cannot be understood, or asks for what this backend cannot do."""
    UNAVAILABLE = 3
    """The engine file, or the master, cannot be reached now."""
    UNAUTHORISED = 4
    """The credentials are missing, wrong or too weak."""
    NOT_FOUND = 5
    """A release, environment, node, role, graph type or file does not exist."""
    CONFLICT = 6
    """It exists already, is in use, or would be overwritten."""
    INVALID = 7
    """A document, graph or plugin has errors; all of them are on stderr, or in the report of a check."""
    FAILED = 8
    """An execution ran and failed."""
    STALE = 9
    """A saved plan no longer fits the environment it was made for."""
    DIFFERENT = 10
    """Differences were found, and `--exit-code` asked to be told."""
    DECLINED = 11
    """A prompt was answered with no."""
    TIMED_OUT = 12
    """Waiting took longer than was allowed; what was waited for goes on."""
    INTERRUPTED = 130
    """Ctrl-C (128 + SIGINT)."""
    BROKEN_PIPE = 141
    """The reader of stdout went away (128 + SIGPIPE)."""


_CODES: tuple[tuple[type[BaseException], Exit], ...] = (
    (errors.UsageError, Exit.USAGE),
    (errors.Unsupported, Exit.USAGE),
    (errors.Unavailable, Exit.UNAVAILABLE),
    (errors.Unauthorised, Exit.UNAUTHORISED),
    (errors.NotFound, Exit.NOT_FOUND),
    (errors.Conflict, Exit.CONFLICT),
    (errors.InvalidDocument, Exit.INVALID),
    (errors.StalePlan, Exit.STALE),
    (errors.Declined, Exit.DECLINED),
    (KeyboardInterrupt, Exit.INTERRUPTED),
    (BrokenPipeError, Exit.BROKEN_PIPE),
)


def exit_of(error: BaseException) -> Exit:
    """The exit code that `error` ends a command with.

    >>> exit_of(errors.NotFound("release", 7))
    <Exit.NOT_FOUND: 5>
    >>> exit_of(ZeroDivisionError())
    <Exit.UNEXPECTED: 1>
    """
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.UNEXPECTED)

"""The exit codes of `fuel2` commands, and the errors that cause them."""

from __future__ import annotations

from enum import IntEnum

from fuelclient import errors


class Exit(IntEnum):
    """The exit code, `$?` in a script. The numbers are part of the interface and never change their meaning."""

    OK = 0
    """Done."""
    UNEXPECTED = 1
    """A defect of this program or of the system below it; `--debug` shows where."""
    USAGE = 2
    """The command line is invalid, or asks for what this backend cannot do."""
    UNAVAILABLE = 3
    """The engine file, the master, or a node that a run needs cannot be reached or used."""
    UNAUTHORISED = 4
    """The credentials are missing or wrong, or do not allow this."""
    NOT_FOUND = 5
    """A release, environment, node, role, graph type or file does not exist."""
    CONFLICT = 6
    """Something exists already, is in use, would be overwritten, or does not fit the environment."""
    INVALID = 7
    """A document, graph, plugin or this installation has errors; all are on stderr, or in the output of a check."""
    FAILED = 8
    """A run failed."""
    STALE = 9
    """A saved plan no longer fits its environment."""
    DIFFERENT = 10
    """There are differences, and `--exit-code` was given."""
    DECLINED = 11
    """The user answered a question with no."""
    TIMED_OUT = 12
    """Waiting took longer than allowed; the run goes on."""
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
    """The exit code of a command that ends with `error`.

    >>> exit_of(errors.NotFound("release", 7))
    <Exit.NOT_FOUND: 5>
    >>> exit_of(ZeroDivisionError())
    <Exit.UNEXPECTED: 1>
    """
    return next((code for error_type, code in _CODES if isinstance(error, error_type)), Exit.UNEXPECTED)

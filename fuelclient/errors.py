"""Every error that this package raises on purpose.

::

    FuelError
    ├── UsageError           the request itself makes no sense (a malformed option value)
    ├── Unavailable          the engine file, or a master, cannot be reached now
    │   └── Gone             it was there, and will not come back by itself
    ├── Unauthorised         the credentials are missing, wrong or too weak
    ├── NotFound             a release, environment, node, graph type ... does not exist
    ├── Conflict             it exists already, or is in use; may carry findings
    ├── InvalidDocument      a file that cannot be used; carries findings
    │   └── InvalidGraph     a graph that cannot be merged, placed or ordered
    │       └── CycleDetected    carries the cycle
    ├── StalePlan            what was planned is no longer what would be planned now
    ├── Unsupported          this backend cannot do that, and says why
    └── Declined             a prompt was answered with no

Errors carry data; their messages are built from it, in one line that says what, where and what to do
next. The exit code of each class is the command line's business and stands in `commands.exits`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Protocol


class Reportable(Protocol):
    """What an error needs to know of a finding; `model.finding.Finding` is the real one."""

    @property
    def is_error(self) -> bool: ...


class FuelError(Exception):
    """Base of all deliberate errors: a message for people, and a hint of what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(FuelError):
    """A value on the command line cannot be understood."""


class Unavailable(FuelError):
    """The place where the data lives cannot be reached."""


class Gone(Unavailable):
    """The place where the data lived is there no more: trying again is no use."""


class Unauthorised(FuelError):
    """The credentials do not allow this."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The one of `known` that `word` was probably meant to be, or an empty string.

    >>> nearest("controler", ["controller", "compute"])
    'controller'
    >>> nearest("zzz", ["controller"])
    ''
    """
    matches = difflib.get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return matches[0] if matches else ""


class NotFound(FuelError, LookupError):
    """`noun` with this `key` does not exist; `known` are the keys that do.

    >>> str(NotFound("release", 7, known=["1", "2"]))
    'Release 7 does not exist. Known: 1, 2.'
    """

    def __init__(self, noun: str, key: object, *, known: Sequence[str] = (), hint: str = "") -> None:
        self.noun, self.key, self.known = noun, key, tuple(known)
        close = nearest(str(key), known)
        if not hint and close:
            hint = f"Did you mean {close}?"
        elif not hint and known:
            shown = ", ".join(self.known[:12])
            hint = f"Known: {shown}, ..." if len(self.known) > 12 else f"Known: {shown}."
        super().__init__(f"{noun[:1].upper()}{noun[1:]} {key} does not exist.", hint=hint)


class Conflict(FuelError):
    """The thing exists already, or something else still uses it. `findings` tell of each clash, where there can be
    several."""

    def __init__(self, message: str, *, findings: Sequence[Reportable] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = tuple(findings)


class InvalidDocument(FuelError, ValueError):
    """A document cannot be used. `findings` has everything that is wrong with it, not only the first."""

    def __init__(self, message: str, *, findings: Sequence[Reportable] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = tuple(findings)


class InvalidGraph(InvalidDocument):
    """A graph cannot be merged, placed or ordered."""


class CycleDetected(InvalidGraph):
    """Task instances wait for one another; `cycle` is one shortest ring of them, first not repeated."""

    def __init__(self, message: str, *, cycle: Sequence[object], findings: Sequence[Reportable] = ()) -> None:
        super().__init__(message, findings=findings)
        self.cycle = tuple(cycle)


class StalePlan(FuelError):
    """The environment has changed since something was planned for it."""


class Unsupported(FuelError):
    """The backend in use cannot do this."""


class Declined(FuelError):
    """The user answered no."""

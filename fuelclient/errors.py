"""All errors that this package raises deliberately.

::

    FuelError
    ├── UsageError           the request makes no sense (a malformed value of an option)
    ├── Unavailable          the engine file or the master cannot be reached now
    │   ├── Gone             it existed, and trying again will not help
    │   └── NotReady         nodes of a run; carries findings
    ├── Unauthorised         the credentials are missing, wrong or insufficient
    ├── NotFound             a release, environment, node, graph type ... does not exist
    ├── Conflict             something exists already, or is in use; may carry findings
    ├── InvalidDocument      a document cannot be used; carries findings
    │   ├── UnknownFact      an expression reads a fact that is not known; carries its path
    │   └── InvalidGraph     a graph cannot be merged, placed or ordered
    │       └── CycleDetected    carries the cycle
    ├── StalePlan            the environment has changed since the plan was made
    ├── Unsupported          the backend cannot do this
    └── Declined             the user answered no

Errors carry data. Their messages are built from it, in one line that says what is wrong, where, and what to do next.
`commands.exits` has the exit code of each class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fuelclient.similar import Similar, is_id


def sentences(message: str, hint: str) -> str:
    """A message and its hint in one line. Some messages of the original client lack their full stop.

    >>> sentences("The name is invalid", "Use letters."), sentences("It is wrong.", ""), sentences("Which one", "")
    ('The name is invalid. Use letters.', 'It is wrong.', 'Which one')
    """
    if not message or not hint:
        return message or hint
    return f"{message}{'' if message.endswith(('.', '?', '!', ':')) else '.'} {hint}"


class FuelError(Exception):
    """Base class: a message, a hint about what to do next, and the `model.finding.Finding`s that it summarizes."""

    def __init__(self, message: str, *, findings: Sequence[Any] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return sentences(self.message, self.hint)


FIRST_STEPS = {
    "environment": "There is no environment yet. Run `fuel2 env create NAME --release ID`; `fuel2 start` shows what "
    "comes before.",
    "node": "There is no node yet. Run `fuel2 node import FILE` or `fuel2 node create NAME`.",
    "plugin": "There is no plugin yet. Run `fuel2 plugins install PACKAGE`, or `fuel2 plugins create` to write one.",
    "release": "There is no release yet. Run `fuel2 plugins install PACKAGE` for a release that comes as a plugin, "
    "`fuel2 release import FILE` for a fixture, or `fuel2 demo` for the packaged examples.",
    "run": "Nothing has been executed yet. Run `fuel2 graph execute --env ID`.",
    "task": "The graph has no task yet. Run `fuel2 graph upload --release ID --type TYPE --file FILE`.",
    "sequence": "There is no sequence yet. Run `fuel2 sequence create`.",
}
"""The hint about a thing that does not exist where none of its kind does, by the noun."""

ON_SERVER = {
    FIRST_STEPS["node"]: "There is no node yet. A Fuel master discovers them: boot them in its admin network.",
    FIRST_STEPS["plugin"]: "There is no plugin yet. Install one on the server's machine, then `fuel2 plugins sync`.",
    FIRST_STEPS["release"]: "There is no release yet. Run `fuel2 release import FILE` with a fixture.",
}
"""What takes the place of such a hint where its command is refused."""


class UsageError(FuelError):
    """A value on the command line cannot be understood."""


class Unavailable(FuelError):
    """The engine file or the master cannot be reached now."""


class Gone(Unavailable):
    """The engine file or the master is gone, so trying again will not help."""


class NotReady(Unavailable):
    """Nodes cannot do what a run needs. `findings` has each reason once, with all nodes that it applies to."""


class Unauthorised(FuelError):
    """The credentials do not allow this."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The name in `known` that `word` is probably a misspelling of, or an empty string, as for an id. For several
    words, use `similar.Similar`, which prepares the names once.

    >>> nearest("controler", ["controller", "compute"])
    'controller'
    >>> nearest("zzz", ["controller"]), nearest("100", ["10"])
    ('', '')
    """
    return "" if is_id(word) else Similar(known).nearest(word)


def did_you_mean(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """A hint that names the one of `known` that is closest to `word`. If none is close, return `otherwise`, or by
    default a hint that lists all of `known`.

    >>> did_you_mean("computer", ["compute", "cinder"]), did_you_mean("zzz", ["compute", "cinder"])
    ('Did you mean compute?', 'Known: compute, cinder.')
    """
    close = nearest(word, known)
    return f"Did you mean {close}?" if close else f"Known: {', '.join(known)}." if otherwise is None else otherwise


class NotFound(FuelError, LookupError):
    """The `noun` with this `key` does not exist; `known` are the existing keys. `message` replaces the default
    sentence.

    >>> str(NotFound("release", 7, known=["1", "2"]))
    'Release 7 does not exist. Known: 1, 2.'
    """

    def __init__(self, noun: str, key: object, *, known: Sequence[str] = (), message: str = "", hint: str = "") -> None:
        self.noun, self.key, self.known = noun, key, tuple(known)
        close = nearest(str(key), known)
        if not hint and close:
            hint = f"Did you mean {close}?"
        elif not hint and known:
            shown = ", ".join(self.known[:12])
            hint = f"Known: {shown}, ..." if len(self.known) > 12 else f"Known: {shown}."
        super().__init__(message or f"{noun[:1].upper()}{noun[1:]} {key} does not exist.", hint=hint)


class Conflict(FuelError):
    """Something exists already, or is still in use. If there can be several conflicts, each is a finding."""


class InvalidDocument(FuelError, ValueError):
    """A document cannot be used. `findings` are its problems."""


class UnknownFact(InvalidDocument):
    """An expression reads a fact that is not known. `path` names it as expressions do: `$.storage.pg_num`."""

    path: str


class InvalidGraph(InvalidDocument):
    """A graph cannot be merged, placed or ordered."""


class CycleDetected(InvalidGraph):
    """Task instances wait for each other. `cycle` is a shortest cycle, without its first member repeated.

    `drawings` has a picture in lines of text for each set of tasks with a cycle, if it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        cycle: Sequence[object],
        findings: Sequence[Any] = (),
        drawings: Sequence[str] = (),
    ) -> None:
        super().__init__(message, findings=findings)
        self.cycle = tuple(cycle)
        self.drawings = tuple(drawings)


class StalePlan(FuelError):
    """The environment has changed since the plan was made."""


class Unsupported(FuelError):
    """The backend in use cannot do this."""


class Declined(FuelError):
    """The user answered no."""

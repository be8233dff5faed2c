"""The steps of a job, as data: handlers make them, and the executor carries them out."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuelclient.graph.parameters import is_remote

SUCCESS = frozenset({0})


@dataclass(frozen=True, slots=True)
class File:
    """A file of this machine, read when the recipe is carried out."""

    path: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A file or directory of this machine, sent as a tar archive.

    With `inside`, the archive has the entries of the directory, else the directory itself by its name.
    """

    path: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file called `name` beside the script when it runs."""

    name: str
    content: bytes | File | Tree = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A bash script with its attachments, for one machine.

    `script` runs in the directory of the spool, where its attachments are. It may hold secrets, so it is never part of
    a command line. `ok` are the exit codes of success. `where` is the uid of the machine; empty is the job's own.
    """

    script: str = field(repr=False)
    attachments: tuple[Attachment, ...] = ()
    ok: frozenset[int] = SUCCESS
    where: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Do nothing, for a reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reboot:
    """Restart the machine."""


@dataclass(frozen=True, slots=True)
class Sync:
    """Make `dst` of the target like `src` of this machine. If one of them is an address of an rsync server, the other
    is a path of the target, which copies by itself."""

    src: str
    dst: str

    @property
    def by_target(self) -> bool:
        return is_remote(self.src) or is_remote(self.dst)


Step = Recipe | Sync | Reboot | Nothing
"""What a handler can ask for."""

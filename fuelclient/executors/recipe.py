"""Recipes: what has to be done on one machine, as data that a handler made and a spool carries out."""

from __future__ import annotations

from dataclasses import dataclass, field

SUCCESS = frozenset({0})


@dataclass(frozen=True, slots=True)
class File:
    """A file of this machine, sent as it is when the recipe is carried out."""

    path: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A file or directory of this machine, sent as a tar archive.

    With `inside` the archive holds what the directory holds, else the directory itself by its name.
    """

    path: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something that lies beside the script, under `name`, when it runs."""

    name: str
    content: bytes | File | Tree = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A bash script with its attachments, for one machine.

    `script` runs in the directory of the spool, where its attachments are; the text may hold secrets, therefore it
    is never a part of a command line. `ok` are the exit codes of success. `where` is the uid of the machine, an
    empty one is the job's own.
    """

    script: str = field(repr=False)
    attachments: tuple[Attachment, ...] = ()
    ok: frozenset[int] = SUCCESS
    where: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to do, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reboot:
    """The machine has to start again."""


@dataclass(frozen=True, slots=True)
class Sync:
    """`dst` of the target has to be like `src`: a path of this machine, or an rsync address that the target reads."""

    src: str
    dst: str


Step = Recipe | Sync | Reboot | Nothing
"""What a handler may ask for."""

"""What an examination of this installation, or of a machine, found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fuelclient.grouping import grouped


class Health(StrEnum):
    """How something is, from best to worst."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Shared:
    """What mends one problem of many machines at once: words, and a command in which `{}` stands for the subjects."""

    words: str
    command: str
    subject: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was examined: its area, its name, how it is, what is known, and how a problem is mended.

    Problems with the same message are alike, and `shared` mends all of them, where one command can.
    """

    area: str
    name: str
    health: Health
    message: str
    mend: str = ""
    shared: Shared | None = None


def alike(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Join diagnoses with the same problem of different things to one each, in the order of the first of them.

    >>> here, there = (
    ...     Diagnosis("nodes", name, Health.ERROR, "has no disk", f"buy {name}", Shared("Shop", "buy {}", name))
    ...     for name in "ab"
    ... )
    >>> [(found.name, found.mend) for found in alike([here, there])]
    [('a, b', 'Shop: buy a b')]
    """
    groups = grouped(((each.area, each.health, each.message), each) for each in diagnoses).values()
    return [
        replace(same[0], name=", ".join(dict.fromkeys(each.name for each in same)), mend=_mend(same), shared=None)
        if len(same) > 1
        else same[0]
        for same in groups
    ]


def _mend(group: Sequence[Diagnosis]) -> str:
    shared = [diagnosis.shared for diagnosis in group if diagnosis.shared is not None]
    if len(shared) < len(group):
        return "; ".join(dict.fromkeys(filter(None, (diagnosis.mend for diagnosis in group))))
    subjects: dict[str, dict[str, None]] = {}
    for mend in shared:
        subjects.setdefault(mend.command, {})[mend.subject] = None
    commands = "; ".join(command.replace("{}", " ".join(named)) for command, named in subjects.items())
    return f"{shared[0].words}: {commands}"

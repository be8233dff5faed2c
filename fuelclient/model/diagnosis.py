"""The results of checks of this installation, or of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fuelclient.grouping import grouped


class Health(StrEnum):
    """The result of one check, from best to worst."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Shared:
    """A fix for one problem of many machines: a description, and a command in which `{}` stands for the subjects."""

    words: str
    command: str
    subject: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check: the area and name of its subject, a message, and the fix of a problem (`mend`).

    `shared` is what this subject contributes to one fix for all problems with the same message.
    """

    area: str
    name: str
    health: Health
    message: str
    mend: str = ""
    shared: Shared | None = None


def alike(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Join the diagnoses that have the same area, health and message, in the order of their first subjects.

    >>> here, there = (
    ...     Diagnosis("nodes", name, Health.ERROR, "has no disk", f"buy {name}", Shared("Shop", "buy {}", name))
    ...     for name in "ab"
    ... )
    >>> [(found.name, found.mend) for found in alike([here, there])]
    [('a, b', 'Shop: buy a b')]
    """
    groups = grouped(((each.area, each.health, each.message), each) for each in diagnoses).values()
    return [
        replace(same[0], name=", ".join(dict.fromkeys(each.name for each in same)), mend=_joint_fix(same), shared=None)
        if len(same) > 1
        else same[0]
        for same in groups
    ]


def _joint_fix(group: Sequence[Diagnosis]) -> str:
    shared = [diagnosis.shared for diagnosis in group if diagnosis.shared is not None]
    if len(shared) < len(group):
        return "; ".join(dict.fromkeys(filter(None, (diagnosis.mend for diagnosis in group))))
    subjects: dict[str, dict[str, None]] = {}
    for fix in shared:
        subjects.setdefault(fix.command, {})[fix.subject] = None
    commands = "; ".join(command.replace("{}", " ".join(names)) for command, names in subjects.items())
    return f"{shared[0].words}: {commands}"

"""What an examination of this installation found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How something is, from best to worst."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was examined: its area, its name, how it is, what is known, and how a problem is mended."""

    area: str
    name: str
    health: Health
    message: str
    mend: str = ""

"""What the commands that check something share: the table of findings, and the exit code that it decides."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuelclient.commands.base import Lister
from fuelclient.commands.exits import Exit

if TYPE_CHECKING:
    from fuelclient.model.finding import Finding


class Check(Lister):
    """Prints findings; the exit code is 7 where `rows` has set `broken`."""

    columns = ("severity", "code", "place", "task", "message", "hint")
    sort_by = ""
    broken = False

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the report; the exit code says whether it has an error."""
        self.broken = False
        super().run(parsed_args)
        return Exit.INVALID if self.broken else Exit.OK


def cells(findings: Iterable[Finding]) -> list[Sequence[Any]]:
    """The rows of findings, in their order."""
    return [(str(one.severity), one.code, str(one.place), one.task, one.message, one.hint) for one in findings]

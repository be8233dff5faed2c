"""Messages: what the gateway and the widgets tell the screens. Dataclasses, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from fuelclient.model.run import PlannedGraph, Run
from fuelclient.tui.actions import Action
from fuelclient.tui.requests import Request

if TYPE_CHECKING:
    from fuelclient.tui.widgets.matrix import Matrix
    from fuelclient.tui.widgets.vtable import VirtualTable


@dataclass
class Answered(Message):
    """A backend has answered the `ticket`-th request."""

    ticket: int
    request: Request[object]
    value: object


@dataclass
class Failed(Message):
    """A backend could not answer. `passing` is what may be well again in a moment; the rest stays as it is until
    somebody changes the data. `gone` is what the backend does not have, or not any more."""

    ticket: int
    request: Request[object]
    reason: str
    passing: bool
    gone: bool = False


@dataclass
class Acted(Message):
    """A backend has done something; `value` is what it said."""

    action: Action
    value: Run | Sequence[PlannedGraph] | None


@dataclass
class Refused(Message):
    """A backend did not do something; `unknown` is true when nobody knows whether it was done after all."""

    action: Action
    reason: str
    unknown: bool


@dataclass
class Moved(Message):
    """The cursor of a table stands on another row (of the table's own numbering), or on none (-1)."""

    table: VirtualTable
    row: int

    def can_replace(self, message: Message) -> bool:
        """Of several moves only the last one counts."""
        return isinstance(message, Moved) and message.table is self.table


@dataclass
class Pointed(Message):
    """The cursor of a matrix stands on another cell."""

    matrix: Matrix
    row: int
    column: int

    def can_replace(self, message: Message) -> bool:
        """Of several moves only the last one counts."""
        return isinstance(message, Pointed) and message.matrix is self.matrix


@dataclass
class Chosen(Message):
    """A row was chosen, by Enter or by a double click."""

    table: VirtualTable
    row: int


@dataclass
class Arranged(Message):
    """A table shows other rows, or the same in another order."""

    table: VirtualTable


@dataclass
class QueryChanged(Message):
    """Somebody typed in the filter."""

    text: str


@dataclass
class QueryLeft(Message):
    """Somebody is done with the filter; with `clear` it is to be forgotten."""

    clear: bool

"""Files of deleted runs in the store, until they are removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from fuelclient.model.node import Node
from fuelclient.store.database import Connection
from fuelclient.store.rows import decode, encode, fields_of, insert_row, one


@dataclass(frozen=True, slots=True)
class Leftover:
    """Files of deleted runs: on this machine those of one run, else those of all runs on the machine of `node`, which
    `executor` reaches if it is given. `names` are the nodes that the machine stands for, `roots` the directories, and
    `attempts` counts how often removing them failed."""

    id: int
    run_id: int
    uuid: str
    node: Node | None = None
    executor: str = ""
    names: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    attempts: int = 0


def insert(connection: Connection, leftover: Leftover, due: str) -> int:
    """Store files that a sweep removes from `due` on, and return their id."""
    fields = {name: value for name, value in asdict(leftover).items() if name not in ("id", "attempts")}
    return insert_row(connection, "leftovers", {"due": due, "attempts": leftover.attempts, "body": encode(fields)})


def due(connection: Connection, moment: str) -> list[Leftover]:
    """Return what is to be removed at a moment."""
    selected = connection.execute("SELECT id, attempts, body FROM leftovers WHERE due <= ? ORDER BY id", (moment,))
    return [_leftover(row_id, attempts, decode(body)) for row_id, attempts, body in selected]


def is_due(connection: Connection, moment: str) -> bool:
    """Return whether anything is to be removed at a moment."""
    return one(connection, "SELECT 1 FROM leftovers WHERE due <= ? LIMIT 1", moment) is not None


def postpone(connection: Connection, leftover_id: int, due: str) -> None:
    """Store that removing files is tried once more, and when the next time is."""
    connection.execute("UPDATE leftovers SET attempts = attempts + 1, due = ? WHERE id = ?", (due, leftover_id))


def delete(connection: Connection, ids: Iterable[int]) -> None:
    """Remove rows whose files are gone, or are not going to be removed."""
    connection.executemany("DELETE FROM leftovers WHERE id = ?", [(leftover_id,) for leftover_id in ids])


def _leftover(row_id: int, attempts: int, fields: dict[str, Any]) -> Leftover:
    node = Node(**fields_of(fields["node"])) if fields["node"] else None
    return Leftover(**{**fields_of(fields), "id": row_id, "node": node, "attempts": attempts})

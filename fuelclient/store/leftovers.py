"""Files of deleted runs in the store, until they are removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from fuelclient.model.node import Node
from fuelclient.store.database import Connection
from fuelclient.store.rows import decode, encode, fields_of, insert_row, one


@dataclass(frozen=True, slots=True)
class Leftover:
    """Files of deleted runs: those of one run on this machine, or those of all runs on the machine of `node`, which
    is reached by `executor` if that is given. `names` are the nodes that use the machine, `roots` the directories, and
    `attempts` is the number of failed attempts to remove them."""

    id: int
    run_id: int
    uuid: str
    node: Node | None = None
    executor: str = ""
    names: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    attempts: int = 0


def insert(connection: Connection, leftover: Leftover, due: str) -> int:
    """Store files that a sweep removes after the time `due`. Return their id."""
    fields = {name: value for name, value in asdict(leftover).items() if name not in ("id", "attempts")}
    return insert_row(connection, "leftovers", {"due": due, "attempts": leftover.attempts, "body": encode(fields)})


def due(connection: Connection, moment: str) -> list[Leftover]:
    leftovers = []
    query = "SELECT id, attempts, body FROM leftovers WHERE due <= ? ORDER BY id"
    for row_id, attempts, body in connection.execute(query, (moment,)):
        fields = fields_of(decode(body))
        node = Node(**fields_of(fields["node"])) if fields["node"] else None
        leftovers.append(Leftover(**{**fields, "id": row_id, "node": node, "attempts": attempts}))
    return leftovers


def is_due(connection: Connection, moment: str) -> bool:
    return one(connection, "SELECT 1 FROM leftovers WHERE due <= ? LIMIT 1", moment) is not None


def postpone(connection: Connection, leftover_id: int, due: str) -> None:
    """Count a failed attempt to remove files, and store when the next one is due."""
    connection.execute("UPDATE leftovers SET attempts = attempts + 1, due = ? WHERE id = ?", (due, leftover_id))


def delete(connection: Connection, ids: Iterable[int]) -> None:
    """Delete rows whose files are gone, or will not be removed."""
    connection.executemany("DELETE FROM leftovers WHERE id = ?", [(leftover_id,) for leftover_id in ids])

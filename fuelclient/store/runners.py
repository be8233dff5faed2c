"""Runners in the store: at most one for each cluster, with data that shows whether its process still exists."""

from __future__ import annotations

from dataclasses import dataclass

from fuelclient.store.database import Connection
from fuelclient.store.rows import Table, insert_row


@dataclass(frozen=True, slots=True)
class Runner:
    """A process that works on a run. `pid` is 0 until the process has announced itself. The system may reuse the number
    later; `boot_id` and `start_time` distinguish the processes."""

    cluster_id: int
    run_id: int
    pid: int
    boot_id: str
    start_time: str
    heartbeat: str


_RUNNERS = Table("runners", Runner, renamed={"run_id": "transaction_id"}, order="cluster_id")


def find(connection: Connection, cluster_id: int) -> Runner | None:
    return _RUNNERS.first(connection, cluster_id=cluster_id)


def put(connection: Connection, runner: Runner) -> None:
    """Store the runner of a cluster, in place of any other."""
    connection.execute("DELETE FROM runners WHERE cluster_id = ?", (runner.cluster_id,))
    insert_row(connection, "runners", {"cluster_id": runner.cluster_id, **_RUNNERS.row(runner)})


def beat(connection: Connection, cluster_id: int, pid: int, now: str) -> bool:
    """Store that a runner is alive, unless another process took over. Return whether it was stored."""
    cursor = connection.execute(
        "UPDATE runners SET heartbeat = ? WHERE cluster_id = ? AND pid = ?", (now, cluster_id, pid)
    )
    return cursor.rowcount == 1


def remove(connection: Connection, cluster_id: int, pid: int) -> None:
    """Remove a runner from its cluster, unless another process took over."""
    connection.execute("DELETE FROM runners WHERE cluster_id = ? AND pid = ?", (cluster_id, pid))

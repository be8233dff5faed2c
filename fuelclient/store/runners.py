"""Who runs what: at most one runner for each cluster, with what tells whether its process is still there."""

from __future__ import annotations

from dataclasses import dataclass

from fuelclient.store.database import Connection


@dataclass(frozen=True, slots=True)
class Runner:
    """A process that runs a transaction. Its number may be given to another process later: `boot_id` and
    `start_time` tell them apart. `pid` is 0 as long as it has not announced itself."""

    cluster_id: int
    run_id: int
    pid: int
    boot_id: str
    start_time: str
    heartbeat: str


def find(connection: Connection, cluster_id: int) -> Runner | None:
    """The runner of a cluster, alive or not, or None."""
    row = connection.execute(
        "SELECT cluster_id, transaction_id, pid, boot_id, start_time, heartbeat FROM runners WHERE cluster_id = ?",
        (cluster_id,),
    ).fetchone()
    return Runner(*row) if row else None


def put(connection: Connection, runner: Runner) -> None:
    """This is the runner of its cluster, whoever was before."""
    connection.execute(
        "INSERT OR REPLACE INTO runners (cluster_id, transaction_id, pid, boot_id, start_time, heartbeat) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (runner.cluster_id, runner.run_id, runner.pid, runner.boot_id, runner.start_time, runner.heartbeat),
    )


def beat(connection: Connection, cluster_id: int, pid: int, now: str) -> bool:
    """The runner was alive now; whether it is still the runner of its cluster."""
    cursor = connection.execute(
        "UPDATE runners SET heartbeat = ? WHERE cluster_id = ? AND pid = ?", (now, cluster_id, pid)
    )
    return cursor.rowcount == 1


def remove(connection: Connection, cluster_id: int, pid: int) -> None:
    """The process is not the runner of the cluster any more."""
    connection.execute("DELETE FROM runners WHERE cluster_id = ? AND pid = ?", (cluster_id, pid))

"""The recorded vectors of histories (H1, H3 to H5).

The run of a case is begun on its own engine file, but its runner never starts. Then the rows are changed as the case
says, and read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from building import tasks_from
from case_files import case_files
from executions import RELEASE

from fuelclient.backends import connect
from fuelclient.engine.runs.runs import Runs
from fuelclient.errors import UsageError
from fuelclient.model.graph import GraphDocument, Level, OwnerRef
from fuelclient.model.node import Node
from fuelclient.model.run import HistoryFilter, HistoryRow, RunRequest
from fuelclient.model.status import InstanceStatus
from fuelclient.plan.schedule import Change
from fuelclient.settings import load
from fuelclient.store import history
from fuelclient.store.database import Database
from fuelclient.store.history import Written

Data = Mapping[str, Any]
TABLE = {
    "task_name": "task", "node_id": "node", "status": "status", "type": "type", "time_start": "time_start",
    "time_end": "time_end",
}  # fmt: skip
"""The columns of a history's table, in Nailgun's words, and where our rows have them."""


def begun(given: Data, engine: Path) -> tuple[Runs, Database, int]:
    """The graph of a case, begun on its nodes; the transactions, their file and the id."""
    with closing(connect(load({"ENGINE": str(engine)}))) as backend:
        backend.releases.create([RELEASE])
        backend.clusters.create("prod", 1)
        backend.nodes.create(
            [
                Node(0, f"node-{uid}", 1, pending_roles=tuple(roles), executor="noop")
                for uid, roles in given["nodes"].items()
            ]
        )
        backend.graphs.upload(OwnerRef(Level.CLUSTER, 1), GraphDocument(tasks_from(given["tasks"])), "default")
    database = Database(str(engine))
    runs = Runs(database, start=lambda *_: None)
    return runs, database, runs.begin(RunRequest(1)).id


def change(database: Database, runs: Runs, parent: int, changes: list[list[str]]) -> None:
    """The rows are changed: `[task@node, status, time]` each."""
    child = runs.get(parent).children[0].id
    names = [f"{row.task}@{row.node}" for row in runs.history(child)]
    for name, status, moment in changes:
        with database.write() as connection:
            one = Change(names.index(name), InstanceStatus(status))
            history.write(connection, child, [Written(one)], moment)


def cells(row: HistoryRow) -> list[Any]:
    found = [getattr(row, attribute) for attribute in TABLE.values()]
    return [str(cell) if isinstance(cell, InstanceStatus) else cell for cell in found]


@case_files("history", keys=("input", "asks"))
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    runs, database, parent = begun(case["input"], tmp_path / "engine.db")
    with closing(database):
        change(database, runs, parent, case["input"].get("changes", []))
        for ask in case["asks"]:
            wanted = HistoryFilter(**{key: tuple(values) for key, values in ask.get("filter", {}).items()})
            if "error" in ask:
                with pytest.raises(UsageError) as caught:
                    runs.history(parent, wanted)
                assert caught.value.message == ask["error"]
                continue
            found = [dict(zip(TABLE, cells(row), strict=True)) for row in runs.history(parent, wanted)]
            columns = ask.get("columns", ["task_name", "node_id", "status"])
            assert set(columns) <= set(TABLE)
            assert [[row[column] for column in columns] for row in found] == ask["rows"], (case["says"], ask)

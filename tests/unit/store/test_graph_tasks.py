from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fuelclient.model.graph import Level
from fuelclient.model.release import Release
from fuelclient.model.task import COLUMNS, Source, Task
from fuelclient.store import graphs
from fuelclient.store.database import Database
from fuelclient.store.inventory import releases

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=5
)
ATTRIBUTES = st.dictionaries(st.sampled_from([*COLUMNS, "stage", "tags", "_custom", "stated"]) | TEXT, VALUES)
SOURCES = st.builds(Source, TEXT, st.integers(0, 9999), st.dictionaries(TEXT, st.integers(1, 9999), max_size=3))
TASKS = st.lists(st.builds(Task, TEXT, ATTRIBUTES, SOURCES, st.booleans()), max_size=4, unique_by=lambda task: task.id)


@given(TASKS, TASKS)
def test_tasks_come_back_whatever_they_state(first: list[Task], second: list[Task]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        database = Database(str(Path(directory) / "engine.db"))
        with database.write() as connection:
            releases.insert(connection, Release(0, "n", "1"))
            graph_id = graphs.create(connection, Level.RELEASE, 1, "default")
            for wanted in (first, second):
                graphs.put_tasks(connection, graph_id, wanted)
                result = graphs.tasks_of(connection, graph_id)
                assert repr(list(result)) == repr(wanted)
                assert graphs.task_ids(connection, graph_id) == tuple(task.id for task in wanted)
        database.close()

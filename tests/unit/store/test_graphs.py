from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import METADATA, Level
from fuelclient.model.plugin import Plugin
from fuelclient.model.release import Release
from fuelclient.model.task import COLUMNS, NOWHERE, Source, Task
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection
from fuelclient.store.inventory import clusters, releases

TASKS = (
    Task(
        "odd",
        {
            "requires": [],
            "type": "shell",
            "id_of_mine": None,
            "condition": False,
            "parameters": {"z": 1, "a": {"ü": [1.5, None, True]}},
            "version": "2.1.0",
            "skipped": 0,
            "tags": ["ø"],
        },
        Source("a/tasks.yaml", 7, {"requires": 8, "parameters": 9, "parameters.z": 10}),
    ),
    Task("partial", {"required_for": ["odd"], "cross_depends": [{"name": "/x/", "role": None}]}, Source("b.yaml", 3)),
    Task("p:pre_deployment#0", {"stage": "pre_deployment", "type": "shell"}, NOWHERE, legacy=True),
)


def owner_of(connection: Connection, level: Level) -> int:
    release = releases.insert(connection, Release(0, "n", "1"))
    if level is Level.RELEASE:
        return release
    if level is Level.PLUGIN:
        return plugins.insert(connection, Plugin(0, "p", "1.0.0"))
    return clusters.insert(connection, Cluster(0, "prod", release))


DELETE: dict[Level, Callable[[Connection, int], None]] = {
    Level.RELEASE: releases.delete,
    Level.PLUGIN: plugins.delete,
    Level.CLUSTER: clusters.delete,
}


def counts(connection: Connection, level: Level) -> tuple[int, ...]:
    tables = ("deployment_graphs", "deployment_graph_tasks", f"{level}_deployment_graphs")
    return tuple(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)  # noqa: S608


@pytest.mark.parametrize("level", Level)
def test_a_graph_comes_back_as_it_was_put(connection: Connection, level: Level) -> None:
    owner_id = owner_of(connection, level)
    graph_id = graphs.create(connection, level, owner_id, "custom")
    graphs.describe(connection, graph_id, "ñame", {"on_stop": {}, "node_filter": None})
    graphs.put_tasks(connection, graph_id, TASKS)

    graph = graphs.find(connection, level, owner_id, "custom")

    assert graph is not None
    assert (graph.id, graph.type, graph.name) == (graph_id, "custom", "ñame")
    assert (graph.owner.level, graph.owner.id) == (level, owner_id)
    assert graph.metadata == {"on_stop": {}, "node_filter": None}
    assert graph.tasks == TASKS
    assert [list(task.attributes) for task in graph.tasks] == [list(task.attributes) for task in TASKS]
    assert list(graph.tasks[0].attributes["parameters"]) == ["z", "a"]


def test_the_data_model_has_a_column_for_every_known_attribute(connection: Connection) -> None:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(deployment_graph_tasks)")}
    assert set(COLUMNS) <= columns
    assert {"id", "deployment_graph_id", "task_name", "_custom"} <= columns
    assert {row[1] for row in connection.execute("PRAGMA table_info(deployment_graphs)")} == {
        "id", "name", "derived", "warnings", *METADATA,
    }  # fmt: skip
    for level in Level:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({level}_deployment_graphs)")}
        assert columns == {"id", "type", "deployment_graph_id", f"{level}_id"}


def test_a_task_name_is_unique_in_a_graph(connection: Connection) -> None:
    graph_id = graphs.create(connection, Level.RELEASE, owner_of(connection, Level.RELEASE), "default")
    with pytest.raises(sqlite3.IntegrityError):
        graphs.put_tasks(connection, graph_id, [Task("a", {}), Task("a", {})])


@pytest.mark.parametrize("level", Level)
def test_an_owner_has_one_graph_of_a_type(connection: Connection, level: Level) -> None:
    owner_id = owner_of(connection, level)
    graphs.create(connection, level, owner_id, "default")
    with pytest.raises(sqlite3.IntegrityError):
        graphs.create(connection, level, owner_id, "default")


@pytest.mark.parametrize("level", Level)
def test_deleting_an_owner_deletes_its_graphs(connection: Connection, level: Level) -> None:
    owner_id = owner_of(connection, level)
    for graph_type in ("default", "custom"):
        graphs.put_tasks(connection, graphs.create(connection, level, owner_id, graph_type), TASKS)
    assert counts(connection, level) == (2, 6, 2)
    DELETE[level](connection, owner_id)
    assert counts(connection, level) == (0, 0, 0)


@pytest.mark.parametrize("level", Level)
def test_deleting_a_graph_deletes_its_tasks_and_its_coupling(connection: Connection, level: Level) -> None:
    owner_id = owner_of(connection, level)
    kept, gone = (graphs.create(connection, level, owner_id, name) for name in ("kept", "gone"))
    for graph_id in (kept, gone):
        graphs.put_tasks(connection, graph_id, TASKS)
    graphs.delete(connection, gone)
    assert counts(connection, level) == (1, 3, 1)
    assert graphs.types(connection, level, owner_id) == ["kept"]


def test_ids_are_never_given_twice(connection: Connection) -> None:
    owner_id = owner_of(connection, Level.RELEASE)
    first = graphs.create(connection, Level.RELEASE, owner_id, "a")
    graphs.delete(connection, first)
    assert graphs.create(connection, Level.RELEASE, owner_id, "a") > first
    releases.delete(connection, owner_id)
    assert releases.insert(connection, Release(0, "again", "1")) > owner_id


def test_only_what_is_stated_changes(connection: Connection) -> None:
    owner_id = owner_of(connection, Level.RELEASE)
    graph_id = graphs.create(connection, Level.RELEASE, owner_id, "default")
    graphs.describe(connection, graph_id, "first", {"on_error": {"a": 1}, "on_stop": {}})
    graphs.describe(connection, graph_id, None, {"on_error": {}})
    graph = graphs.find(connection, Level.RELEASE, owner_id, "default")
    assert graph is not None
    assert graph.name == "first"
    assert graph.metadata == {"on_error": {}, "on_stop": {}}


def test_summaries_read_no_bodies(connection: Connection) -> None:
    graph_id = graphs.create(connection, Level.RELEASE, owner_of(connection, Level.RELEASE), "default")
    graphs.put_tasks(connection, graph_id, TASKS)
    bodies = {*COLUMNS, "_custom", "stated", "source_lines"}

    def guard(action: int, table: str | None, column: str | None, *_: Any) -> int:
        read_a_body = action == sqlite3.SQLITE_READ and table == "deployment_graph_tasks" and column in bodies
        return sqlite3.SQLITE_DENY if read_a_body else sqlite3.SQLITE_OK

    connection.set_authorizer(guard)
    try:
        (summary,) = graphs.summaries(connection)
        with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
            graphs.tasks_of(connection, graph_id)
    finally:
        connection.set_authorizer(None)
    assert summary.task_ids == ("odd", "partial", "p:pre_deployment#0")


def test_summaries_of_some_owners(connection: Connection) -> None:
    owner_id = owner_of(connection, Level.PLUGIN)
    release_id = releases.ids(connection)[0]
    for level, whose in ((Level.PLUGIN, owner_id), (Level.RELEASE, release_id), (Level.PLUGIN, owner_id)):
        graphs.create(connection, level, whose, f"t{len(graphs.summaries(connection))}")
    result = graphs.summaries(connection, {(Level.PLUGIN, owner_id)})
    assert [(summary.type, summary.owner.label) for summary in result] == [
        ("t0", "plugin p-1.0.0"),
        ("t2", "plugin p-1.0.0"),
    ]


def test_a_graph_is_uploaded_until_it_is_marked_as_derived(connection: Connection) -> None:
    graph_id = graphs.create(connection, Level.PLUGIN, owner_of(connection, Level.PLUGIN), "default")
    assert not graphs.is_derived(connection, graph_id)
    for derived in (True, False):
        graphs.mark_derived(connection, graph_id, derived)
        assert graphs.is_derived(connection, graph_id) is derived


def test_a_graph_that_is_reset_keeps_its_tasks(connection: Connection) -> None:
    owner_id = owner_of(connection, Level.RELEASE)
    graph_id = graphs.create(connection, Level.RELEASE, owner_id, "default")
    graphs.describe(connection, graph_id, "old", {"on_stop": {"a": 1}})
    graphs.put_tasks(connection, graph_id, TASKS)
    graphs.reset(connection, graph_id)
    graph = graphs.find(connection, Level.RELEASE, owner_id, "default")
    assert graph is not None
    assert (graph.name, graph.metadata, graph.tasks) == (None, {}, TASKS)

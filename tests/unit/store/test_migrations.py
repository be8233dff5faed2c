from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused

from fuelclient.errors import Unavailable
from fuelclient.model.graph import DEFAULT_TYPE, Level
from fuelclient.model.release import Release
from fuelclient.store import graphs, plugins
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import releases
from fuelclient.store.migrations import LATEST, MIGRATIONS, migrate, version

RELEASE = "INSERT INTO releases (name, version, operating_system, state, description) VALUES ('n', '1', '', '', '')"
PLUGIN = "INSERT INTO plugins (name, version, title, package_version) VALUES ('p', '1.0.0', 'P', '4.0.0')"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "engine.db", isolation_level=None)) as opened:
        yield opened


def schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_numbers_rise_from_one() -> None:
    assert [step.number for step in MIGRATIONS] == list(range(1, LATEST + 1))


@pytest.mark.parametrize("earlier", range(LATEST + 1))
def test_every_earlier_version_comes_up_to_date_with_its_data(tmp_path: Path, earlier: int) -> None:
    path = str(tmp_path / "engine.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, path, MIGRATIONS[:earlier])
        assert version(connection, path) == earlier
        if earlier:
            connection.execute(RELEASE)
            connection.execute(PLUGIN)

    with closing(Database(path)) as database, database.write() as opened:
        assert version(opened, path) == LATEST
        assert [release.name for release in releases.every(opened)] == (["n"] if earlier else [])
        assert [plugin.label for plugin in plugins.every(opened)] == (["p-1.0.0"] if earlier else [])
        kept = releases.insert(opened, Release(0, "other", "1"))
        graphs.create(opened, Level.RELEASE, kept, DEFAULT_TYPE)
        assert graphs.types(opened, Level.RELEASE, kept) == [DEFAULT_TYPE]
        stepwise = schema(opened)
    with closing(Database(str(tmp_path / "fresh.db"))) as other, other.read() as fresh:
        assert schema(fresh) == stepwise


@pytest.mark.parametrize("broken", range(LATEST))
def test_a_step_that_fails_half_way_leaves_the_step_before(connection: sqlite3.Connection, broken: int) -> None:
    step = MIGRATIONS[broken]
    half = (*step.statements[: len(step.statements) // 2 + 1], "CREATE TABLE broken (")
    steps = [*MIGRATIONS[:broken], replace(step, statements=half)]
    migrate(connection, "engine.db", MIGRATIONS[:broken])
    before = schema(connection)

    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, "engine.db", steps)

    assert version(connection, "engine.db") == broken
    assert schema(connection) == before
    migrate(connection, "engine.db")
    assert version(connection, "engine.db") == LATEST


def test_a_later_version_is_refused(connection: sqlite3.Connection) -> None:
    migrate(connection, "engine.db")
    connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    with refused(Unavailable, "engine.db", LATEST + 1):
        migrate(connection, "engine.db")


@pytest.mark.parametrize("trace", ["CREATE TABLE theirs (a)", "PRAGMA user_version = 3", "PRAGMA application_id = 99"])
def test_the_database_of_another_program_is_refused_and_stays(connection: sqlite3.Connection, trace: str) -> None:
    connection.execute(trace)
    before = schema(connection)
    with refused(Unavailable, "engine.db", "another program"):
        migrate(connection, "engine.db")
    assert schema(connection) == before


def test_graphs_of_plugins_count_as_derived_from_their_packages(tmp_path: Path) -> None:
    path = str(tmp_path / "engine.db")
    with closing(sqlite3.connect(path, isolation_level=None, factory=Connection)) as old:
        migrate(old, path, MIGRATIONS[:2])
        old.execute(PLUGIN)
        old.execute(RELEASE)
        ids = {level: graphs.create(old, level, 1, DEFAULT_TYPE) for level in (Level.PLUGIN, Level.RELEASE)}
    with closing(Database(path)) as database, database.read() as connection:
        assert {level: graphs.is_derived(connection, graph_id) for level, graph_id in ids.items()} == {
            Level.PLUGIN: True,
            Level.RELEASE: False,
        }

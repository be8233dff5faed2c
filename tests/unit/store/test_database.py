from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from refusals import refused

from fuelclient.errors import Unavailable
from fuelclient.model.cluster import Cluster
from fuelclient.model.release import Release
from fuelclient.store.database import Database
from fuelclient.store.inventory import clusters, releases

Make = Callable[[str], Database]


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = Database(str(tmp_path / "data" / "fuel" / "engine.db"))
        with database.write() as connection:
            releases.insert(connection, Release(0, "n", "1"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
        database.close()
    finally:
        os.umask(before)
    assert modes["data"] == modes["fuel"] == 0o700
    assert modes["engine.db"] == modes["engine.db-wal"] == 0o600


def test_nothing_is_touched_before_the_first_use(tmp_path: Path) -> None:
    Database(str(tmp_path / "engine.db")).close()
    assert list(tmp_path.iterdir()) == []


def test_what_only_reads_makes_neither_file_nor_directory(make: Make, tmp_path: Path) -> None:
    path = str(tmp_path / "data" / "engine.db")
    reader, writer = make(path), make(path)
    for _ in range(2):
        with reader.read() as connection:
            assert releases.every(connection) == []
            assert clusters.every(connection) == []
    assert list(tmp_path.iterdir()) == []
    with writer.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
    with reader.read() as connection:
        assert [release.name for release in releases.every(connection)] == ["n"]


def test_where_no_file_can_be_a_reader_is_told(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        refused(Unavailable, tmp_path / "file" / "engine.db", "not a directory"),
        make(str(tmp_path / "file" / "engine.db")).read(),
    ):
        raise AssertionError("it was opened")


def test_an_empty_file_becomes_an_engine_file(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    path.touch()
    with closing(Database(str(path))) as opened, opened.read() as connection:
        assert releases.every(connection) == []


def test_a_link_stays_a_link(make: Make, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    database = make(str(tmp_path / "link.db"))
    with database.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
    database.close()
    assert (tmp_path / "link.db").is_symlink()
    with closing(Database(str(tmp_path / "real.db"))) as opened, opened.read() as connection:
        assert [release.name for release in releases.every(connection)] == ["n"]


def test_connections_are_set_up(tmp_path: Path) -> None:
    with closing(Database(str(tmp_path / "engine.db"), busy_seconds=7.0)) as opened, opened.write() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 7000}


def test_an_exception_undoes_the_transaction(make: Make, tmp_path: Path) -> None:
    database = make(str(tmp_path / "engine.db"))

    def fail_half_way() -> None:
        with database.write() as connection:
            releases.insert(connection, Release(0, "n", "1"))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_half_way()
    with database.read() as connection:
        assert releases.every(connection) == []


def test_a_reader_sees_one_state(make: Make, tmp_path: Path) -> None:
    path = str(tmp_path / "engine.db")
    reader, writer = make(path), make(path)
    with reader.read() as connection:
        assert releases.every(connection) == []
        with writer.write() as other:
            releases.insert(other, Release(0, "n", "1"))
        assert releases.every(connection) == []
    with reader.read() as connection:
        assert [release.name for release in releases.every(connection)] == ["n"]


def test_transactions_do_not_nest(make: Make, tmp_path: Path) -> None:
    database = make(str(tmp_path / "engine.db"))

    def nest() -> None:
        with database.write() as connection:
            releases.insert(connection, Release(0, "n", "1"))
            with database.write():
                raise AssertionError("a second transaction began")

    with pytest.raises(sqlite3.OperationalError, match="within a transaction"):
        nest()
    with database.read() as connection:
        assert releases.every(connection) == []


def test_foreign_keys_hold(make: Make, tmp_path: Path) -> None:
    database = make(str(tmp_path / "engine.db"))
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        clusters.insert(connection, Cluster(0, "prod", 42))

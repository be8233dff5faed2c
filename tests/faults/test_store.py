"""What can be wrong with the engine file: it is none, it is damaged, it is locked, its disk is full."""

from __future__ import annotations

import fcntl
import os
import socket
import sqlite3
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TextIO

import pytest

from fuelclient.errors import InvalidDocument, Unavailable
from fuelclient.model.release import Release
from fuelclient.store.database import BUSY_SECONDS, Database
from fuelclient.store.inventory import releases


def refused(path: Path | str, *, busy_seconds: float = BUSY_SECONDS) -> str:
    """Return the message with which a file is refused."""
    database = Database(str(path), busy_seconds=busy_seconds)
    with pytest.raises(Unavailable) as caught, database.write() as connection:
        releases.every(connection)
    database.close()
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert "is a directory" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"ENGINE: x\n" * 200, b"\x00" * 4096, b"{}"])
def test_a_file_that_is_no_database_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "engine.db"
    path.write_bytes(content)
    assert "is not an engine file" in refused(path)
    assert path.read_bytes() == content


def test_a_refused_file_is_not_left_open(tmp_path: Path) -> None:
    """An error keeps the frames alive that raised it, and an open connection in one of them with it."""
    path = tmp_path / "engine.db"
    path.write_bytes(b"ENGINE: x\n" * 200)
    with pytest.raises(Unavailable) as caught, Database(str(path)).write():
        raise AssertionError("it was opened")
    still_open = {os.path.realpath(number) for number in Path("/proc/self/fd").iterdir()}
    assert caught.value.hint
    assert str(path) not in still_open


def test_the_database_of_another_program_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE cookies (a)")
    before = path.read_bytes()
    assert "another program" in refused(path)
    assert path.read_bytes() == before


def test_a_later_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    database = Database(str(path))
    with database.write() as connection:
        connection.execute("PRAGMA user_version = 999")
    database.close()
    assert "Upgrade fuelclient" in refused(path)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    database = Database(str(path))
    with database.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
    database.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    assert "is damaged" in refused(path)


@pytest.mark.parametrize("place", ["/proc/fuel/engine.db", "/proc/engine.db", "/dev/null/engine.db"])
def test_a_place_where_no_file_can_be_made_is_refused(place: str) -> None:
    assert "cannot be opened" in refused(place)


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Not a directory" in refused(tmp_path / "file" / "engine.db")


def test_a_lock_that_is_held_too_long_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with closing(Database(str(path))) as opened, opened.write():
        assert "locked by another process" in refused(path, busy_seconds=0.1)


def test_a_full_disk_undoes_the_transaction(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "engine.db"))
    with database.write() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    with database.read() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    def fill() -> None:
        with database.write() as connection:
            for number in range(1000):
                releases.insert(connection, Release(0, "n" * 1000, str(number)))

    with pytest.raises(Unavailable, match="disk is full"):
        fill()
    with database.read() as connection:
        assert releases.every(connection) == []
    database.close()


def test_half_a_character_is_an_error_of_the_document(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "engine.db"))
    with pytest.raises(InvalidDocument, match="half of a surrogate pair"), database.write() as connection:
        releases.insert(connection, Release(0, "\ud800", "1"))
    database.close()


def made_special(kind: str, path: Path) -> None:
    """Something at `path` that is neither a file nor a directory."""
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with closing(socket.socket(socket.AF_UNIX)) as bound:
            bound.bind(str(path))
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root can make a device, and not everywhere")


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_no_regular_file_is_refused_and_stays(tmp_path: Path, kind: str, linked: bool) -> None:
    path = tmp_path / "engine.db"
    made_special(kind, tmp_path / "special" if linked else path)
    if linked:
        path.symlink_to(tmp_path / "special")
    before = [(item.name, item.lstat()) for item in sorted(tmp_path.iterdir())]
    assert "is not a regular file" in refused(path)
    with closing(Database(str(path))) as opened, pytest.raises(Unavailable, match="not a regular file"), opened.read():
        raise AssertionError("it was opened")
    assert [(item.name, item.lstat()) for item in sorted(tmp_path.iterdir())] == before


def is_wanted(lock: TextIO) -> bool:
    """Whether somebody waits for the lock that we hold."""
    inode = str(os.fstat(lock.fileno()).st_ino)
    waiting = [line.split() for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(words[6].rpartition(":")[2] == inode for words in waiting)


def test_a_pipe_that_appears_while_the_file_is_made_stays(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with (tmp_path / "engine.db.lock").open("w") as lock, ThreadPoolExecutor(1) as aside:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = aside.submit(refused, path)
        deadline = time.monotonic() + 30
        while not is_wanted(lock):  # by then it has looked for the file
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.mkfifo(path)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert "is not a regular file" in told.result(timeout=30)
    assert stat.S_ISFIFO(path.stat().st_mode)

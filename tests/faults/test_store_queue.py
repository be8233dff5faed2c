"""Writers in the order of their arrival, and queues whose members are killed or suspended."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
from processes import start

from fuelclient.errors import Unavailable
from fuelclient.store.database import Database
from fuelclient.store.locks import Queue

ENTER = """
    import sys
    from fuelclient.store.locks import Queue
    queue = Queue(sys.argv[1])
    queue.enter()
    print("ready", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def entered(path: Path) -> Iterator[Popen[str]]:
    """A process that has taken a number, and keeps it."""
    with start(ENTER, path, 0) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def never() -> bool:
    raise AssertionError("nothing has stalled")


def test_turns_come_in_the_order_of_arrival(tmp_path: Path) -> None:
    path, order = str(tmp_path / "q"), list[int]()

    def write(queue: Queue, number: int) -> None:
        queue.wait(lambda: False)
        order.append(number)
        queue.leave()

    queues = [Queue(path) for _ in range(12)]
    for queue in queues:
        queue.enter()
    threads = [threading.Thread(target=write, args=(queue, number)) for number, queue in enumerate(queues)]
    for thread in reversed(threads):
        thread.start()
    for thread in threads:
        thread.join(60)
    assert order == list(range(12))
    for queue in queues:
        queue.close()


def test_a_killed_member_holds_up_nobody_and_lets_nobody_past(tmp_path: Path) -> None:
    path = tmp_path / "q"
    first, last = Queue(str(path)), Queue(str(path))
    first.enter()
    with entered(path) as killed:
        last.enter()
        killed.kill()
        killed.wait()
    assert last.wait(lambda: True)  # the first one still has its turn: only overtaking ends this
    first.leave()
    last.leave()
    last.enter()
    assert not last.wait(never)
    first.close()
    last.close()


def test_a_file_that_lost_its_counters_still_has_an_order(tmp_path: Path) -> None:
    path = tmp_path / "q"
    first, second = Queue(str(path)), Queue(str(path))
    first.enter()
    os.truncate(path, 0)
    second.enter()
    threading.Timer(0.2, first.leave).start()
    assert not second.wait(never)
    first.close()
    second.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_writers_pass_a_member_that_died_or_is_suspended(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "engine.db"
    with closing(Database(str(path))) as database:
        with database.write():
            pass
        with entered(tmp_path / "engine.db.lock") as stuck:
            stuck.send_signal(number)
            for _ in range(5):
                with database.write() as connection:
                    connection.execute("SELECT 1")
            stuck.send_signal(signal.SIGCONT)


def test_too_long_write_is_reported_and_ends_the_wait(tmp_path: Path) -> None:
    path = str(tmp_path / "engine.db")
    told: list[str] = []
    with (
        closing(Database(path)) as holder,
        closing(Database(path, busy_seconds=1, patience=2, tell=told.append)) as late,
    ):
        with holder.write():
            began = time.monotonic()
            with pytest.raises(Unavailable), late.write():
                pass
            assert time.monotonic() - began >= 3
        assert told
        with late.write() as connection:
            connection.execute("SELECT 1")


def test_without_a_queue_writers_still_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with closing(Database(str(path))) as database:
        with database.write():
            pass
        lock = tmp_path / "engine.db.lock"
        lock.unlink()
        lock.mkdir()  # which cannot be opened for writing, not even by root
        other = Database(str(path), busy_seconds=0.1)
        with closing(other), database.write(), pytest.raises(Unavailable), other.write():
            pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)

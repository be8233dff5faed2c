"""What can go wrong around the engine file: other processes, kills, files that are none, full disks."""

from __future__ import annotations

import fcntl
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from fuelclient.errors import InvalidDocument, Unavailable
from fuelclient.model.graph import Level
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.store import access, graphs, releases, tasks
from fuelclient.store.database import BUSY_SECONDS, Database

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 8


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs `code` from the checkout."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def together(code: str, path: Path) -> None:
    """`code` runs in many processes that begin at the same moment; none of them fails."""
    with ExitStack() as stack:
        started = [stack.enter_context(start(code, path, number)) for number in range(PROCESSES)]
        for process in started:
            stack.callback(process.kill)
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        ends = [(process.communicate(timeout=120)[1], process.returncode) for process in started]
    assert ends == [("", 0)] * PROCESSES


OPEN = """
    import sys
    from fuelclient.model.release import Release
    from fuelclient.engine import Engine
    print("ready", flush=True)
    sys.stdin.readline()
    Engine(sys.argv[1]).releases.create([Release(0, "n", sys.argv[2])])
"""


@pytest.mark.parametrize("attempt", range(5))
def test_many_processes_open_a_new_file_at_once(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / "new" / "engine.db"
    together(OPEN, path)
    with closing(Database(str(path))) as opened, opened.read() as connection:
        assert sorted(release.version for release in releases.every(connection)) == list("01234567")


ADD_TASKS = """
    import sys
    from fuelclient.model.graph import Level
    from fuelclient.model.task import Task
    from fuelclient.store import graphs, tasks
    from fuelclient.store.database import Database
    database = Database(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(50):
        with database.write() as connection:
            graph = graphs.find(connection, Level.RELEASE, 1, "default")
            added = Task(f"{sys.argv[2]}-{number}", {"type": "shell"})
            tasks.replace(connection, graph.id, [*graph.tasks, added])
"""


def test_no_write_is_lost_between_processes(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with closing(Database(str(path))) as opened, opened.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
        graphs.create(connection, Level.RELEASE, 1, "default")
    together(ADD_TASKS, path)
    with closing(Database(str(path))) as opened, opened.read() as connection:
        graph = graphs.find(connection, Level.RELEASE, 1, "default")
    assert graph is not None
    expected = {f"{process}-{number}" for process in range(PROCESSES) for number in range(50)}
    assert {task.id for task in graph.tasks} == expected
    assert len(graph.tasks) == len(expected)


UPLOAD = """
    import sys
    from fuelclient.engine import Engine
    from fuelclient.model.graph import GraphDocument, Level
    from fuelclient.model.task import Task
    engine = Engine(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(50):
        tasks = [Task(f"{sys.argv[2]}-{number}-{index}", {"type": "stage"}) for index in range(5)]
        stored = engine.graphs.upload(Level.RELEASE, 1, GraphDocument(tuple(tasks)), "shared")
        assert [task.id for task in stored.graph.tasks] == [task.id for task in tasks]
        mine = engine.graphs.upload(Level.RELEASE, 1, GraphDocument(tuple(tasks)), f"t{sys.argv[2]}-{number}")
        assert mine.created
"""


def test_uploads_of_many_processes_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with closing(Database(str(path))) as opened, opened.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
    together(UPLOAD, path)
    with closing(Database(str(path))) as opened, opened.read() as connection:
        found = graphs.summaries(connection)
    assert len(found) == 1 + PROCESSES * 50
    for summary in found:
        assert len({task_id.rpartition("-")[0] for task_id in summary.task_ids}) == 1
        assert len(summary.task_ids) == 5


KILLED_UPLOAD = """
    import os, signal, sys
    from fuelclient.engine import Engine
    from fuelclient.model.graph import GraphDocument, Level
    from fuelclient.model.task import Task
    engine = Engine(sys.argv[1])
    seen = 0
    def die_half_way(statement):
        global seen
        seen += statement.lstrip().startswith("INSERT INTO deployment_graph_tasks")
        if seen == 1000:
            os.kill(os.getpid(), signal.SIGKILL)
    with engine._database.read() as connection:
        connection.set_trace_callback(die_half_way)
    tasks = tuple(Task(f"new-{number}", {"type": "stage", "x": "y" * 3000}) for number in range(2000))
    engine.graphs.upload(Level.RELEASE, 1, GraphDocument(tasks, "new"))
"""


def test_a_process_that_is_killed_in_an_upload_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    old = tuple(Task(f"old-{number}", {"type": "stage"}) for number in range(20))
    database = Database(str(path))
    with database.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
        graph_id = graphs.create(connection, Level.RELEASE, 1, "default")
        graphs.describe(connection, graph_id, "old", {})
        tasks.replace(connection, graph_id, old)
    database.close()

    process = start(KILLED_UPLOAD, path)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (-9, "")

    with closing(Database(str(path))) as opened, opened.write() as connection:
        graph = graphs.find(connection, Level.RELEASE, 1, "default")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert graph is not None
    assert (graph.id, graph.name, graph.tasks) == (graph_id, "old", old)


KILLED_CREATION = """
    import os, signal, sys
    from fuelclient.store import database, migrations
    def die_half_way(statement):
        if "CREATE TABLE deployment_graph_tasks" in statement:
            os.kill(os.getpid(), signal.SIGKILL)
    connect = database._connect
    def watched(*arguments):
        connection = connect(*arguments)
        connection.set_trace_callback(die_half_way)
        return connection
    database._connect = watched
    with database.Database(sys.argv[1]).read():
        pass
"""


def test_a_process_that_is_killed_while_it_makes_the_file_harms_nobody(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    process = start(KILLED_CREATION, path)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (-9, "")
    assert not path.exists()
    assert (tmp_path / "engine.db.new").exists()

    database = Database(str(path))
    with database.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
    database.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["engine.db", "engine.db.lock"]


def refused(path: Path | str, *, busy_seconds: float = BUSY_SECONDS) -> str:
    """The message with which a file is refused."""
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


def test_the_database_of_another_program_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE cookies (a)")
    theirs.close()
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
    with database.read() as connection:
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
    with pytest.raises(InvalidDocument, match="half of a character"), database.write() as connection:
        releases.insert(connection, Release(0, "\ud800", "1"))
    database.close()


# What is no file, and what belongs to somebody else


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
    before = [(one.name, one.lstat()) for one in sorted(tmp_path.iterdir())]
    assert "is not a regular file" in refused(path)
    with closing(Database(str(path))) as opened, pytest.raises(Unavailable, match="not a regular file"), opened.read():
        raise AssertionError("it was opened")
    assert [(one.name, one.lstat()) for one in sorted(tmp_path.iterdir())] == before


def test_a_pipe_that_appears_while_the_file_is_made_stays(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with (tmp_path / "engine.db.lock").open("w") as lock, ThreadPoolExecutor(1) as aside:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = aside.submit(refused, path)
        time.sleep(0.2)  # it has looked for the file, and waits for the lock
        os.mkfifo(path)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert "is not a regular file" in told.result(timeout=30)
    assert stat.S_ISFIFO(path.stat().st_mode)


COLLEAGUE = """
    import contextlib, io, os, pwd, shutil, sys, tempfile, urllib.parse
    from fuelclient.main import main
    engine, *words = sys.argv[1:]
    with tempfile.TemporaryDirectory() as own, contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
        if os.path.isfile(engine):
            shutil.copy(engine, f"{own}/engine.db")
        main(["--engine", f"{own}/engine.db", *words])  # so that all modules are there: nobody may read Python's files
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
    sys.exit(main(["--engine", engine, *words]))
"""


def as_colleague(engine: Path, *words: object) -> tuple[int, str]:
    """The exit code of a command line that another user runs on `engine`, and what it said."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    process = start(COLLEAGUE, engine, *words)
    said = "".join(process.communicate(timeout=60))
    return process.returncode, said


def contents(directory: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in directory.iterdir()}


@pytest.fixture
def shared() -> Iterator[Path]:
    """An engine file that everybody may read, in a directory that everybody may look into."""
    with tempfile.TemporaryDirectory(prefix="fuel2-shared-") as directory:
        Path(directory).chmod(0o755)
        path = Path(directory) / "engine.db"
        with closing(Database(str(path))) as database, database.write() as connection:
            releases.insert(connection, Release(0, "Newton", "newton-10.0"))
        path.chmod(0o644)
        yield path


@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_colleague_reads_and_leaves_nothing_behind(shared: Path, mode: int) -> None:
    shared.parent.chmod(mode)
    before = contents(shared.parent)
    for noun in ("release", "plugins", "node"):
        code, said = as_colleague(shared, noun, "list")
        assert code == 0, said
        assert ("Newton" in said) == (noun == "release")
    assert contents(shared.parent) == before


def test_a_colleague_sees_what_the_owner_has_not_closed_yet(shared: Path) -> None:
    with closing(Database(str(shared))) as database:
        with database.write() as connection:
            releases.insert(connection, Release(0, "Mitaka", "mitaka-9.0"))
        code, said = as_colleague(shared, "release", "list")
    assert (code, "Mitaka" in said, "Newton" in said) == (0, True, True), said


@pytest.mark.parametrize("mode", [0o755, 0o1777])
@pytest.mark.parametrize("is_open", [False, True])
def test_a_colleague_is_told_that_nothing_can_be_written(shared: Path, mode: int, is_open: bool) -> None:
    shared.parent.chmod(mode)
    with closing(Database(str(shared))) as database:
        if is_open:
            with database.read() as connection:
                releases.every(connection)
        before = shared.read_bytes()
        for words in (("env", "create", "mine", "--release", 1), ("plugins", "sync")):
            code, said = as_colleague(shared, *words)
            assert (code, "is read-only for you" in said) == (3, True), said
        assert shared.read_bytes() == before


def test_a_colleague_of_an_earlier_version_is_told_who_can_upgrade(shared: Path) -> None:
    with closing(Database(str(shared))) as database, database.write() as connection:
        connection.execute("PRAGMA user_version = 1")
    code, said = as_colleague(shared, "release", "list")
    assert code == 3
    assert "has to be upgraded" in said


def test_a_file_that_changes_while_it_is_read_is_told(shared: Path) -> None:
    def read() -> None:
        with access.unchanging(str(shared)) as connection:
            assert [one.name for one in releases.every(connection)] == ["Newton"]
            with closing(Database(str(shared))) as database, database.write() as other:
                releases.insert(other, Release(0, "Mitaka", "mitaka-9.0"))

    with pytest.raises(Unavailable, match="was changed while it was read"):
        read()

"""Engine files of which many processes make use at once, and processes that are killed in the middle."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from processes import start

from fuelclient.model.graph import Level
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.store import graphs
from fuelclient.store.database import Database
from fuelclient.store.inventory import releases

PROCESSES = 8


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


@pytest.mark.parametrize("attempt", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 5))])
def test_many_processes_open_a_new_file_at_once(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / "new" / "engine.db"
    together(OPEN, path)
    with closing(Database(str(path))) as opened, opened.read() as connection:
        assert sorted(release.version for release in releases.every(connection)) == list("01234567")


ADD_TASKS = """
    import sys
    from fuelclient.model.graph import Level
    from fuelclient.model.task import Task
    from fuelclient.store import graphs
    from fuelclient.store.database import Database
    database = Database(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(50):
        with database.write() as connection:
            graph = graphs.find(connection, Level.RELEASE, 1, "default")
            added = Task(f"{sys.argv[2]}-{number}", {"type": "shell"})
            graphs.put_tasks(connection, graph.id, [*graph.tasks, added])
"""


@pytest.mark.slow
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
    from fuelclient.model.graph import GraphDocument, Level, OwnerRef
    from fuelclient.model.task import Task
    engine = Engine(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(50):
        tasks = [Task(f"{sys.argv[2]}-{number}-{index}", {"type": "stage"}) for index in range(5)]
        stored = engine.graphs.upload(OwnerRef(Level.RELEASE, 1), GraphDocument(tuple(tasks)), "shared")
        assert [task.id for task in stored.graph.tasks] == [task.id for task in tasks]
        mine = engine.graphs.upload(OwnerRef(Level.RELEASE, 1), GraphDocument(tuple(tasks)), f"t{sys.argv[2]}-{number}")
        assert mine.created
"""


@pytest.mark.slow
def test_uploads_of_many_processes_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with closing(Database(str(path))) as opened, opened.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
    together(UPLOAD, path)
    with closing(Database(str(path))) as opened, opened.read() as connection:
        summaries = graphs.summaries(connection)
    assert len(summaries) == 1 + PROCESSES * 50
    for summary in summaries:
        assert len({task_id.rpartition("-")[0] for task_id in summary.task_ids}) == 1
        assert len(summary.task_ids) == 5


KILLED_UPLOAD = """
    import os, signal, sys
    from fuelclient.engine import Engine
    from fuelclient.model.graph import GraphDocument, Level, OwnerRef
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
    engine.graphs.upload(OwnerRef(Level.RELEASE, 1), GraphDocument(tasks, "new"))
"""


def test_a_process_that_is_killed_in_an_upload_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    old = tuple(Task(f"old-{number}", {"type": "stage"}) for number in range(20))
    database = Database(str(path))
    with database.write() as connection:
        releases.insert(connection, Release(0, "n", "1"))
        graph_id = graphs.create(connection, Level.RELEASE, 1, "default")
        graphs.describe(connection, graph_id, "old", {})
        graphs.put_tasks(connection, graph_id, old)
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
    with database.Database(sys.argv[1]).write():
        pass
"""


def test_process_killed_while_making_the_file_harms_nobody(tmp_path: Path) -> None:
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

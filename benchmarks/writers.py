"""Print how long writers of one engine file wait: `python -m benchmarks.writers [PROCESSES [SECONDS]]`.

Each process writes again and again: it reads the number in the description of a graph's first task and adds one, so
that a lost update shows in the sum.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from fuelclient.model.graph import Level
from fuelclient.model.release import Release
from fuelclient.model.task import Task
from fuelclient.store import graphs
from fuelclient.store.database import Connection, Database
from fuelclient.store.inventory import releases

_WRITER = "import sys; from benchmarks.writers import write; write(sys.argv[1], float(sys.argv[2]))"


def write(path: str, seconds: float) -> None:
    """Write for so many seconds once a line comes on stdin, and print how long each write took."""
    took = []
    with closing(Database(path)) as database:
        with database.read() as connection:
            _counted(connection)
        print("ready", flush=True)
        sys.stdin.readline()
        end = time.monotonic() + seconds
        while (began := time.monotonic()) < end:
            with database.write() as connection:
                _put(connection, _counted(connection) + 1)
            took.append(time.monotonic() - began)
    print(json.dumps(took))


def _counted(connection: Connection) -> int:
    graph = graphs.find(connection, Level.RELEASE, 1, "default")
    return int(graph.tasks[0].attributes["description"]) if graph is not None and graph.tasks else 0


def _put(connection: Connection, number: int) -> None:
    graph = graphs.find(connection, Level.RELEASE, 1, "default")
    if graph is not None:
        task = Task("count", {"type": "shell", "description": str(number)})
        graphs.put_tasks(connection, graph.id, [task])


def table(processes: int = 50, seconds: float = 60.0) -> None:
    """Print one row: the number of writes, and the waits in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="fuel2-bench-") as directory:
        path = str(Path(directory) / "engine.db")
        with closing(Database(path)) as database, database.write() as connection:
            releases.insert(connection, Release(0, "n", "1"))
            graphs.create(connection, Level.RELEASE, 1, "default")
            _put(connection, 0)
        command = [sys.executable, "-c", _WRITER, path, str(seconds)]
        started = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        for process in started:
            if process.stdout is not None:
                process.stdout.readline()
        for process in started:
            if process.stdin is not None:
                process.stdin.write("go\n")
                process.stdin.flush()
        took = sorted(1000 * one for process in started for one in json.loads(process.communicate()[0]))
        with closing(Database(path)) as database, database.read() as connection:
            lost = len(took) - _counted(connection)
    print(f"{'writers of one engine file':<32}{'writes':>8}{'median ms':>11}{'p99 ms':>9}{'longest ms':>12}{'lost':>6}")
    p99 = took[int(len(took) * 0.99)]
    print(f"{processes:<32}{len(took):>8}{statistics.median(took):>11.0f}{p99:>9.0f}{took[-1]:>12.0f}{lost:>6}")
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    table(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))

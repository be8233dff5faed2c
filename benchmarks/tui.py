"""Print one table: what the terminal UI costs at a hundred thousand task instances, and its first frame when cold.

Run it with `python -m benchmarks.tui`. The budgets beside the figures are those that were set for it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from textual import events
from textual.widget import Widget

from benchmarks.frame import first_frames
from fuelclient.backends.base import Backend
from fuelclient.backends.local import LocalBackend
from fuelclient.engine.runs import processes
from fuelclient.insight.query import parse
from fuelclient.model.cluster import Cluster
from fuelclient.model.graph import Layer, Level, Owner
from fuelclient.model.node import Node
from fuelclient.model.release import Release, Role
from fuelclient.model.run import RunRequest
from fuelclient.model.snapshot import Snapshot
from fuelclient.model.task import Task
from fuelclient.plan.study import Study
from fuelclient.store import history, runners
from fuelclient.store.database import Connection
from fuelclient.tui.app import FuelUI
from fuelclient.tui.presenters.preview import Instances
from fuelclient.tui.requests import GraphData
from fuelclient.tui.routes import Route, View
from fuelclient.tui.run_requests import AskRun, RunState
from fuelclient.tui.screens.run import RunScreen
from fuelclient.tui.widgets.virtual_table import VirtualTable

TASKS, NODES, LIVE_NODES = 100, 1000, 200
_CORPUS = Path(os.environ.get("FUEL_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"))
_KEYS = ("key to paint, 2 000 events a second: median", "key to paint, 2 000 events a second: p95")
_FRAMES = ("first frame, newton on 14 nodes: on the clock", "first frame, newton on 14 nodes: of a processor")
_FILLED = (
    "its table of roles, newton on 14 nodes: on the clock",
    "its table of roles, newton on 14 nodes: of a processor",
)
_FIRST_ROWS = "ended run of 1 000 000: first rows, of a processor"
_FOOTER, _LAST_ROLE = "quit", "deployed"
"""What the first frame has, and a title of its table: Textual writes a frame at once, so all of it is there."""


def many() -> GraphData:
    """A chain of a hundred tasks on a thousand nodes."""
    tasks = tuple(
        Task(f"task-{number:03}", {
            "type": "shell", "version": "2.0.0", "roles": ["worker"],
            "requires": [f"task-{number - 1:03}"] * (number > 0),
        })
        for number in range(TASKS)
    )  # fmt: skip
    nodes = tuple(Node(number, f"node-{number}", 1, roles=("worker",)) for number in range(1, NODES + 1))
    layer = Layer(Owner(Level.RELEASE, 1), tasks)
    snapshot = Snapshot(Cluster(1, "many", 1), (layer,), nodes, {"worker": Role("worker", ("worker",))})
    return GraphData(Study(snapshot), Release(1, "many", "1"))


@contextmanager
def timed(costs: dict[str, float], name: str) -> Iterator[None]:
    """Note the milliseconds of a block."""
    start = time.perf_counter()
    yield
    costs[name] = (time.perf_counter() - start) * 1000


async def large(engine: Path) -> dict[str, float]:
    """Opening, filtering, sorting and moving in a table of all instances, until the screen shows it."""
    costs: dict[str, float] = {}
    shown = many()
    ui = FuelUI(_connecting(engine))
    async with ui.run_test(size=(160, 48)) as pilot:
        await pilot.pause(0.3)
        table = ui.screen.query(VirtualTable).first()
        before = _memory()
        with timed(costs, "open 100 000 instances"):
            table.show(Instances(shown, ui.glyphs))
            await _painted(table)
        keys = "task-09"
        for length in range(1, len(keys) + 1):
            with timed(costs, f"keystroke {length}: /{keys[:length]}"):
                table.filter(parse(keys[:length], table.table.keys))
                await _painted(table)
        with timed(costs, "filter by field: node:node-77"):
            table.filter(parse("node:node-77", table.table.keys))
            await _painted(table)
        with timed(costs, "filter off"):
            table.filter(parse("", ()))
            await _painted(table)
        with timed(costs, "to the last row"):
            table.action_move(1 << 40)
            await _painted(table)
        costs["MB more than empty"] = _memory() - before
    return costs


async def live(directory: Path) -> dict[str, float]:
    """Moving in a run while two thousand events a second come: from a key until the screen shows it."""
    engine = directory / "live.db"
    run = _long_run(engine, LIVE_NODES)
    ui = FuelUI(_connecting(engine), env=1)
    costs = []
    async with ui.run_test(size=(160, 48)) as pilot:
        ui.go(Route(View.RUN, 1, run=run))
        while not (isinstance(ui.screen, RunScreen) and ui.screen.filled):
            await pilot.pause(0.01)
        with _streaming(engine, run):
            while not ui.screen.done:
                await asyncio.sleep(0.01)
            for number in range(200):
                await asyncio.sleep(0.02)
                costs.append(await _pressed(ui, ui.screen, "down" if number % 20 < 10 else "up"))
        seen = ui.screen.done
    costs.sort()
    return {
        _KEYS[0]: costs[len(costs) // 2],
        _KEYS[1]: costs[len(costs) * 95 // 100],
        "instances that ended meanwhile": float(seen),
    }


async def watched(directory: Path) -> dict[str, float]:
    """Opening a run of 100 000 task instances, and moving in its matrix, until the screen shows it."""
    engine = directory / "wide.db"
    run = _long_run(engine, NODES)
    ui = FuelUI(_connecting(engine), env=1)
    costs: dict[str, float] = {}
    moves = []
    async with ui.run_test(size=(160, 48)) as pilot:
        await pilot.pause(0.3)
        ui.go(Route(View.RUN, 1, run=run))
        with timed(costs, "run of 100 000: read and open"):
            while not (isinstance(ui.screen, RunScreen) and ui.screen.filled):
                await asyncio.sleep(0.005)
            await _painted(ui.screen.matrix)
        with timed(costs, "run of 100 000: open what was read"):
            ui.screen.fill(cast(RunState, ui.gateway.answer(AskRun(run))))
            await _painted(ui.screen.matrix)
        for number in range(40):
            await asyncio.sleep(0.02)
            moves.append(await _pressed(ui, ui.screen, "down" if number % 20 < 10 else "up"))
    moves.sort()
    return {**costs, "run of 100 000: key to paint, median": moves[20], "run of 100 000: key to paint, p95": moves[38]}


async def opened(directory: Path) -> dict[str, float]:
    """Opening a run of a million task instances that has ended: until its first rows are shown, and its matrix."""
    engine = directory / "million.db"
    run = _long_run(engine, NODES)
    with closing(sqlite3.connect(engine, factory=Connection)) as connection, connection:
        _end_as_a_million(connection)
    ui = FuelUI(_connecting(engine), env=1)
    costs: dict[str, float] = {}
    async with ui.run_test(size=(160, 48)) as pilot:
        await pilot.pause(0.5)
        before, start = _memory(), time.process_time()
        ui.go(Route(View.RUN, 1, run=run))
        while not (isinstance(ui.screen, RunScreen) and ui.screen.filled):
            await asyncio.sleep(0.005)
        await _painted(ui.screen.table)
        costs[_FIRST_ROWS] = (time.process_time() - start) * 1000
        while not (ui.screen.matrix.grid and ui.screen.matrix.grid.lines):
            await asyncio.sleep(0.01)
        await _painted(ui.screen.matrix)
        costs["ended run of 1 000 000: the matrix too, of a processor"] = (time.process_time() - start) * 1000
        costs["ended run of 1 000 000: MB more than before"] = _memory() - before
    return costs


def _end_as_a_million(connection: Connection) -> None:
    """Let the only run end, with ten times its tasks; one in a thousand instances has failed."""
    child = connection.execute("SELECT max(id) FROM transactions").fetchone()[0]
    connection.execute("DELETE FROM history")
    instances = [(f"task-{task:03}", node, "shell") for task in range(10 * TASKS) for node in range(1, NODES + 1)]
    history.insert(connection, child, instances)
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    connection.execute("UPDATE history SET status = 'ready', attempts = 1, time_start = ?, time_end = ?", (now, now))
    connection.execute("UPDATE history SET status = 'error', message = 'exit code 1' WHERE vertex % 1000 = 777")
    connection.execute("UPDATE transactions SET status = 'error', progress = 100, time_end = ?", (now,))
    connection.execute("DELETE FROM runners")


async def _pressed(ui: FuelUI, screen: RunScreen, key: str) -> float:
    """The milliseconds from a key until the screen shows where it has led."""
    start, before = time.perf_counter(), screen.matrix.line
    ui.post_message(events.Key(key, None))
    while screen.matrix.line == before and time.perf_counter() - start < 2:
        await asyncio.sleep(0)
    await _painted(screen.matrix)
    return (time.perf_counter() - start) * 1000


@contextmanager
def _streaming(engine: Path, run: int) -> Iterator[None]:
    """Events come meanwhile, from a process of its own: a thread would take the interpreter from what is measured."""
    line = [sys.executable, "-m", "benchmarks.tui", "stream", str(engine), str(run)]
    with subprocess.Popen(line, cwd=Path(__file__).resolve().parents[1]) as writer:
        try:
            yield
        finally:
            writer.terminate()


def _long_run(engine: Path, size: int) -> int:
    """A run of a hundred tasks on so many nodes that seems to go on; its id."""
    fuel2 = [str(Path(sys.executable).with_name("fuel2")), "--engine", str(engine)]
    release = "- {name: many, version: '1', roles_metadata: {worker: {name: Worker}}}"
    shell = "type: shell, version: 2.0.0, roles: [worker], parameters: {cmd: 'true', timeout: 9}"
    tasks = "\n".join(f"- {{id: task-{number:03}, {shell}}}" for number in range(TASKS))
    nodes = "\n".join(f"- {{name: node-{number}, executor: noop}}" for number in range(1, size + 1))
    for line, text in (
        (["release", "import", "-"], release),
        (["graph", "upload", "--release", "1", "-t", "default", "-f", "-"], tasks),
        (["env", "create", "many", "--release", "1"], ""),
        (["node", "import", "-"], nodes),
        (
            [
                "env",
                "add",
                "nodes",
                "-e",
                "1",
                "--nodes",
                ",".join(map(str, range(1, size + 1))),
                "--roles",
                "worker",
            ],
            "",
        ),
    ):
        subprocess.run([*fuel2, *line], check=True, capture_output=True, input=text, text=True)
    return _recorded(engine, size)


def _recorded(engine: Path, size: int) -> int:
    """Record a run by hand, since no real one is as fast as this has to be."""
    backend = LocalBackend(str(engine))
    request = RunRequest(1, dry_run=True)
    parent = backend.runs.begin(request)
    backend.close()
    child = parent.children[0].id
    with closing(sqlite3.connect(engine, factory=Connection)) as connection, connection:
        connection.execute("UPDATE transactions SET status = 'running', progress = 0, time_end = NULL")
        instances = [(f"task-{task:03}", node, "shell") for task in range(TASKS) for node in range(1, size + 1)]
        history.insert(connection, child, instances)
        runners.put(connection, processes.this_process(parent))
    return parent.id


def _stream(engine: Path, run: int) -> None:
    """Write a hundred events every twentieth of a second, until all is done: instances begin and end."""
    with closing(sqlite3.connect(engine, isolation_level=None)) as connection:
        child = connection.execute("SELECT max(id) FROM transactions").fetchone()[0]
        for burst in itertools.count():
            status = "running" if burst % 2 == 0 else "ready"
            first = burst // 2 * 100
            if first >= TASKS * LIVE_NODES:
                return
            time.sleep(0.05)
            now = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO events (time, kind, parent_id, transaction_id, vertex, status, reason, message, progress) "
                "VALUES (?, 'instance', ?, ?, ?, ?, '', '', 0)",
                [(now, run, child, vertex, status) for vertex in range(first, first + 100)],
            )
            connection.execute("COMMIT")


async def _painted(table: Widget) -> None:
    """Until all messages are handled and the screen is drawn."""
    done = asyncio.Event()
    table.call_after_refresh(done.set)
    await done.wait()


def _memory() -> float:
    """The resident memory of this process now, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _connecting(engine: Path) -> Callable[[], Backend]:
    def connect() -> Backend:
        return LocalBackend(str(engine))

    return connect


def _newton(directory: Path) -> Path | None:
    if not _CORPUS.is_dir():
        return None
    engine = directory / "newton.db"
    fuel2 = [str(Path(sys.executable).with_name("fuel2")), "--engine", str(engine)]
    puppet = str(_CORPUS / "fuel-library/newton/deployment/puppet")
    lines = [
        ["release", "import", str(_CORPUS / "fuel-web/newton/nailgun/nailgun/fixtures/openstack.yaml")],
        ["graph", "upload", "--release", "1", "-t", "default", "-d", puppet],
        ["env", "create", "newton", "--release", "1"],
    ]  # fmt: skip
    for number in range(1, 15):
        role = "controller" if number <= 3 else "compute" if number <= 11 else "cinder"
        lines.append(["node", "create", f"node-{number}", "--executor", "noop", "--env", "1", "--roles", role])
    for line in lines:
        subprocess.run([*fuel2, *line], check=True, capture_output=True)
    return engine


def main() -> None:
    budgets = {
        **dict.fromkeys(_KEYS, 100.0),
        "open 100 000 instances": 150.0,
        "run of 100 000: read and open": 3000.0,
        "run of 100 000: open what was read": 150.0,
        "run of 100 000: key to paint, median": 100.0,
        "run of 100 000: key to paint, p95": 100.0,
        "MB more than empty": 60.0,
        _FIRST_ROWS: 300.0,
        "ended run of 1 000 000: the matrix too, of a processor": 3000.0,
        "ended run of 1 000 000: MB more than before": 60.0,
        **dict.fromkeys((*_FRAMES, *_FILLED), 500.0),
    }
    with tempfile.TemporaryDirectory(prefix="fuel2-bench-") as name:
        directory = Path(name)
        costs = asyncio.run(large(directory / "none.db"))
        costs |= asyncio.run(live(directory))
        costs |= asyncio.run(watched(directory))
        costs |= asyncio.run(opened(directory))
        engine = _newton(directory)
        if engine is not None:
            for names, wanted in ((_FRAMES, _FOOTER), (_FILLED, _LAST_ROLE)):
                costs |= zip(names, first_frames(engine, wanted, 9), strict=True)
    seen = costs.pop("instances that ended meanwhile")
    print(f"The live run had {seen:.0f} instances ended while keys were pressed.")
    print(f"{'what':<56}{'ms':>9}{'budget':>9}")
    for what, cost in costs.items():
        budget = budgets.get(what, 120.0)
        print(f"{what:<56}{cost:>9.1f}{budget:>9.0f}{'' if cost <= budget else '  over'}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["stream"]:
        _stream(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()

"""A server, twenty clients and run after run on ten nodes, whose runners are killed: `make soak` goes on for two hours.

Nothing is lost, nothing runs twice, no process is left, the memory of the server does not grow, and history stays
within its limit. `SOAK` is the number of seconds.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from integration.ssh_fleet import PATIENCE, Fleet, task
from processes import command_lines, eventually
from server_process import serving

from fuelclient.commands.exits import Exit
from fuelclient.engine.runs.processes import NOT_STARTED
from fuelclient.store import runners
from fuelclient.store.database import Database

SECONDS = float(os.environ.get("SOAK", "60"))
SEED = int(os.environ.get("FAULTS_SEED", "20261122"))
NODES, CLIENTS, KEPT = 10, 20, 5
WARM = 0.25
"""The part of the time after which memory may not grow any more."""

GROWTH = 1.1
PAUSE = 0.2
"""Seconds between two requests of a client."""


@dataclass
class Client:
    """Uploads a graph of its own again and again, each time with the next number, and reads it back."""

    url: str
    name: str
    stop: threading.Event
    written: int = 0
    wrong: list[str] = field(default_factory=list)

    def work(self) -> None:
        session = requests.Session()
        path = f"{self.url}/clusters/1/deployment_graphs/{self.name}"
        while not self.stop.wait(PAUSE):
            try:
                number = self.written + 1
                tasks = [{"id": "count", "type": "skipped", "version": "2.1.0", "parameters": {"number": number}}]
                answer = session.request("PUT" if self.written else "POST", path, json={"tasks": tasks}, timeout=30)
                answer.raise_for_status()
                self.written = number
                (read,) = session.get(path, timeout=30).json()["tasks"]
                if read["parameters"]["number"] != number:
                    self.wrong.append(f"{self.name}: wrote {number}, read {read}")
            except requests.RequestException as error:
                self.wrong.append(f"{self.name}: {error}")


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_grows(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUEL_RETENTION_RUNS", str(KEPT))
    for _ in range(NODES):
        fleet.add()
    note = f"echo $(hostname) >> {fleet.site.root}/notes"
    fleet.graph(task("first", cmd=f"{note}; sleep 0.2"), task("second", cmd=note, requires=["first"]))
    stop = threading.Event()
    with serving(fleet.site.root) as server:
        clients = [Client(server.url.rstrip("/"), f"client{number}", stop) for number in range(CLIENTS)]
        threads = [threading.Thread(target=client.work) for client in clients]
        for thread in threads:
            thread.start()
        try:
            runs, memory = _executed(fleet, server.process.pid)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert server.process.poll() is None, server.log.read_text()

    assert [line for client in clients for line in client.wrong] == []
    assert min(client.written for client in clients) > 1
    assert len(fleet.noted()) == 2 * NODES * runs, "no command ran twice, and none was left out"
    assert max(memory) <= GROWTH * memory[0], memory
    _check_what_is_left(fleet, runs)


def _executed(fleet: Fleet, server: int) -> tuple[int, list[int]]:
    """Execute until the time is over; return how many runs that were, and the memory of the server after each."""
    chance = random.Random(SEED)  # noqa: S311
    began, runs = time.monotonic(), 0
    memory: list[int] = []
    while time.monotonic() < began + SECONDS or not memory:
        number = fleet.begin("--force")
        if chance.random() < 0.3 and eventually(lambda: _runner(fleet) != NOT_STARTED, PATIENCE):
            time.sleep(chance.random())
            _kill(fleet, number)
        status = fleet.ended(number)["status"]
        assert status == "ready", fleet.fuel2("task", "history", "show", number).out
        runs += 1
        if time.monotonic() > began + WARM * SECONDS:
            memory.append(_resident(server))
    return runs, memory


def _kill(fleet: Fleet, number: int) -> None:
    """Kill the runner, unless there is none, and resume the run, unless it has ended or goes on."""
    try:
        fleet.kill_runner(number)
    except (AssertionError, ProcessLookupError):
        return

    def settled() -> bool:
        resumed = fleet.fuel2("task", "resume", number)
        shown = fleet.fuel2.ok("task", "show", number, "-f", "json").json
        return resumed.code == Exit.OK or shown["status"] in ("ready", "error")

    assert eventually(settled, PATIENCE)


def _runner(fleet: Fleet) -> int | None:
    """Return the process that runs environment 1, `NOT_STARTED` while it starts."""
    with closing(Database(str(fleet.fuel2.engine))) as database, database.read() as connection:
        found = runners.find(connection, 1)
        return found.pid if found else None


def _resident(process: int) -> int:
    """Return the kilobytes of memory that a process has."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _check_what_is_left(fleet: Fleet, runs: int) -> None:
    listed = fleet.fuel2.ok("task", "list", "-f", "json").json
    assert sum(run["graph_type"] is None for run in listed) <= min(runs, KEPT + 1), listed
    engine = os.path.realpath(fleet.fuel2.engine)
    assert eventually(
        lambda: not any("runs.runner" in line and engine in line for _, line in command_lines()), PATIENCE
    )
    with closing(sqlite3.connect(engine)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
